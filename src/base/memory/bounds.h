/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_BOUNDS_H
#define PFR_BASE_BOUNDS_H
/* The limits of a handle: the caller's values with every default filled in. */
#include <perfray/limits.h>

#define DEFAULT_LIMIT_MEMORY (512ull << 20)
#define DEFAULT_LIMIT_WINDOW (128ull << 20)
#define DEFAULT_LIMIT_STRING (1ull << 20)
#define DEFAULT_LIMIT_RECORDS UINT64_MAX
#define DEFAULT_LIMIT_DEPTH 64u
#define DEFAULT_LIMIT_ZSTD_OUTPUT (24ull << 20)
#define DEFAULT_LIMIT_RATIO 2000ull
#define DEFAULT_LIMIT_CHUNK (64ull << 20)
#define DEFAULT_LIMIT_TREES (16ull << 20)

/* A copy of *asked (NULL: all defaults) with the default in place of each 0. Members past asked->size are not read. */
pfr_limits limits_resolve(const pfr_limits *asked);

#endif

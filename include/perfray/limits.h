/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_LIMITS_H
#define PERFRAY_LIMITS_H
/*
 * Limits: no number in a file decides how much memory or time is spent; these do. A count or size from the input
 * meets its limit before it meets an allocator. Passing a limit is PFR_ERR_LIMIT, or PFR_HOLE where reading goes on
 * behind what it costs; error.text names the limit.
 *
 * A member that is 0 means its default, so that `pfr_limits limits = {sizeof limits};` is the default set, and a
 * NULL `pfr_limits *` is the same. Members are only ever added at the end; `size` says which ones the caller knows.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_limits {
    size_t size;                     /* sizeof(pfr_limits) of the caller */
    uint64_t memory;                 /* bytes that one handle may hold; default 512 MB */
    uint64_t window;                 /* bytes of history a compressed input (zstd, xz) may ask for; default 128 MB */
    uint64_t string;                 /* bytes of one text that says its own length; default 1 MB */
    uint64_t records;                /* records that one pass reads; default no limit (UINT64_MAX) */
    uint32_t depth;                  /* forks that a process is looked up through; default 64 */
    uint32_t reserved;               /* 0 */
    uint64_t zstd_output_per_record; /* bytes that one COMPRESSED record may become; default 24 MB */
    uint64_t ratio;                  /* bytes out per byte in of a compressed input, and of all COMPRESSED records of
                                        a recording, once it gave 64 MB; default 2000 */
    uint64_t chunk;                  /* bytes of input held in one piece; default 64 MB */
    uint64_t trees; /* bytes of call trees in one output, besides 256 for each call path; default 16 MB */
} pfr_limits;

#ifdef __cplusplus
}
#endif
#endif

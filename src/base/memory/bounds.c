/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of pfr_limits. */
#include <string.h>
#include "base/memory/bounds.h"

static void default_u64(uint64_t *limit, uint64_t value) {
    if (*limit == 0)
        *limit = value;
}

pfr_limits limits_resolve(const pfr_limits *asked) {
    pfr_limits limits = {0};
    if (asked)
        memcpy(&limits, asked, asked->size < sizeof limits ? asked->size : sizeof limits);
    limits.size = sizeof limits;
    default_u64(&limits.memory, DEFAULT_LIMIT_MEMORY);
    default_u64(&limits.window, DEFAULT_LIMIT_WINDOW);
    default_u64(&limits.string, DEFAULT_LIMIT_STRING);
    default_u64(&limits.records, DEFAULT_LIMIT_RECORDS);
    default_u64(&limits.zstd_output_per_record, DEFAULT_LIMIT_ZSTD_OUTPUT);
    default_u64(&limits.ratio, DEFAULT_LIMIT_RATIO);
    default_u64(&limits.chunk, DEFAULT_LIMIT_CHUNK);
    default_u64(&limits.trees, DEFAULT_LIMIT_TREES);
    if (limits.depth == 0)
        limits.depth = DEFAULT_LIMIT_DEPTH;
    return limits;
}

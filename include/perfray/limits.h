/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_LIMITS_H
#define PERFRAY_LIMITS_H
/*
 * Resource limits of a reader. They bound the memory and time that a recording may cost, whatever numbers the input
 * contains, so that untrusted files can be opened safely. Every count and size from the input is compared with its
 * limit before memory is allocated for it.
 *
 * A function that reaches a limit returns PFR_ERR_LIMIT, or PFR_HOLE if work can go on without the excluded data. The
 * text of the error names the limit, for example "(limit depth)". The names are those of the members below and of the
 * --limit option of the command.
 *
 * A member that is 0 has its default. `pfr_limits limits = {.size = sizeof limits};` is the default set, and so is a
 * NULL `const pfr_limits *`. The limits are copied when the reader is opened and cannot be changed afterwards.
 *
 * Example, a reader that may hold 2 GiB:
 *
 *     const pfr_limits limits = {.size = sizeof limits, .memory = (uint64_t)2 << 30};
 *     const pfr_open_options options = {.size = sizeof options, .limits = &limits};
 *     pfr_reader *reader = pfr_open("perf.data", &options, &err);
 */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_limits {
    /* sizeof(pfr_limits). Members beyond it have their defaults, so that programs compiled with an older header work.
     */
    size_t size;
    /*
     * Bytes that the reader, and everything that works on it (profiles, symbols, outputs), may hold at the same time.
     * Default 512 MiB. Reports that need more continue with less: stacks that do not fit are counted as [limit], and
     * symbols of objects that do not fit are not used.
     */
    uint64_t memory;
    /* Bytes of history (window size) that zstd or xz input may require. Default 128 MiB. Large values make
       decompression slow and need as much memory. */
    uint64_t window;
    /* Bytes of one string whose length the input gives, such as strings in header features. Default 1 MiB. */
    uint64_t string;
    /* Maximum number of records in one pass over the input; after these, pfr_next() returns PFR_ERR_LIMIT. Default
       UINT64_MAX, no limit. */
    uint64_t records;
    /* Number of ancestors in which the mappings of a forked process are looked up. Samples whose mapping is in none of
       these are counted as unknown. Default 64. */
    uint32_t depth;
    /* Must be 0. */
    uint32_t reserved;
    /* Bytes that one COMPRESSED record may contain when decompressed. Default 24 MiB. */
    uint64_t zstd_output_per_record;
    /*
     * Decompressed bytes per compressed byte, a protection against decompression bombs. Applies to a compressed input
     * file, and to all COMPRESSED records of a recording together, after the first 64 MiB of output. Default 2000.
     */
    uint64_t ratio;
    /* Bytes of the input that are kept in memory as one block, for example tracing data in a stream or a buffer of an
       XRay trace. Default 64 MiB. */
    uint64_t chunk;
    /*
     * Bytes of call trees in one output, in addition to 256 bytes for each call path of the recording. Default 16 MiB.
     * report.h: a tree that is cut ends with an entry [limit], which has the remaining weight. export.h: only the bytes
     * of a stack beyond the first 4096 count, and a stack that is cut ends with a frame [limit]. flame.h: boxes are
     * left out.
     */
    uint64_t trees;
} pfr_limits;

#ifdef __cplusplus
}
#endif
#endif

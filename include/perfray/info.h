/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_INFO_H
#define PERFRAY_INFO_H
/*
 * pfr_info_print - print facts about a recording: header, machine, events, build-ids, counts and quality.
 *
 * Use it to find out what was recorded, on which machine, and whether anything was lost, before you look at samples.
 * One call prints one part in one format; rewind the reader between calls.
 *
 * The reader must be new or just rewound. It is read as far as the part requires: to the end for PFR_INFO_OVERVIEW and
 * PFR_INFO_STATS, and for every part of a stream.
 *
 * Memory: working memory is taken from the allocator of `out`; data that the reader loads, from that of the reader.
 * Everything except loaded features is released before the function returns.
 *
 * Threads: uses the calling thread only.
 *
 * Example, listing the events:
 *
 *     pfr_info_options options = {.size = sizeof options, .part = PFR_INFO_EVENTS};
 *     if (pfr_info_print(reader, &options, out, &err) < 0)
 *         fprintf(stderr, "%s\n", err.text);
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The parts that can be printed. */
typedef enum pfr_info_part {
    /* Everything, for people. The last line is the quality line (quality.h). */
    PFR_INFO_OVERVIEW,
    /* Events with their attributes, as `perf evlist -v` prints them. */
    PFR_INFO_EVENTS,
    /* Objects with their build-ids, as `perf buildid-list` prints them. */
    PFR_INFO_BUILD_IDS,
    /* Numbers of records by type and samples by event, as `perf report --stats` prints them. */
    PFR_INFO_STATS
} pfr_info_part;

/* The formats in which each part can be printed. */
typedef enum pfr_info_format {
    /* Text for people. */
    PFR_INFO_TEXT,
    /* The overview as `perf report --header-only -I` prints it; not for XRay traces. Other parts are printed as
       TEXT. */
    PFR_INFO_PERF,
    /* One document; docs/json/info.schema.json describes it. */
    PFR_INFO_JSON
} pfr_info_format;

/* Options of pfr_info_print(). All 0 is the overview as text. */
typedef struct pfr_info_options {
    /* sizeof(pfr_info_options). Members beyond it have their defaults. */
    size_t size;
    pfr_info_part part;
    pfr_info_format format;
    /* Time of last modification of the file, in seconds since 1970 (st_mtime); the reader does not know this time. 0:
       not known, not printed. */
    int64_t captured;
    /* PFR_INFO_PERF: print only the names of long features such as the CPU topology, as perf does without -I. */
    bool brief;
} pfr_info_options;

/*
 * pfr_info_print - print one part in one format. `options` NULL: the overview as text.
 *
 * Damage of the recording is not an error here; it is part of the output. pfr_get_quality() has the numbers.
 *
 * Returns PFR_OK, or:
 * - PFR_ERR_USAGE for an unknown part or format, or PFR_INFO_PERF of an XRay trace
 * - otherwise an error of pfr_next(), or PFR_ERR_MEMORY or PFR_ERR_LIMIT if a fact was left out
 *
 * In each case, the facts that could be read were printed.
 */
pfr_status pfr_info_print(pfr_reader *reader, const pfr_info_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

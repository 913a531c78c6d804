/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_INFO_H
#define PERFRAY_INFO_H
/*
 * What is in a recording: header, features, events, build-ids, counts, quality.
 *
 * One call prints one part in one form. The reader must be fresh (nothing read of it yet) or just rewound; it is read
 * as far as the part needs: streams, PFR_INFO_OVERVIEW and PFR_INFO_STATS to the end.
 *
 * Example:
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

typedef enum pfr_info_part {
    PFR_INFO_OVERVIEW,  /* everything, for people */
    PFR_INFO_EVENTS,    /* events with their attrs: the text of `perf evlist -v` */
    PFR_INFO_BUILD_IDS, /* objects with their build-ids: the text of `perf buildid-list` */
    PFR_INFO_STATS      /* counts of records and samples: the text of `perf report --stats` */
} pfr_info_part;

typedef enum pfr_info_format {
    PFR_INFO_TEXT,
    PFR_INFO_PERF, /* the overview as `perf report --header-only -I` prints it; of other parts the same as TEXT */
    PFR_INFO_JSON  /* docs/json/info.schema.json */
} pfr_info_format;

typedef struct pfr_info_options {
    size_t size; /* sizeof(pfr_info_options) */
    pfr_info_part part;
    pfr_info_format format;
    int64_t captured; /* when the file was last modified, seconds since 1970; 0: not known, not printed */
    bool brief;       /* PERF: long features are only named, as perf does without -I */
} pfr_info_options;

/* options NULL: the overview as text. Stretches of the recording that could not be used are no failure: see
   pfr_get_quality. < 0: reading ended early, or a part was left out for want of memory or because it could not be read;
   what was learnt is printed. */
pfr_status pfr_info_print(pfr_reader *reader, const pfr_info_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

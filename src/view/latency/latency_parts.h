/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_PARTS_H
#define PFR_VIEW_LATENCY_PARTS_H
/*
 * How a table of latencies is made, one file for each step:
 *
 *     latency_filter.c      options to what is counted and which rows are shown
 *     latency_rows.c        costs to rows: names, percentiles, order
 *     latency_histogram.c   a spread to bins of 1, 2, 5, 10 ...
 *     latency_text.c        rows as a table, latency_notes.c what stands above it
 *     latency_formats.c       rows as CSV and JSON
 *     latency.c             the steps
 */
#include <perfray/latency.h>
#include <regex.h>
#include "base/text/public_output.h"
#include "file/read/recording.h"
#include "file/xray/xray_clock.h"
#include "model/latency/call_costs.h"
#include "model/names/function_names.h"
#include "query/sample_filter.h"

#define LATENCY_RANKS 5u /* percentiles, by latency_ranks */

/* Names that are wanted: globs and regular expressions. */
struct latency_names {
    const char *const *words; /* NULL: all */
    regex_t *made;            /* those between slashes, in their order */
    size_t nr_made, room;
};

struct latency_row {
    uint32_t number; /* of costs and spreads */
    struct cost_key key;
    const struct call_cost *cost;
    const struct function_name *name, *caller; /* NULL: there is none */
    const char *object;                        /* NULL: it was not named */
    uint64_t low, high, rank[LATENCY_RANKS];   /* ticks, where `timed` */
    bool timed;                                /* single latencies are known */
    bool exact;                                /* percentiles are those of the values */
};

struct latency {
    const pfr_latency_options *options;
    pfr_reader *reader;
    struct memory *memory;
    uint64_t frequency;       /* of what is printed; 0: ticks */
    struct trace_clock clock; /* of --time */
    /* what is wanted */
    uint64_t least;
    struct sample_filter calls;
    struct latency_names functions, objects;
    /* what there is */
    struct costs_request request;
    struct call_costs costs;
    struct function_names names;
    struct latency_row *rows;
    size_t nr_rows, rows_room;
    size_t shown;       /* of these, the first */
    const char *object; /* of the first row that has one */
    bool tells_objects; /* in text: they were named by the caller, or there are several */
    uint64_t sketched;  /* rows whose percentiles are not exact */
};

#endif

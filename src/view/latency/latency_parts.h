/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_PARTS_H
#define PFR_VIEW_LATENCY_PARTS_H
/*
 * A latency table is made in steps, one file each:
 *
 *     latency_filter.c      options that select calls and rows
 *     latency_rows.c        converts costs to rows: names, percentiles, order
 *     latency_histogram.c   converts distributions to bins of 1, 2, 5, 10 ...
 *     latency_text.c        prints rows as a table; latency_notes.c the notes above it
 *     latency_formats.c     prints rows as CSV and JSON
 *     latency.c             the sequence of steps
 */
#include <perfray/latency.h>
#include <regex.h>
#include "base/text/public_output.h"
#include "file/read/recording.h"
#include "file/xray/xray_clock.h"
#include "model/latency/call_costs.h"
#include "model/names/function_names.h"
#include "query/sample_filter.h"

/* Names to select, as globs and regular expressions. */
struct latency_names {
    const char *const *words; /* NULL: all */
    regex_t *made;            /* compiled expressions (words between slashes), in the order of the words */
    size_t nr_made, room;
};

struct latency_row {
    uint32_t number; /* index in `costs` and its distributions */
    struct cost_key key;
    const struct call_cost *cost;
    const struct function_name *name, *caller; /* NULL if there is no name or no caller */
    const char *object;                        /* NULL if unknown */
    uint64_t low, high, rank[LATENCY_RANKS];   /* ticks; valid if `timed` */
    bool timed;                                /* individual latencies are known */
    bool exact;                                /* the percentiles are exact, not from a sketch */
};

struct latency {
    const pfr_latency_options *options;
    pfr_reader *reader;
    struct memory *memory;
    uint64_t frequency;      /* ticks per second, to print ns; 0: print ticks */
    struct xray_clock clock; /* for --time */
    /* selection */
    uint64_t least;
    struct sample_filter calls;
    struct latency_names functions, objects;
    /* results */
    struct costs_request request;
    struct call_costs costs;
    struct function_names names;
    struct latency_row *rows;
    size_t nr_rows, rows_room;
    size_t shown;       /* the first `shown` rows are printed */
    const char *object; /* object of the first row that has an object */
    bool tells_objects; /* the text shows objects, because the caller gave maps or there are several objects */
    uint64_t sketched;  /* number of rows whose percentiles are not exact */
};

#endif

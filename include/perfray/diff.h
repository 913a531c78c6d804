/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DIFF_H
#define PERFRAY_DIFF_H
/*
 * Comparison of two sides, each of one or several recordings: what changed, and whether the change is more than noise.
 *
 * Rows are functions (or objects, lines, threads, events). They are matched by the name of their object and their own
 * name; addresses and build-ids may differ. Suffixes of clones (.isra.0, .constprop.1, .part.2, .cold) and hashes of
 * Rust names are ignored. Row 0 is "[total]".
 *
 * Each value has a 95 % interval of its change. With several recordings on a side they come from the variance between
 * recordings, with one recording from a block bootstrap over its time: that says nothing about how much another run of
 * the same program would differ. Row 0 then has no verdict, unless it is per sample, event or call: sums also depend on
 * how long was recorded and on the CPU time that the machine gave. A model of a store has one time
 * per slot of the store; with fewer than 8 such slots on a side no interval is known, and no verdict is given. Verdicts
 * are corrected for the number of rows (Benjamini and Hochberg, 5 %). docs/diff.md describes method, assumptions and
 * limits.
 *
 * The result depends on the recordings and the options only, also on `seed`.
 *
 * Ownership: the diff is the caller's until pfr_diff_close. What functions return belongs to the diff. Models and
 * readers must outlive it.
 * Threads: as a model: pfr_diff_open and pfr_diff_close by one, other functions by any number of threads.
 * Opening starts threads of its own, which call `alloc` at once; jobs = 1 starts none.
 * Memory: follows functions and slots of time (at most 512 for each recording), for traces 8 bytes a call.
 *
 * Example:
 *
 *     const pfr_diff_run base = {.model = old_model, .name = "old"}, new_run = {.model = new_model, .name = "new"};
 *     pfr_diff *diff = pfr_diff_open(&base, 1, &new_run, 1, NULL, &err);
 *     for (uint32_t i = 0; diff && i < pfr_diff_count(diff); i++) {
 *         const pfr_diff_row *row = pfr_diff_get_row(diff, i);
 *         if (row->self.verdict != PFR_DIFF_NOISE)
 *             printf("%+6.2f %s\n", row->self.delta, row->symbol);
 *     }
 *     pfr_diff_close(diff);
 */
#include <perfray/limits.h>
#include <perfray/model.h>
#include <perfray/out.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_diff pfr_diff;

/* One recording. */
typedef struct pfr_diff_run {
    const pfr_model *model; /* opened with the same options on both sides */
    pfr_reader *reader;     /* that it was opened from; NULL: frequencies and unwinding are not compared */
    const char *name;       /* of the file; NULL: "" */
} pfr_diff_run;

typedef enum pfr_diff_by {
    PFR_DIFF_BY_SYMBOL,
    PFR_DIFF_BY_OBJECT,
    PFR_DIFF_BY_LINE, /* the models need `lines` */
    PFR_DIFF_BY_THREAD,
    PFR_DIFF_BY_EVENT
} pfr_diff_by;

/* What values are. */
typedef enum pfr_diff_per {
    PFR_DIFF_PER_TOTAL,  /* percent of the side's total */
    PFR_DIFF_PER_RUN,    /* the sum in a recording */
    PFR_DIFF_PER_SECOND, /* the sum divided by the time from the first to the last sample */
    PFR_DIFF_PER_SAMPLE, /* divided by the number of samples (calls) */
    PFR_DIFF_PER_EVENT,  /* divided by the sum of another event, per_name */
    PFR_DIFF_PER_CALL    /* divided by the number of calls of a traced function, per_name */
} pfr_diff_per;

/* `(pfr_diff_options){.size = sizeof(pfr_diff_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_diff_options {
    size_t size; /* sizeof(pfr_diff_options) */
    pfr_diff_by by;
    pfr_diff_per per;
    const char *per_name;
    const char *event; /* compare this event; NULL: the first one with samples on each side, a trace's calls before */
    uint64_t seed;     /* of the bootstrap; 0: 1 */
    uint32_t rounds;   /* of the bootstrap, 100 to 100000; 0: 1000 */
    /* Names that are the same: pairs base, new of objects or functions, ends with NULL. NULL: no pairs. */
    const char *const *same;
    const pfr_alloc *alloc;   /* NULL: malloc */
    const pfr_limits *limits; /* `memory`; NULL: the default */
    uint32_t jobs;            /* threads; 0: one for each CPU, at most 4. Results do not depend on it */
} pfr_diff_options;

/* NULL, with *err: USAGE (no recording on a side; no such event; by line without lines; per call without calls; no
   function or event per_name), MEMORY, LIMIT, else as pfr_samples_next. */
pfr_diff *pfr_diff_open(const pfr_diff_run *base, uint32_t base_count, const pfr_diff_run *new_runs, uint32_t new_count,
                        const pfr_diff_options *options, pfr_error *err);
/* NULL is fine. */
void pfr_diff_close(pfr_diff *diff);

typedef enum pfr_diff_verdict {
    PFR_DIFF_NOISE, /* the change may be chance */
    PFR_DIFF_SLOWER,
    PFR_DIFF_FASTER,
    PFR_DIFF_NEW, /* more than chance, and nothing on the base's side */
    PFR_DIFF_GONE
} pfr_diff_verdict;

/* "noise", "slower", "faster", "new", "gone". Static. */
const char *pfr_diff_verdict_name(pfr_diff_verdict verdict);

typedef struct pfr_diff_value {
    double base, changed;             /* of the two sides, in the unit of `per` */
    double delta;                     /* changed - base */
    double low, high;                 /* 95 % interval of delta; -INFINITY, INFINITY: not known (too few slots) */
    double base_error, changed_error; /* standard errors of the two values; INFINITY: not known */
    double p;                         /* of a change by chance at least as large */
    double q;                         /* p corrected for the number of rows */
    pfr_diff_verdict verdict;
} pfr_diff_value;

typedef struct pfr_diff_row {
    const char *symbol, *object;            /* of row 0 "[total]" and ""; bytes of the recording */
    pfr_diff_value self;                    /* without callees */
    pfr_diff_value total;                   /* with callees; by thread and by event the same */
    uint64_t base_samples, new_samples;     /* self samples (calls) of all recordings of the side */
    const char *likely;                     /* a row of the other side that may be this one under another name; NULL */
    const char *likely_object, *likely_why; /* its object; the reason: "moved", "renamed", "same callers" */
} pfr_diff_row;

/* Rows: "[total]" first, then verdicts by size of the change (those whose share changed as most shares did after the
   others), then noise. `[total]` of PFR_DIFF_PER_TOTAL is 100 and
   the new side's sum in percent of the base's. */
uint32_t pfr_diff_count(const pfr_diff *diff);
const pfr_diff_row *pfr_diff_get_row(const pfr_diff *diff, uint32_t index);

/* Sentences about what differs between the sides and makes them less comparable; NULL past the end. */
const char *pfr_diff_remark(const pfr_diff *diff, uint32_t index);

/* Durations of the calls of one traced function. Times in the model's unit (ns, or ticks). */
#define PFR_DIFF_QUANTILES 4
typedef struct pfr_diff_latency {
    const char *symbol, *object;
    uint64_t count[2], sum[2];                /* of base, new; calls that were left */
    uint64_t quantile[2][PFR_DIFF_QUANTILES]; /* p50, p90, p99, p99.9 */
    uint64_t low[2][PFR_DIFF_QUANTILES];      /* 95 % intervals of them, by order statistics */
    uint64_t high[2][PFR_DIFF_QUANTILES];     /* UINT64_MAX: no upper bound with so few calls */
    const uint32_t *histogram[2];             /* calls by binary logarithm of their duration, 64 numbers */
} pfr_diff_latency;

/* Functions by the change of their sum; NULL past the end, and for recordings without a trace. */
const pfr_diff_latency *pfr_diff_get_latency(const pfr_diff *diff, uint32_t index);

/* --- Output. */

typedef enum pfr_diff_format {
    PFR_DIFF_TEXT,
    PFR_DIFF_CSV,
    PFR_DIFF_JSON,
    PFR_DIFF_MARKDOWN,
    PFR_DIFF_PERF,  /* the table of perf diff */
    PFR_DIFF_FOLDED /* stacks with two counts, as difffolded.pl prints them */
} pfr_diff_format;

typedef struct pfr_diff_print_options {
    size_t size; /* sizeof(pfr_diff_print_options) */
    pfr_diff_format format;
    bool children; /* CSV: values with callees */
    bool tree;     /* text: where in the call tree the change is */
    bool color;    /* text: noise is grey */
    uint32_t rows; /* text and Markdown: at most so many rows; 0: 40 (noise: 10) */
    /* Of PFR_DIFF_PERF, as perf diff has them: */
    const char *compute; /* "delta-abs", "delta", "ratio", "wdiff:A,B"; NULL: "delta-abs" */
    const char *sort;    /* keys out of comm, dso, symbol, pid; NULL: "dso,symbol" */
    const char *separator;
    bool by_baseline; /* order by the base's column, as perf's -o 0; else by the computed one */
    bool period, formula, baseline_only;
} pfr_diff_print_options;

/* PFR_OK; USAGE (unknown words); MEMORY, LIMIT, as pfr_samples_next. Failures of `out` stay there. */
pfr_status pfr_diff_print(const pfr_diff *diff, const pfr_diff_print_options *options, pfr_output *out, pfr_error *err);

/* --- Gate. */

/*
 * Judges one expression: SUBJECT COMPARISON NUMBER[%], for example
 *
 *     total > +3%           the sum grew by more than 3 % of the base's
 *     self(parse) > +5%     a function's own part grew by more than 5 % of what it was (a sign: relative to the base)
 *     share(libc.so.6) > 20%   the new side has more than 20 % in an object or function (no sign: absolute)
 *     p99(handle) > +10%    of a trace: count, sum, p50, p90, p99, p99.9
 *     new > 1%, gone > 1%   a function that only one side has
 *
 * `>`, `>=`, `<` and `<=` are judged on the end of the 95 % interval that is nearer to no breach, or with `point` on
 * the value. *breached says how it ended; each breach is a line on `out`. USAGE: the expression is wrong, names a
 * function or object that no side has, needs a trace, or needs an interval that is not known.
 */
pfr_status pfr_diff_gate(const pfr_diff *diff, const char *expression, bool point, bool *breached, pfr_output *out,
                         pfr_error *err);

/* --- Picture. */

typedef struct pfr_diff_flame_options {
    size_t size;       /* sizeof(pfr_diff_flame_options) */
    const char *path;  /* write this file, whole or not at all; NULL: to `out` */
    const char *title; /* NULL: "Differential flame graph" */
    uint32_t width;    /* 200 to 100000 pixels; 0: 1200, in a browser as wide as its window */
    double min_width;  /* pixels; 0: 0.3 */
} pfr_diff_flame_options;

/* Boxes as wide as the new side, coloured by the change; stacks that only the base has are a strip below. PFR_OK; USAGE
   (width), IO, PERMISSION (path), MEMORY, LIMIT. */
pfr_status pfr_diff_flame(const pfr_diff *diff, const pfr_diff_flame_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

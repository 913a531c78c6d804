/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DIFF_H
#define PERFRAY_DIFF_H
/*
 * Compares two sides, each of one or several recordings: reports what changed, and whether the change is more than
 * noise.
 *
 * Rows are functions (or objects, lines, threads, events). Functions are matched by their name and the name of their
 * object; addresses and build-ids may differ. Suffixes of clones (.isra.0, .constprop.1, .part.2, .cold) and hashes of
 * Rust names are ignored. Row 0 is "[total]".
 *
 * Each value has a 95 % confidence interval of its change. With several recordings on a side, the interval is computed
 * from the variance between recordings. With one recording it is computed by a block bootstrap over time; such an
 * interval says nothing about how much another run of the same program would differ. Sums also depend on the length of
 * the recording and on the CPU time that the program got. With one recording on a side, row 0 therefore has no verdict,
 * unless values are per sample, event or call. A model of a store has one time per slot of the store; with fewer than 8
 * such slots on a side there are no intervals and no verdicts. Verdicts are corrected for the number of rows (Benjamini
 * and Hochberg, 5 %). docs/diff.md describes method, assumptions and limits.
 *
 * The result depends only on the recordings and the options, including `seed`.
 *
 * Ownership: the caller releases the diff by pfr_diff_close(). Rows and texts that functions return belong to the diff.
 * The models and readers must outlive it.
 * Threads: pfr_diff_open() and pfr_diff_close() are called by one thread, the other functions by any number of threads.
 * Opening starts worker threads, which call `alloc` at the same time; jobs = 1 starts none.
 * Memory: proportional to the number of functions times slots of time (at most 512 per recording); for traces also 8
 * bytes per call.
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
    pfr_reader *reader;     /* the reader of `model`; NULL: frequencies and unwinding are not compared */
    const char *name;       /* name of the file; NULL: "" */
} pfr_diff_run;

typedef enum pfr_diff_by {
    PFR_DIFF_BY_SYMBOL,
    PFR_DIFF_BY_OBJECT,
    PFR_DIFF_BY_LINE, /* the models need `lines` */
    PFR_DIFF_BY_THREAD,
    PFR_DIFF_BY_EVENT
} pfr_diff_by;

/* The unit of values. */
typedef enum pfr_diff_per {
    PFR_DIFF_PER_TOTAL,  /* percent of the side's total */
    PFR_DIFF_PER_RUN,    /* the sum over one recording */
    PFR_DIFF_PER_SECOND, /* the sum divided by the time from the first to the last sample */
    PFR_DIFF_PER_SAMPLE, /* the sum divided by the number of samples (calls) of the recording */
    PFR_DIFF_PER_EVENT,  /* the sum divided by that of the event per_name */
    PFR_DIFF_PER_CALL    /* the sum divided by the number of calls of the traced function per_name */
} pfr_diff_per;

/* `(pfr_diff_options){.size = sizeof(pfr_diff_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_diff_options {
    size_t size; /* sizeof(pfr_diff_options) */
    pfr_diff_by by;
    pfr_diff_per per;
    const char *per_name;
    const char *event; /* event to compare; NULL: the calls of traces, or else the first event with samples on each
                          side */
    uint64_t seed;     /* seed of the bootstrap; 0: 1 */
    uint32_t rounds;   /* rounds of the bootstrap, 100 to 100000; 0: 1000 */
    /* Renamed objects and functions: pairs of the name on the base side and the name on the new side; the list ends
       with NULL. NULL: no pairs. */
    const char *const *same;
    const pfr_alloc *alloc;   /* NULL: malloc */
    const pfr_limits *limits; /* only the member `memory` is used; NULL: its default */
    uint32_t jobs;            /* threads; 0: one for each CPU, at most 4. Results do not depend on it */
    double least_change;      /* a smaller change of a row, in percent of the total, gets no verdict; 0: 0.1; below 0:
                                 every significant change gets one. Ignored by event, because units differ */
} pfr_diff_options;

/* Returns NULL on failure: PFR_ERR_USAGE if a side has no recording, there is no such event, BY_LINE is used for models
   without `lines`, PER_CALL for recordings without calls, or no function or event is named per_name; PFR_ERR_MEMORY or
   PFR_ERR_LIMIT; otherwise an error of pfr_samples_next(). */
pfr_diff *pfr_diff_open(const pfr_diff_run *base, uint32_t base_count, const pfr_diff_run *new_runs, uint32_t new_count,
                        const pfr_diff_options *options, pfr_error *err);
/* NULL is allowed. */
void pfr_diff_close(pfr_diff *diff);

typedef enum pfr_diff_verdict {
    PFR_DIFF_NOISE, /* the change is not significant, or smaller than `least_change` */
    PFR_DIFF_SLOWER,
    PFR_DIFF_FASTER,
    PFR_DIFF_NEW, /* a significant change from 0 on the base side */
    PFR_DIFF_GONE
} pfr_diff_verdict;

/* "noise", "slower", "faster", "new", "gone". Static. */
const char *pfr_diff_verdict_name(pfr_diff_verdict verdict);

typedef struct pfr_diff_value {
    double base, changed;             /* values of the two sides, in the unit of `per` */
    double delta;                     /* changed - base */
    double low, high;                 /* 95 % interval of delta; -INFINITY, INFINITY: not known (too few slots) */
    double base_error, changed_error; /* standard errors of the two values; INFINITY: not known */
    double p;                         /* probability that chance alone makes a change of at least this size */
    double q;                         /* p corrected for the number of rows */
    pfr_diff_verdict verdict;
} pfr_diff_value;

typedef struct pfr_diff_row {
    const char *symbol, *object;            /* bytes of the recording, not escaped; "[total]" and "" in row 0 */
    pfr_diff_value self;                    /* without callees */
    pfr_diff_value total;                   /* with callees; equal to `self` by thread and by event */
    uint64_t base_samples, new_samples;     /* self samples (calls) of all recordings of the side */
    const char *likely;                     /* symbol of a row that only the other side has and that may be the same
                                               function, moved or renamed; NULL: no such row */
    const char *likely_object, *likely_why; /* the object of that row; the reason: "moved" or "renamed" */
} pfr_diff_row;

/* Number of rows. Row 0 is "[total]". Next are the rows with a verdict; the last of these are the rows whose share
   changed by the same factor as most shares. Noise is last. Each of these three groups is ordered by the size of the
   change. With PFR_DIFF_PER_TOTAL, `base` of "[total]" is 100, and `changed` is the sum of the new side in percent of
   the sum of the base side. */
uint32_t pfr_diff_count(const pfr_diff *diff);
const pfr_diff_row *pfr_diff_get_row(const pfr_diff *diff, uint32_t index);

/* Sentence `index`, from 0, about a difference between the sides that makes them less comparable; NULL after the last
   one. */
const char *pfr_diff_remark(const pfr_diff *diff, uint32_t index);

/* Durations of the calls of one traced function. Times in the model's unit (ns, or ticks). */
#define PFR_DIFF_QUANTILES 4
typedef struct pfr_diff_latency {
    const char *symbol, *object;
    uint64_t count[2], sum[2];                /* finished calls of base, new */
    uint64_t quantile[2][PFR_DIFF_QUANTILES]; /* p50, p90, p99, p99.9 */
    uint64_t low[2][PFR_DIFF_QUANTILES];      /* 95 % intervals of the quantiles, by order statistics */
    uint64_t high[2][PFR_DIFF_QUANTILES];     /* UINT64_MAX: no upper bound with so few calls */
    const uint32_t *histogram[2];             /* calls by binary logarithm of their duration, 64 numbers */
} pfr_diff_latency;

/* Functions, ordered by the change of their sum. NULL after the last one, and for recordings without a trace. */
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
    bool tree;     /* text: print where in the call tree the change is */
    bool color;    /* text: print noise in grey */
    uint32_t rows; /* text and Markdown: print at most this many rows; 0: 40 (noise: 10) */
    /* PFR_DIFF_PERF only, as in perf diff: */
    const char *compute; /* "delta-abs", "delta", "ratio", "wdiff:A,B"; NULL: "delta-abs" */
    const char *sort;    /* keys out of comm, dso, symbol, pid; NULL: "dso,symbol" */
    const char *separator;
    bool by_baseline; /* order rows by the base column, as perf's -o 0; default: by the computed column */
    bool period, formula, baseline_only;
} pfr_diff_print_options;

/* Returns PFR_OK; PFR_ERR_USAGE for unknown words in the options; PFR_ERR_MEMORY, PFR_ERR_LIMIT, or an error of
   pfr_samples_next(). Errors of `out` are returned by pfr_output_close(). */
pfr_status pfr_diff_print(const pfr_diff *diff, const pfr_diff_print_options *options, pfr_output *out, pfr_error *err);

/* --- Gate. */

/*
 * Judges one expression: SUBJECT COMPARISON NUMBER[%], for example
 *
 *     total > +3%           the sum grew by more than 3 % of the base's
 *     self(parse) > +5%     a function's own part grew by more than 5 % of its base value (a sign: relative change)
 *     share(libc.so.6) > 20%   the new side has more than 20 % in an object or function (no sign: absolute)
 *     p99(handle) > +10%    of a trace: count, sum, p50, p90, p99, p99.9
 *     new > 1%, gone > 1%   a function that only one side has
 *
 * `>` and `>=` compare the lower end of the 95 % interval with NUMBER, `<` and `<=` the upper end, so that noise is not
 * a breach. With `point` the value itself is compared. *breached is set to whether the expression holds, and each
 * breach is printed as a line to `out`. PFR_ERR_USAGE: the expression is invalid, names a function or object that
 * neither side has, needs a trace, or needs an interval that is not known.
 */
pfr_status pfr_diff_gate(const pfr_diff *diff, const char *expression, bool point, bool *breached, pfr_output *out,
                         pfr_error *err);

/* --- Image. */

typedef struct pfr_diff_flame_options {
    size_t size;       /* sizeof(pfr_diff_flame_options) */
    const char *path;  /* file to write, complete or not at all; NULL: write to `out` */
    const char *title; /* NULL: "Differential flame graph" */
    uint32_t width;    /* 200 to 100000 pixels; 0: 1200, and in a browser as wide as its window */
    double min_width;  /* pixels; 0: 0.3 */
} pfr_diff_flame_options;

/* Draws a flame graph whose boxes are as wide as on the new side and coloured by the change. Stacks that only the base
   has are drawn as a strip below. Returns PFR_OK; PFR_ERR_USAGE for an invalid width; PFR_ERR_IO or PFR_ERR_PERMISSION
   if `path` cannot be written; PFR_ERR_MEMORY or PFR_ERR_LIMIT. */
pfr_status pfr_diff_flame(const pfr_diff *diff, const pfr_diff_flame_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

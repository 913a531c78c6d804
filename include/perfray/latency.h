/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_LATENCY_H
#define PERFRAY_LATENCY_H
/*
 * pfr_latency_print - print how long the calls of an XRay trace took: for each function the number of calls, minimum,
 * percentiles, maximum, sum and self time. Rows can be split by caller or by thread.
 *
 * Use it to find slow calls that an average hides. report.h shows where the time went as a whole.
 *
 * Definitions:
 *
 * - The latency of a call is the time from its entry to its exit, including its callees. Each recursive call counts.
 * - The self time is the latency minus the latencies of the direct callees.
 * - An exit ends the innermost open call of its function in the same thread. Calls without an exit are unfinished, and
 *   exits without a call are unmatched; both are counted separately and have no latency.
 * - If the clock steps back below the entry, the latency is 0.
 * - A percentile is a latency that occurred, by nearest rank: p90 of ten calls is the ninth.
 *
 * Percentiles are exact for functions with up to 65536 calls. If all functions together have more than 524288 calls,
 * this bound is reduced, but not below 1024. Functions with more calls use a log-linear sketch with an error of at most
 * 0.4 %; the output marks values from a sketch. Counts, sums, minimum and maximum are always exact.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns. The amount
 * depends on the number of functions, not on the length of the trace.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile.
 *
 * Example, the callers with the slowest calls:
 *
 *     pfr_latency_options options = {.size = sizeof options, .by = PFR_LATENCY_BY_CALLER, .sort = "p99"};
 *     pfr_status status = pfr_latency_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_latency_format {
    /* Facts about the trace as lines that begin with #, then a table for people. */
    PFR_LATENCY_TEXT,
    /*
     * Columns id, function, object, count, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns, sum_ns, self_ns.
     * With BY_CALLER the columns caller_id and caller come first; with BY_THREAD, pid and tid. With `lines` the last
     * column is srcline. The suffix is _ticks instead of _ns if times are ticks.
     */
    PFR_LATENCY_CSV,
    /* One document; docs/json/latency.schema.json describes it. */
    PFR_LATENCY_JSON
} pfr_latency_format;

/* One row per function, per caller and function, or per thread and function. */
typedef enum pfr_latency_by { PFR_LATENCY_BY_FUNCTION, PFR_LATENCY_BY_CALLER, PFR_LATENCY_BY_THREAD } pfr_latency_by;

typedef enum pfr_latency_order {
    /* Ids and names ascending, numbers descending. */
    PFR_LATENCY_NATURAL,
    /* All keys ascending. */
    PFR_LATENCY_ASCENDING,
    /* All keys descending. */
    PFR_LATENCY_DESCENDING
} pfr_latency_order;

/* All pointers must remain valid while pfr_latency_print() runs. */
typedef struct pfr_latency_options {
    /* sizeof(pfr_latency_options) */
    size_t size;
    pfr_latency_format format;
    pfr_latency_by by;
    /*
     * Keys that order the rows, comma-separated; later keys order the rows that are equal by all earlier keys. Keys:
     * id, func, count, min, p50, p90, p95, p99, p999, max, sum, self, open. The names of `llvm-xray account` are
     * accepted as well: funcid, med, 90p, 99p. NULL: sum.
     */
    const char *sort;
    pfr_latency_order order;
    /* Print at most this many rows. 0: all. */
    uint32_t top;
    /* Print a histogram of the latencies of each row. Not in CSV. */
    bool histogram;
    /* Treat a call without an exit as ended by the exit of its caller, as `llvm-xray account -d` does. */
    bool deduce;
    /* Print ticks of the trace's clock, although its frequency is known. */
    bool ticks;
    /* Print only functions that match one of these patterns: globs, or POSIX regular expressions between slashes. The
       list ends with NULL. NULL: all. Functions without a name are "#7", or "#1:7" in object 1. */
    const char *const *functions;
    /* Print only functions whose object matches one of these patterns, by path or file name. NULL: all. */
    const char *const *objects;
    /* Count only calls of these threads: "7,9-12". NULL: all. */
    const char *tids;
    /* Count only calls that took at least this long: "10us". Units ns, us, ms, s; a number without a unit is seconds,
       or ticks if times are ticks. Self times are those of all calls. NULL: all. */
    const char *min_duration;
    /* Count only calls that ended in this time range, by the trace's clock in seconds: "12.5,13". Percentages and times
       since the start are not supported. NULL: all. */
    const char *time;
    /* Options for finding and printing function names. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Print the file and line where each function begins. Requires debug information of its object. */
    bool lines;
    /* Threads. 0: one per CPU. */
    unsigned jobs;
    /* Called for each unreadable range, in file order, and for each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know and that CSV cannot express. May be NULL. The
       sentence is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
} pfr_latency_options;

/*
 * pfr_latency_print - read the trace and print the table.
 *
 * `options` must not be NULL. Nothing is printed before everything is counted and named.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the table is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_USAGE for an unknown sort key, an invalid list, duration, time range or regular expression, a time range
 *   of a trace whose clock frequency is not known, a histogram in CSV, a recording that is not an XRay trace, or a
 *   stream without `spool`
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_latency_print(pfr_reader *reader, const pfr_latency_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_LATENCY_H
#define PERFRAY_LATENCY_H
/*
 * What calls cost: of each function of an XRay trace how often it was called, how long calls took (the shortest, the
 * longest, percentiles by nearest rank), how much of that was its own; by function, by caller, or by thread.
 *
 * The latency of a call is the time from its enter to its exit, what it called included; its self time is the latency
 * without those of its direct callees. Calls that never ended and exits of calls that were not open are counted apart.
 * Percentiles are exact for functions that were called up to 65536 times (fewer where all together have more than
 * 524288 calls, but never below 1024), else those of a log-linear sketch, at most 0.4 % off; which ones is said.
 *
 * Example:
 *
 *     pfr_latency_options options = {.size = sizeof options, .by = PFR_LATENCY_BY_CALLER, .sort = "p99"};
 *     pfr_status st = pfr_latency_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_latency_format {
    PFR_LATENCY_TEXT, /* what the trace is as `#` lines, then a table */
    PFR_LATENCY_CSV,  /* id,function,object,count,min_ns,p50_ns,p90_ns,p95_ns,p99_ns,p999_ns,max_ns,sum_ns,self_ns; in
                         front of them caller_id,caller or pid,tid; _ticks for _ns where times are ticks; with `lines`
                         srcline behind them */
    PFR_LATENCY_JSON  /* docs/json/latency.schema.json */
} pfr_latency_format;

typedef enum pfr_latency_by { PFR_LATENCY_BY_FUNCTION, PFR_LATENCY_BY_CALLER, PFR_LATENCY_BY_THREAD } pfr_latency_by;

typedef enum pfr_latency_order {
    PFR_LATENCY_NATURAL, /* ids and names upwards, numbers downwards */
    PFR_LATENCY_ASCENDING,
    PFR_LATENCY_DESCENDING
} pfr_latency_order;

typedef struct pfr_latency_options {
    size_t size; /* sizeof(pfr_latency_options) */
    pfr_latency_format format;
    pfr_latency_by by;
    const char *sort; /* id, func, count, min, p50, p90, p95, p99, p999, max, sum, self, open, or as llvm-xray account
                         calls them: funcid, med, 90p, 99p; several with commas between; NULL: sum */
    pfr_latency_order order;
    uint32_t top;                 /* rows at most; 0: all */
    bool histogram;               /* of each row that is shown; not in CSV */
    bool deduce;                  /* calls that were never left end with the call around them */
    bool ticks;                   /* times in ticks, though the frequency is known */
    const char *const *functions; /* rows of these alone: globs, or /regular expressions/; ends with NULL; NULL: all */
    const char *const *objects;   /* the same of objects, by path or last part of it */
    const char *tids;             /* calls of these threads alone: "7,9-12"; NULL: all */
    const char *min_duration; /* calls as long alone: "10us"; a number without a unit is ticks where times are; NULL:
                                 all */
    const char *time;         /* calls that were left then, as pfr_report_options.time; NULL: all */
    const pfr_symbol_options *naming; /* where names come from; NULL: the defaults */
    bool lines;    /* where each function begins, by the debugging information of the object that names it */
    unsigned jobs; /* threads; 0: one for each cpu */
    /* told of each stretch that could not be read, in the order of the file; may be NULL */
    void (*hole)(void *context, const pfr_error *hole);
    /* told what should be known of the numbers and has no place in CSV; may be NULL */
    void (*note)(void *context, const char *sentence);
    void *context;
} pfr_latency_options;

/*
 * Reads the trace and prints. What is counted, and the names, are held in the reader's memory and count against its
 * limit; all of it is given back before the call returns. Nothing is printed before all is counted and named.
 * PFR_OK; PFR_HOLE: printed, but parts of the input could not be used; PFR_ERR_USAGE: an option that cannot be meant, a
 * recording that is no trace, or a stream without spool; else as pfr_next.
 */
pfr_status pfr_latency_print(pfr_reader *reader, const pfr_latency_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_REPORT_H
#define PERFRAY_REPORT_H
/*
 * What is hot: samples counted by command, object and symbol.
 *
 * The recording is read twice (state first, then samples in any order); a stream must have been opened with
 * pfr_open_options.spool. Weights are the samples' periods; a percentage is of all of an event's periods.
 *
 * Example:
 *
 *     pfr_report_options options = {.size = sizeof options, .sort = "comm,dso"};
 *     pfr_status st = pfr_report_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_report_format {
    PFR_REPORT_TEXT, /* ours: totals and losses as `#` lines, then the table */
    PFR_REPORT_PERF, /* the shape of `perf report --stdio` */
    PFR_REPORT_CSV,  /* percent,weight,samples, then the sort keys; weights not rounded */
    PFR_REPORT_JSON  /* docs/json/report.schema.json */
} pfr_report_format;

typedef struct pfr_report_options {
    size_t size; /* sizeof(pfr_report_options) */
    pfr_report_format format;
    const char *sort;     /* keys by name, with commas: comm, dso, sym, pid, tid; NULL: "comm,dso,sym" */
    const char *symfs;    /* objects are looked for under this folder; NULL: / */
    const char *kallsyms; /* names of the kernel; NULL: the running kernel's, when it is the one recorded */
    bool no_symbols;      /* open no object: addresses stay numbers */
    double percent_limit; /* rows below this percentage are left out */
    /* told of each stretch that could not be read, and (where "depth") of samples that a limit leaves unknown; may be
       NULL */
    void (*hole)(void *context, const pfr_error *hole);
    void *context;
} pfr_report_options;

/*
 * Reads the recording and prints. What is counted, and the symbols, are held in the reader's memory and count against
 * its limit; all of it is given back before the call returns. Nothing is printed before all is counted and named.
 * PFR_OK; PFR_HOLE: printed, but parts of the input could not be used; PFR_ERR_USAGE: an unknown sort key, or a stream
 * without spool; else as pfr_next.
 */
pfr_status pfr_report_print(pfr_reader *reader, const pfr_report_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

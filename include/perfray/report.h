/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_REPORT_H
#define PERFRAY_REPORT_H
/*
 * What is hot: samples counted by command, object and symbol, or by what else was recorded; with the functions that led
 * there. Rows, order and percentages are those of `perf report`.
 *
 * The recording is read more than once (state first, then samples in any order); a stream must have been opened with
 * pfr_open_options.spool. Weights are the samples' periods; a percentage is of all of an event's periods.
 *
 * Of a trace calls are counted: each weighs the time it took itself, in ns, or in ticks where the clock's frequency is
 * not known.
 *
 * Of a recording that holds counts and no samples (perf stat record) the table of `perf stat report` is printed, where
 * a table is asked for; other options mean nothing to it. CSV and JSON have no rows then.
 *
 * Example:
 *
 *     pfr_report_options options = {.size = sizeof options, .sort = "comm,dso", .call_graph = "callee"};
 *     pfr_status st = pfr_report_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_report_format {
    PFR_REPORT_TEXT, /* ours: totals and losses as `#` lines, then the table */
    PFR_REPORT_PERF, /* the shape of `perf report --stdio` */
    PFR_REPORT_CSV,  /* percent,weight,samples, the event, then the sort keys; weights not rounded */
    PFR_REPORT_JSON  /* docs/json/report.schema.json */
} pfr_report_format;

typedef enum pfr_report_choice { PFR_REPORT_AUTO, PFR_REPORT_YES, PFR_REPORT_NO } pfr_report_choice;

typedef struct pfr_report_options {
    size_t size; /* sizeof(pfr_report_options) */
    pfr_report_format format;
    const char *sort;           /* keys by name, with commas; NULL: those of the mode, "comm,dso,sym" mostly */
    bool raw_trace;             /* tracepoints by their fields as recorded, not by their text */
    const char *fields;         /* columns, as perf's -F; NULL: weights, then the sort keys */
    bool show_samples;          /* a column of how many samples, */
    bool show_total_period;     /* of their weight */
    pfr_report_choice children; /* weights of functions with all they call; AUTO: in tables, where chains are */
    const char *call_graph;     /* as perf's -g: "graph,0.5,caller,function,percent"; "none"; NULL: the defaults */
    bool inverted;              /* call trees from the outermost caller on, whatever call_graph says */
    uint32_t max_stack;         /* entries of a chain, from the end that trees begin with; 0: 127, of a trace 256 */
    const char *parent;         /* regular expression: the sort key `parent` is the function of a chain that matches */
    bool only_parent;           /* only samples with one */
    double percent_limit;       /* rows below this percentage are left out, and branches of trees; less than 0: none */
    bool relative;              /* percentages are of what is shown, not of all */
    pfr_report_choice group;    /* events side by side: AUTO: where they were recorded as a group; YES: all */
    const char *separator;      /* between columns instead of blanks that align them; NULL: aligned */
    pfr_report_choice branches; /* count branches of branch stacks, not samples; AUTO: where they were recorded */
    bool memory_mode;           /* count by what memory accesses cost */
    const char *cpus;           /* samples of these alone: "0,2-3"; NULL: all */
    const char *time;           /* as pfr_script_options.time */
    const char *pids, *tids;    /* rows of these alone; what they leave out counts in percentages unless `relative` */
    const char *comms, *objects, *symbols; /* the same */
    const char *symbol_filter;             /* rows whose function has this in its name; NULL: all */
    uint64_t time_quantum;                 /* ns, of the sort key `time`; 0: 100 ms */
    bool bars;                             /* tables: the whole call tree of the samples instead of rows */
    bool color;                            /* hot rows stand out: for a terminal */
    const pfr_symbol_options *naming;      /* where names come from; NULL: the defaults */
    bool inlined;  /* inlined functions are frames of their own, above what they were inlined into; with chains */
    unsigned jobs; /* threads; 0: one for each cpu, with call chains at most 4, and no more than one for each 0.2 s that
                      counting is likely to take; of a trace one for each cpu */
    /* told of each stretch that could not be read, and (where "depth", "trees") of what a limit leaves out; may be
       NULL */
    void (*hole)(void *context, const pfr_error *hole);
    void *context;
    void (*note)(void *context, const char *sentence);
    bool stitched; /* stacks of branches (LBR) go on with what samples before had further out; one thread then */
} pfr_report_options;

/*
 * Reads the recording and prints. What is counted, and the symbols, are held in the reader's memory and count against
 * its limit; all of it is given back before the call returns. Nothing is printed before all is counted and named.
 * PFR_OK; PFR_HOLE: printed, but parts of the input could not be used; PFR_ERR_USAGE: an unknown sort key or word of an
 * option, or a stream without spool; else as pfr_next.
 */
pfr_status pfr_report_print(pfr_reader *reader, const pfr_report_options *options, pfr_output *out, pfr_error *err);

/*
 * The names of sort keys and columns, in the order of the table, one for each `index` from 0; NULL beyond the last.
 * Keys of branches and of memory accesses need a report of that kind (branches, memory_mode). The text is static.
 */
const char *pfr_report_field_name(uint32_t index);

/*
 * Returns whether `text` is a valid pfr_report_options.call_graph: comma-separated words and numbers as perf's -g takes
 * them. Lets a command line tell `-g caller` from `-g perf.data`.
 */
bool pfr_report_is_call_graph(const char *text);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_REPORT_H
#define PERFRAY_REPORT_H
/*
 * pfr_report_print - count samples by command, object and function, as `perf report` does.
 *
 * Prints one row per group, hottest first, and a call tree below each row if call chains were recorded. Rows, their
 * order and their percentages are those of `perf report --stdio --no-inline`. Use it to find out where the time goes;
 * script.h prints the individual samples, export.h and flame.h the complete stacks.
 *
 * Weights are the sample periods. A percentage refers to the total weight of the event. In an XRay trace each call
 * counts as a sample, and its weight is its self time: in nanoseconds, or in ticks if the clock frequency is not known.
 *
 * A recording with counts but no samples (`perf stat record`) is printed as the table of `perf stat report`, in the
 * formats TEXT and PERF. All options but the format are ignored then. CSV and JSON have no rows.
 *
 * The recording is read more than once: first for mappings and thread names, then for samples, in any order. A stream
 * must therefore be opened with pfr_open_options.spool.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns. If the limit
 * is reached, stacks that do not fit are counted in rows named [limit], and the result is PFR_HOLE.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile.
 *
 * Example, the hottest objects of each command, with callers:
 *
 *     pfr_report_options options = {.size = sizeof options, .sort = "comm,dso", .call_graph = "callee"};
 *     pfr_status status = pfr_report_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_report_format {
    /* Totals and losses as lines that begin with #, then a table for people. */
    PFR_REPORT_TEXT,
    /* The layout of `perf report --stdio`. */
    PFR_REPORT_PERF,
    /* Columns percent, weight, samples, event, then the sort keys. Weights are not rounded. */
    PFR_REPORT_CSV,
    /* One document; docs/json/report.schema.json describes it. */
    PFR_REPORT_JSON
} pfr_report_format;

/* AUTO: choose by the content of the recording; each option describes how. */
typedef enum pfr_report_choice { PFR_REPORT_AUTO, PFR_REPORT_YES, PFR_REPORT_NO } pfr_report_choice;

/*
 * Lists in strings are comma-separated, without blanks. All pointers must remain valid while pfr_report_print() runs.
 */
typedef struct pfr_report_options {
    /* sizeof(pfr_report_options) */
    size_t size;
    pfr_report_format format;
    /*
     * Sort keys, the columns by which samples are grouped; pfr_report_field_name() lists them. "+KEYS" adds keys to the
     * default. NULL is "comm,dso,sym"; "trace" if all events are tracepoints; "dso,sym" for XRay;
     * "comm,dso_from,symbol_from,symbol_to,cycles" for branches; "local_weight,mem,sym,dso,..." for memory accesses.
     */
    const char *sort;
    /* Print the recorded values of tracepoint fields, instead of the text that the tracepoint's print format makes of
       them. */
    bool raw_trace;
    /* Columns to print, in this order; rows are also grouped by the sort keys among these columns. "+FIELDS" adds
       columns to the default. NULL: the weights, then the sort keys. */
    const char *fields;
    /* Add a column with the number of samples. */
    bool show_samples;
    /* Add a column with the weight. */
    bool show_total_period;
    /* Include callees in the weight of each function (inclusive time). AUTO: yes in TEXT and PERF if call chains were
       recorded, no in CSV and JSON, whose columns must not depend on the recording. */
    pfr_report_choice children;
    /*
     * Call trees, as perf's -g: words and numbers such as "graph,0.5,caller,function,percent". Words are graph,
     * fractal, flat, folded or none; caller or callee; function or address; percent, period or count. The first number
     * is the minimum percentage of a branch, the second the maximum number of branches at one level. NULL: graph with a
     * minimum of 0.5 %; in CSV and JSON no trees.
     */
    const char *call_graph;
    /* Print call trees from the outermost caller inwards, whatever call_graph says. */
    bool inverted;
    /* Use at most this many entries of a call chain, from the end at which the trees begin. 0: 127, for XRay 256.
       Branch stacks used as call chains (LBR) are not limited. */
    uint32_t max_stack;
    /* POSIX extended regular expression. The sort key `parent` is the function of the call chain whose name matches
       this expression. NULL: "^sys_|^do_page_fault", as in perf. */
    const char *parent;
    /* Count only samples that have a function matching `parent` in their call chain. */
    bool only_parent;
    /* Hide rows and branches of call trees below this percentage. 0 or less: all rows are printed, and branches from
       0.5 % on. */
    double percent_limit;
    /* Percentages refer to the rows that are printed, instead of to all samples of the event. */
    bool relative;
    /* Print events side by side, one column each. AUTO: events that were recorded as a group. YES: all events. NO: one
       table per event. */
    pfr_report_choice group;
    /* Text between columns, instead of blanks for alignment. Its first character becomes "." in names. Must not be ""
       or begin with ".". NULL: aligned columns. */
    const char *separator;
    /* Count the branches of branch stacks instead of samples. AUTO: if branch stacks were recorded, except as call
       chains (LBR). */
    pfr_report_choice branches;
    /* Count memory accesses, weighted by their cost. Not together with branches. */
    bool memory_mode;
    /* Only samples on these CPUs: "0,2-3". NULL: all. Samples that `cpus` or `time` exclude are not part of any
       total. */
    const char *cpus;
    /* Only samples in this time range; syntax as pfr_script_options.time. NULL: all. */
    const char *time;
    /* Print only rows of these processes and threads: "12,13". NULL: all. Excluded rows still count in percentages,
       unless `relative` or `hide_unresolved` is set. This also holds for `comms`, `objects`, `symbols` and
       `symbol_filter`. */
    const char *pids, *tids;
    /*
     * Print only rows of these commands ("sh,make"), in these objects (path or file name), of these functions. NULL:
     * all.
     */
    const char *comms, *objects, *symbols;
    /* Print only rows whose function name contains this text. NULL: all. */
    const char *symbol_filter;
    /* Length of one interval of the sort key `time`, in ns. 0: 100 ms. */
    uint64_t time_quantum;
    /* TEXT and PERF: print the complete call tree of all samples with bars, instead of rows. Not for branches or memory
       accesses. */
    bool bars;
    /* Highlight hot rows with terminal colours. */
    bool color;
    /* Options for finding symbols and printing names. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Show inlined functions as frames of their own in call chains, between the function that contains them and its
       callees. Requires debug information. */
    bool inlined;
    /* Threads. 0: one per CPU; with call chains at most 4, and at most one per 0.15 s of expected work. */
    unsigned jobs;
    /* Called for each unreadable range and for each limit that excluded data (err->where is the name of the limit, for
       example "depth" or "trees"). May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* First argument of `hole` and `note`. */
    void *context;
    /* Called with one sentence for each fact that users should know but that is not damage, such as an option without
       effect. May be NULL. The sentence is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* Extend LBR call chains with frames from the previous sample of the thread. A heuristic. Uses one thread. */
    bool stitched;
    /* Tables: print only rows, without totals, headings and notes. */
    bool quiet;
    /* Do not count samples whose address has no symbol, and omit rows of frames without a symbol. */
    bool hide_unresolved;
    /* The sort keys srcline and srcfile have whole paths, instead of file names. */
    bool full_paths;
    /* POSIX extended regular expression. Samples in callees of a matching function count as samples of that function:
       all frames that the outermost matching function called are dropped from the chain. NULL: none. Requires call
       chains. */
    const char *ignore_callees;
    /* Only samples on the CPUs of this processor socket: a number, "0", or numbers as in `cpus`. NULL: all. Requires
       the CPU topology of the recording. Like `cpus`, it excludes samples from all totals. */
    const char *sockets;
    /* Only samples after a sample of the event `switch_on` (NULL: from the start), and only until a sample of the event
       `switch_off` (NULL: to the end), in the order of time. With both, counting is switched on and off as often as
       such samples occur. Samples that are excluded, and those of the two events themselves, are not part of any total.
       The recording is read twice. */
    const char *switch_on, *switch_off;
    /* Only samples of events with this name, or "offcpu-time"; as pfr_selection.event. NULL: all. */
    const char *event;
    /* Give each sample two weights: its period divided by the number of threads that ran at its time, and its period.
       The first weights of cpu-clock samples add up to the wall-clock time in which at least one thread ran. Rows and
       call trees are sorted by the first weight. The recording must contain the times at which threads ran. Not for
       branches, memory accesses or waits. */
    bool latency;
    /* `note` also gets hints for a person: what to do if most samples have no function name. */
    bool hints;
    /*
     * TEXT and PERF: print the rows as a tree with one level per sort key, each node with the sum of its rows, as `perf
     * report --hierarchy` does. `children` is then off. Not with `bars` or `fields`.
     */
    bool hierarchy;
} pfr_report_options;

/*
 * pfr_report_print - read the recording and print the report.
 *
 * `options` must not be NULL. Nothing is printed before everything is counted and named, so a failure leaves no partial
 * report, except if `out` itself fails. Check pfr_output_close() as well.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the report is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_USAGE for an unknown sort key, field or word of call_graph; an invalid list, time range, regular
 *   expression or separator; branches, memory accesses or call chains that were not recorded but are needed;
 *   instrumentation maps for perf.data; or a stream without `spool`
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_report_print(pfr_reader *reader, const pfr_report_options *options, pfr_output *out, pfr_error *err);

/*
 * pfr_report_field_name - the name of a sort key or column, for `index` from 0; NULL after the last one.
 *
 * Keys of branches can be used only in reports with `branches`, keys of memory accesses only with `memory_mode`. Names
 * of tracepoint fields can be used as keys as well; they are not listed here. A static string.
 */
const char *pfr_report_field_name(uint32_t index);

/*
 * pfr_report_is_call_graph - whether `text` is a valid pfr_report_options.call_graph.
 *
 * Lets a command line with an optional argument tell `-g caller` from `-g perf.data`. Must not be NULL.
 */
bool pfr_report_is_call_graph(const char *text);

#ifdef __cplusplus
}
#endif
#endif

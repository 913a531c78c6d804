/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SCRIPT_H
#define PERFRAY_SCRIPT_H
/*
 * pfr_script_print - print samples one by one in timestamp order, byte for byte as `perf script` does.
 *
 * Use it to look at individual samples, or to feed a script. report.h prints sums, dump.h prints records in file order.
 *
 * XRay traces: one line per function entry, function exit or logged event. Threads are merged by time. Options for
 * facts that a trace does not contain (show, comms, call chains, kernel symbols, dump, per_event) are PFR_ERR_USAGE,
 * and so is instr_maps for perf.data.
 *
 * The recording is read twice: first for mappings and thread names, then for its records. A stream must therefore be
 * opened with pfr_open_options.spool.
 *
 * Records that the recorder wrote too late to be sorted into place are printed where they are read, with the names and
 * mappings at their timestamp; their number is passed to `note`.
 *
 * Memory: mappings, names and the reorder buffer are allocated from the reader's memory limit and released before the
 * function returns.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile.
 *
 * Example:
 *
 *     const char *fields[] = {"comm,tid,time,event,ip,sym", NULL};
 *     pfr_script_options options = {.size = sizeof options, .fields = fields};
 *     pfr_status status = pfr_script_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of pfr_script_options.show: record types to print in addition to samples. */
#define PFR_SCRIPT_TASKS (1u << 0)      /* COMM, FORK, EXIT */
#define PFR_SCRIPT_MAPS (1u << 1)       /* MMAP, MMAP2 */
#define PFR_SCRIPT_SWITCHES (1u << 2)   /* SWITCH, SWITCH_CPU_WIDE */
#define PFR_SCRIPT_NAMESPACES (1u << 3) /* NAMESPACES */
#define PFR_SCRIPT_CGROUPS (1u << 4)    /* CGROUP */
#define PFR_SCRIPT_BPF (1u << 5)        /* KSYMBOL, BPF_EVENT */
#define PFR_SCRIPT_LOSSES (1u << 6)     /* LOST */
#define PFR_SCRIPT_ROUNDS (1u << 7)     /* FINISHED_ROUND */
#define PFR_SCRIPT_POKES (1u << 8)      /* TEXT_POKE */

/* How timestamps are printed. */
typedef enum pfr_script_clock {
    /* Seconds of the recording's clock. */
    PFR_SCRIPT_AS_RECORDED,
    /* Seconds since the first line. */
    PFR_SCRIPT_SINCE_FIRST,
    /* Seconds since the previous line. */
    PFR_SCRIPT_SINCE_PREVIOUS
} pfr_script_clock;

typedef enum pfr_script_format {
    /* The text of `perf script`. */
    PFR_SCRIPT_TEXT,
    /* JSON Lines, one object per line; docs/json/script.schema.json describes them. `fields` NULL: everything that was
       recorded. */
    PFR_SCRIPT_JSON,
    /* XRay only: the output of `llvm-xray convert -f yaml`, with names (-y) if instr_maps are given. */
    PFR_SCRIPT_LLVM_YAML,
    /* XRay only: an instrumentation map of the called functions that have names, as `llvm-xray extract` writes one. */
    PFR_SCRIPT_LLVM_MAP
} pfr_script_format;

/* Lists in strings are comma-separated. All pointers must remain valid while pfr_script_print() runs. */
typedef struct pfr_script_options {
    /* sizeof(pfr_script_options) */
    size_t size;
    pfr_script_format format;
    /*
     * Fields to print; each string has the syntax of perf's -F: "comm,ip", "+srcline", "-period", or for events of one
     * kind "trace:time,trace". Later strings act on the result of earlier ones. The list ends with NULL. NULL: perf's
     * default. pfr_script_field_name() lists the names.
     */
    const char *const *fields;
    /* PFR_SCRIPT_* bits: other records to print. */
    uint32_t show;
    /* Print at most this many entries of a call chain. 0: 127. LBR call chains are not limited. */
    uint32_t max_stack;
    /* Only samples on these CPUs: "0,2-3". NULL: all. */
    const char *cpus;
    /* Only samples of these processes or threads: "12,13". NULL: all. */
    const char *pids, *tids;
    /* Only samples of threads with these names: "sh,make". NULL: all. */
    const char *comms;
    /* Only samples whose sampled address (not the rest of the call chain) is in one of these functions or at one of
       these addresses: "main,0x401136". NULL: all. */
    const char *symbols;
    /* Length in bytes of the range that begins at each address in `symbols`. 0: 1. */
    uint64_t address_range;
    /* Only samples in these objects, by path or file name: "libc.so.6,/usr/bin/sh". NULL: all. */
    const char *objects;
    /*
     * Only samples in these time ranges. Both ends are included, and each may be omitted. NULL: all.
     *
     *     12.5,13                                    seconds, as they are printed
     *     10%-20%  10%/2                             parts of the recording, which must contain the times of its first
     *                                                and last sample
     *     5s-10s                                     since the first sample; units ns, us, ms, s, m, h, d
     *     2026-11-22 09:00:01,2026-11-22 09:00:05    wall clock in the local time zone, or with Z or +01:00 appended;
     *                                                the recording must contain the wall clock (perf record -k)
     */
    const char *time;
    /* Print only after a sample of the event `switch_on` (NULL: from the start), and only until a sample of the event
       `switch_off` (NULL: to the end). With both, printing is switched on and off as often as such samples occur. */
    const char *switch_on;
    const char *switch_off;
    /* Print the samples of these two events as well. */
    bool show_switches;
    pfr_script_clock clock;
    /* Print the sampled address instead of the call chain. */
    bool hide_call_graph;
    /* Print timestamps with nine decimals instead of six. */
    bool nanoseconds;
    /* Print inlined functions as frames of their own in call chains, innermost first. Requires debug information. */
    bool inlined;
    /* Print the paths of vmlinux and of kernel modules instead of [kernel.kallsyms] and [ext4]. */
    bool kernel_paths;
    /* End a call chain at the first of these functions: "main,start_thread". NULL: do not. */
    const char *stop_at;
    /* Print each record with its bytes in front of its line, as pfr_dump() does with PFR_DUMP_PERF. */
    bool dump;
    /* Do not sort: print records in file order. */
    bool unsorted;
    /* Name of the recording, for `dump`. NULL: "". */
    const char *name;
    /* Write the output of each event to a file PER_EVENT.EVENT.dump (mode 0600, replaced when complete), and one line
       per file to `out`. NULL: write everything to `out`. */
    const char *per_event;
    /*
     * Threads that print, including the calling one; at most 64. 0: one, which uses the least CPU time. With more, the
     * reader's allocator is called by several threads at the same time. One thread is used where a line depends on
     * earlier ones (clock, dump, per_event, switch_on, texts of tracepoints, ...) and for streams. `hole` and `note`
     * are called by the calling thread only.
     */
    uint32_t jobs;
    /* Options for finding symbols and printing names. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Called for each unreadable range and each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /*
     * Called with one sentence for each option that has no effect, and at the end for the numbers of records out of
     * order and of guest samples that were left out. These records and samples do not make the result PFR_HOLE. May be
     * NULL. The sentence is valid during the call.
     */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
    /* Extend LBR call chains with frames from the previous sample of the thread. A heuristic. Uses one thread. */
    bool stitched;
    /* XRay: print timestamps in ticks of the trace's clock, as recorded. */
    bool ticks;
} pfr_script_options;

/*
 * pfr_script_print - read the recording and print its samples.
 *
 * `options` must not be NULL. Lines are printed while the recording is read, so a failure leaves a partial output.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_USAGE for a field that does not exist, or that is requested by name but was not recorded; an invalid list
 *   or time range; an unknown event; an option that this kind of recording does not support; or a stream without
 *   `spool`
 * - PFR_ERR_FORMAT for an XRay profile, which has no events
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err);

/* pfr_script_field_name - the name of a field of pfr_script_options.fields, for `index` from 0; NULL after the last
   one. A static string. */
const char *pfr_script_field_name(uint32_t index);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ANNOTATE_H
#define PERFRAY_ANNOTATE_H
/*
 * pfr_annotate_print - print functions of a recording instruction by instruction, or line by line, with the cost of
 * each.
 *
 * Use it after a report, to see where in a function the time goes. For each chosen function it prints its machine code,
 * disassembled, with the share of the function's samples at each address, one column for each event; source lines are
 * above the instructions that were compiled from them, if there is debugging information and the source file. By line,
 * it prints the source function: the code that was inlined into it counts at the line of the call.
 *
 * Code comes from the object that the recording names; one with another build-id than the recorded is not used. Kernel
 * code comes from naming->vmlinux or, for root, /proc/kcore; code of a JIT from its jitdump. Where there is no code (a
 * kernel module, a missing file) the addresses with samples are printed, and a note says why.
 *
 * A sample has the address of the instruction that was next when the event was taken. With software clocks that is
 * often one or a few instructions after the one that took the time (skid).
 *
 * The recording is read more than once. A stream must be opened with pfr_open_options.spool.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile. Code is disassembled in a process of its own that may do nothing else, which ends before the
 * function returns.
 *
 * Example, the hottest function with Intel's syntax:
 *
 *     pfr_annotate_options options = {.size = sizeof options, .intel = true};
 *     pfr_status status = pfr_annotate_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_annotate_format {
    PFR_ANNOTATE_TEXT,
    /* Columns address, percent, samples, weight, file, line, instruction; with a header row, and all instructions of a
       function. For several events, one after the other, the columns symbol and event come first where there is more
       than one function or event. */
    PFR_ANNOTATE_CSV,
    /* One document; docs/json/annotate.schema.json describes it. */
    PFR_ANNOTATE_JSON
} pfr_annotate_format;

/* All pointers must remain valid while pfr_annotate_print() runs. */
typedef struct pfr_annotate_options {
    /* sizeof(pfr_annotate_options) */
    size_t size;
    pfr_annotate_format format;
    /* A function's name; FILE:LINE, all functions with samples at this line; or 0xADDRESS, the function there. NULL:
       the functions with most weight. */
    const char *what;
    /* At most this many functions, heaviest first. 0: 1, with `what` all that fit. */
    uint32_t top;
    /* Lines of the source function, not instructions. */
    bool by_line;
    /* Do not print source lines between instructions. */
    bool no_source;
    /* No column of jumps: rows as `perf annotate --stdio` prints them. */
    bool plain;
    /* Intel's syntax on x86. Default: AT&T's. */
    bool intel;
    /* Print numbers of samples instead of percentages in text. */
    bool counts;
    /* Look for source files below this directory as well. NULL: only at the recorded paths. */
    const char *source_dir;
    /* Remove this many leading directories of a recorded source path before source_dir is put in front. */
    uint32_t strip;
    /* Only samples of this event, by name. NULL: all events. */
    const char *event;
    /* Only samples of these CPUs, processes and threads: numbers and ranges, "12,20-29". NULL: all. */
    const char *cpus, *pids, *tids;
    /* Only samples of threads with these names, as they were at the time of the sample: "sh,make". NULL: all. */
    const char *comms;
    /* Only samples in this time range; syntax as pfr_script_options.time. NULL: all. */
    const char *time;
    /* Threads that load. 0: one per CPU, at most 4, and at most one per 0.15 s of expected work. */
    uint32_t jobs;
    /* Where symbols and objects come from. `no_symbols` is not allowed. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Called for each unreadable range and for each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know but that is no damage: code that cannot be read.
       May be NULL. The sentence is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
    /* An older recording to compare with, by line: `by_line` is implied. Functions are those of one name, lines those
       of one text in the two versions of the source; where one version is known, those of one number, and a note says
       so. `event` NULL: the first event of `reader`. A stream must be opened with `spool`. NULL: no comparison. */
    pfr_reader *base;
    /* Where the older version of the sources is; the recorded paths are not read for it then. NULL: the base's recorded
       paths, where they differ from those of `reader`. */
    const char *base_source_dir;
    /* First argument of `hole` and `note` about `base`. NULL: context. */
    void *base_context;
    /* Called for each source file that is neither below source_dir nor at its recorded path: true if `found`, `room`
       bytes large, was filled with the path of a copy. pfr_debuginfod_source() (debuginfod.h) can be called here. NULL:
       other places are not searched. */
    bool (*find_source)(void *context, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                        size_t room);
    /* First argument of find_source. */
    void *source_context;
} pfr_annotate_options;

/*
 * pfr_annotate_print - read the recording and print the chosen functions. `options` must not be NULL. With `base` those
 * that changed most come first.
 *
 * Returns PFR_OK, or:
 * - PFR_END if no sample is in what was asked for: nothing was printed
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_FORMAT for an XRay trace, which has no addresses
 * - PFR_ERR_USAGE for a stream without `spool`, naming->no_symbols, an event without samples, or a list
 *   with a syntax error
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_annotate_print(pfr_reader *reader, const pfr_annotate_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

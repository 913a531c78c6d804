/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_ANNOTATE_H
#define PERFRAY_ANNOTATE_H
/*
 * pfr_annotate_print - print functions of a recording instruction by instruction, or line by line, with the cost of
 * each.
 *
 * Use it after a report, to see where in a function the time goes. For each chosen function it prints the disassembled
 * machine code, with the share of the function's samples at each address in one column per event. Source lines are
 * printed above the instructions that were compiled from them, if debugging information and the source file are
 * available. With `by_line` it prints the source of the function instead; code that was inlined into it counts at the
 * line of the call.
 *
 * Code is read from the object that the recording names, unless its build-id differs from the recorded one. Kernel code
 * is read from naming->vmlinux or, for root, from /proc/kcore; code of a JIT compiler from its jitdump. If the code
 * cannot be read (a kernel module, a missing file), the addresses with samples are printed, and a note gives the
 * reason.
 *
 * The address of a sample is that of the instruction that was next when the interrupt came. With software clocks, this
 * is often one or a few instructions after the instruction that took the time (skid).
 *
 * The recording is read more than once. A stream must be opened with pfr_open_options.spool.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile. Code is disassembled in a sandboxed child process, which ends before the function returns.
 *
 * Example, the hottest function in Intel syntax:
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
    /* A header row, then one row per instruction: address, percent, samples, weight, file, line, instruction. If there
       are several functions or events, the columns symbol and event come first, and the rows of an event follow those
       of the previous one. With `by_line` the columns are symbol, file, line, inlined, self_percent, self,
       total_percent, total, source. */
    PFR_ANNOTATE_CSV,
    /* One document; docs/json/annotate.schema.json describes it. */
    PFR_ANNOTATE_JSON
} pfr_annotate_format;

/* All pointers must remain valid while pfr_annotate_print() runs. */
typedef struct pfr_annotate_options {
    /* sizeof(pfr_annotate_options) */
    size_t size;
    pfr_annotate_format format;
    /* The name of a function; or FILE:LINE, for all functions with samples at this line; or 0xADDRESS, for the function
       at this address. NULL: the functions with the most weight. */
    const char *what;
    /* Print at most this many functions, heaviest first. 0: one function, or all functions that `what` selects. */
    uint32_t top;
    /* Print the source lines of a function instead of its instructions. */
    bool by_line;
    /* Do not print source lines between instructions. */
    bool no_source;
    /* Omit the column of jump arrows: print rows as `perf annotate --stdio` does. */
    bool plain;
    /* x86: print Intel syntax. Default: AT&T. */
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
    /* Number of threads that load the recording. 0: one per CPU, at most 4, and at most one per 0.15 s of expected
       work. */
    uint32_t jobs;
    /* Options for finding symbols and objects. `no_symbols` is not allowed. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Called for each unreadable range and for each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know but that is not damage, such as code that cannot be
       read. May be NULL. The sentence is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
    /* An older recording to compare with, line by line; implies `by_line`. Functions are matched by name, and lines by
       their text in the two versions of the source. If only one version is available, lines are matched by number, and
       a note says so. With `base`, `event` NULL is the first event of `reader`. A stream must be opened with `spool`.
       NULL: no comparison. */
    pfr_reader *base;
    /* Directory of the older version of the sources, which is used instead of the paths recorded in `base`. NULL: the
       paths recorded in `base`, where they differ from those of `reader`. */
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
 * pfr_annotate_print - read the recording and print the chosen functions. `options` must not be NULL. With `base`, the
 * functions that changed most come first.
 *
 * Returns PFR_OK, or:
 * - PFR_END if no sample matches the options; nothing was printed
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_FORMAT for an XRay trace, which has no addresses and no call sites
 * - PFR_ERR_USAGE for a stream without `spool`, naming->no_symbols, an event without samples, or a list
 *   with a syntax error
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_annotate_print(pfr_reader *reader, const pfr_annotate_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

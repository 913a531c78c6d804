/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOLS_H
#define PERFRAY_SYMBOLS_H
/*
 * pfr_symbols_print - print how many addresses of a recording have a symbol and a source line, by object, and how to
 * get the missing ones.
 *
 * Use it when a report shows addresses instead of function names. For each object it prints the number of sampled
 * addresses and of call chain entries, how many of them have a symbol and how many a source line, the reason why the
 * others do not, and a command that helps. For each event it prints how many stacks were unwound completely, and where
 * the others ended.
 *
 * The recording is read more than once. A stream must be opened with pfr_open_options.spool.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns.
 *
 * Threads: uses up to options->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile.
 *
 * Example:
 *
 *     pfr_symbols_options options = {.size = sizeof options, .format = PFR_SYMBOLS_JSON};
 *     pfr_status status = pfr_symbols_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_symbols_format {
    /* A table. Below each object are its problems, and shell commands in lines that begin with "$ ". */
    PFR_SYMBOLS_TEXT,
    /* One document; docs/json/symbols.schema.json describes it. */
    PFR_SYMBOLS_JSON
} pfr_symbols_format;

/* All pointers must remain valid while pfr_symbols_print() runs. */
typedef struct pfr_symbols_options {
    /* sizeof(pfr_symbols_options) */
    size_t size;
    pfr_symbols_format format;
    /* Use at most this many entries of a call chain, from the innermost. 0: 127. */
    uint32_t max_stack;
    /* Threads. 0: one per CPU, at most 4, and at most one per 0.15 s of expected work. */
    uint32_t jobs;
    /* Options for finding symbols. `no_symbols` is not allowed. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Name of the recording in the printed commands. NULL: perf.data. */
    const char *file;
    /* Called for each unreadable range and for each limit that excluded data. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* Called with one sentence for each fact that users should know but that is not damage. May be NULL. The sentence
       is valid during the call. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `hole` and `note`. */
    void *context;
} pfr_symbols_options;

/*
 * pfr_symbols_print - read the recording, resolve all addresses, and print the result. `options` must not be NULL.
 *
 * Printed commands are safe to paste into a shell: names from the recording are quoted, and a command that would need a
 * name that cannot be quoted safely is not printed.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_FORMAT for an XRay trace, whose functions are named by instrumentation maps
 * - PFR_ERR_USAGE for a stream without `spool`, or naming->no_symbols
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_symbols_print(pfr_reader *reader, const pfr_symbols_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

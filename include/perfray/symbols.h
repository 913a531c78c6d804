/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SYMBOLS_H
#define PERFRAY_SYMBOLS_H
/*
 * How good the names of a recording are: of each object how many sampled addresses and addresses of call chains lie in
 * it, how many of these have a name and how many a line of a source file, why the others have none, and a command that
 * mends it; of each event how the stacks ended that were unwound.
 *
 * Example:
 *
 *     pfr_symbols_options options = {.size = sizeof options, .format = PFR_SYMBOLS_JSON};
 *     pfr_status st = pfr_symbols_print(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_symbols_format {
    PFR_SYMBOLS_TEXT, /* a table; under each object what is wrong, and lines that begin with "$ ": commands for sh */
    PFR_SYMBOLS_JSON  /* docs/json/symbols.schema.json */
} pfr_symbols_format;

typedef struct pfr_symbols_options {
    size_t size; /* sizeof(pfr_symbols_options) */
    pfr_symbols_format format;
    uint32_t max_stack; /* entries of a call chain, from the innermost; 0: 127 */
    uint32_t jobs;      /* threads that count; 0: one for each cpu, at most 4, and for each 0.2 s of counting */
    const pfr_symbol_options *naming; /* where names come from; no_symbols is refused; NULL: the defaults */
    const char *file;                 /* what the recording is called in commands; NULL: perf.data */
    void (*hole)(void *context, const pfr_error *hole); /* told of what could not be used; may be NULL */
    void (*note)(void *context, const char *sentence);  /* told what else should be known; may be NULL */
    void *context;
} pfr_symbols_options;

/*
 * Reads the recording, names all that can be named, and prints. Commands that are printed hold no name that a shell or
 * a terminal could take for anything but a name; where that cannot be, there is none. What is counted is held in the
 * reader's memory and given back before the call returns.
 * PFR_OK; PFR_HOLE: printed, but parts of the input could not be used; PFR_ERR_FORMAT: a trace, whose functions are
 * named by instrumentation maps; PFR_ERR_USAGE: a stream without spool, or naming->no_symbols; else as pfr_next.
 */
pfr_status pfr_symbols_print(pfr_reader *reader, const pfr_symbols_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

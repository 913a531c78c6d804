/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_EDITING_H
#define PERFRAY_TOOL_EDITING_H
/* Shared by the commands that write a recording: options, execution, and the final report. */
#include <perfray/edit.h>
#include "command.h"

struct editing {
    const char *output, *compress; /* compress: the level, or "" for the default level; NULL: not given */
    unsigned to, order, trace;     /* trace: a pfr_edit_trace */
    uint32_t attr_size;
    bool plain;
    bool text, marks; /* options of convert, only with --to=quipper */
    const char *without;
    unsigned sorted;
};

typedef pfr_status edit_fn(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts,
                           pfr_error *err);

/* EDITING_FORMS: the choices of --to */
#define EDITING_ROWS                                                                                                   \
    HEADING("Output"), {"output",   'o',                                                                               \
                        OPT_STRING, offsetof(struct editing, output),                                                  \
                        "FILE",     "write FILE, completely or not at all; - writes a stream to stdout"},              \
        {"to", 0, OPT_CHOICE, offsetof(struct editing, to), EDITING_FORMS, "container of the output (default same)"},  \
        {"byte-order",      0,                                                                                         \
         OPT_CHOICE,        offsetof(struct editing, order),                                                           \
         "same|little|big", "byte order of the output (default same)"},                                                \
        {"compress",   'z',                                                                                            \
         OPT_ATTACHED, offsetof(struct editing, compress),                                                             \
         "[LEVEL]",    "compress records with zstd: -z[LEVEL], 1 to 22 (default 1)"},                                  \
        {"plain", 0, OPT_FLAG, offsetof(struct editing, plain), NULL, "do not compress"},                              \
        {"attr-size", 0,                                                                                               \
         OPT_NUMBER,  offsetof(struct editing, attr_size),                                                             \
         "BYTES",     "attribute size for old perf: 112 (4.5), 120 (5.5), 128 (5.13), 136 (6.3)"},                     \
    {                                                                                                                  \
        "trace", 0, OPT_CHOICE, offsetof(struct editing, trace), "same|fdr1|fdr2|fdr3|fdr4|fdr5|basic",                \
            "version of an XRay trace (default same)"                                                                  \
    }

/* `task->options` must be a struct editing. `program` is for example "perfray convert". */
enum exit_status run_edit(const struct task *task, const char *program, edit_fn *edit);

/* For struct command.explains_files: prints why two files were found; returns false if it printed nothing. */
bool explain_edited_files(const char *program, const struct editing *options, const struct operands *files);

#endif

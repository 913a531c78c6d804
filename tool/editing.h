/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_EDITING_H
#define PERFRAY_TOOL_EDITING_H
/* What the verbs that write a recording share: options, the run, and what is said at the end. */
#include <perfray/edit.h>
#include "command.h"

struct editing {
    const char *output, *compress; /* compress: NULL, "" or the level */
    unsigned to, order, trace;     /* trace: as pfr_edit_trace */
    uint32_t attr_size;
    bool plain;
    bool text, marks; /* of convert alone, for quipper */
    const char *without;
    unsigned sorted;
};

typedef pfr_status edit_fn(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts,
                           pfr_error *err);

/* EDITING_FORMS: the forms that --to takes */
#define EDITING_ROWS                                                                                                   \
    {"output",   'o',                                                                                                  \
     OPT_STRING, offsetof(struct editing, output),                                                                     \
     "FILE",     "write this recording, whole or not at all; -: a stream to standard output"},                         \
        {"to", 0, OPT_CHOICE, offsetof(struct editing, to), EDITING_FORMS, "write this form"},                         \
        {"byte-order", 0, OPT_CHOICE, offsetof(struct editing, order), "same|little|big", "write in this byte order"}, \
        {"compress",   'z',                                                                                            \
         OPT_ATTACHED, offsetof(struct editing, compress),                                                             \
         "[LEVEL]",    "compress records with zstd, in frames that damage costs one by one"},                          \
        {"plain", 0, OPT_FLAG, offsetof(struct editing, plain), NULL, "do not compress"},                              \
        {"attr-size", 0,                                                                                               \
         OPT_NUMBER,  offsetof(struct editing, attr_size),                                                             \
         "BYTES",     "write events as a perf knows them whose attrs have this size: 64 to 144"},                      \
    {                                                                                                                  \
        "trace", 0, OPT_CHOICE, offsetof(struct editing, trace), "same|fdr1|fdr2|fdr3|fdr4|fdr5|basic",                \
            "write a trace of XRay in this version"                                                                    \
    }

/* `task->options` is a struct editing. program: "perfray convert". */
enum exit_status run_edit(const struct task *task, const char *program, edit_fn *edit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_DIFF_SIDES_H
#define PERFRAY_TOOL_DIFF_SIDES_H
/* The recordings of a comparison: which files they are, and their models. */
#include <perfray/diff.h>
#include "command.h"

struct diff_side_run {
    char *file;
    char *label; /* the upload's name in a comparison: EXPRESSION #NUMBER in the order of store list; NULL: `file` */
    uint64_t part, parts; /* for a store, part number `part` of `parts` of the uploads that the expression `file`
                             selects; 0: for a file */
    pfr_reader *reader;
    pfr_model *model;
};

/* All zero before diff_sides_open; [0] the base, [1] the new side. */
struct diff_sides {
    struct diff_side_run *opened[2];
    pfr_diff_run *runs[2];
    uint32_t count[2];
    const char *empty_folder[2]; /* the last directory of the side that has no files; NULL: no such directory */
};

/*
 * Opens the recordings that --base and --new name (comma-separated files, directories of recordings), otherwise those
 * that the operands name: BASE NEW, or NEW with base perf.data.old. Each upload that an expression selects from a store
 * is a recording; more than 64 uploads are distributed round-robin to 64 recordings. Errors are printed. Always call
 * diff_sides_close afterwards.
 */
enum exit_status diff_sides_open(const struct task *task, const struct word_list *base, const struct word_list *changed,
                                 const pfr_model_options *how, struct diff_sides *sides);
/* Reports unusable parts of the recordings. Call it last. */
enum exit_status diff_sides_damage(const struct task *task, const struct diff_sides *sides);
void diff_sides_close(struct diff_sides *sides);

#endif

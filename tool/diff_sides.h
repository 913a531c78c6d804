/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_DIFF_SIDES_H
#define PERFRAY_TOOL_DIFF_SIDES_H
/* The recordings of a comparison: which files they are, and their models. */
#include <perfray/diff.h>
#include "command.h"

struct diff_side_run {
    char *file;
    uint64_t part, parts; /* of a store: which of the uploads that `file`, an expression, selects; 0: of a file */
    pfr_reader *reader;
    pfr_model *model;
};

/* All zero before diff_sides_open; [0] the base, [1] the new side. */
struct diff_sides {
    struct diff_side_run *opened[2];
    pfr_diff_run *runs[2];
    uint32_t count[2];
};

/*
 * Opens what --base and --new name (files with commas between, directories of recordings), else the operands: BASE NEW,
 * or NEW and perf.data.old. Each upload of a store that an expression selects is a recording; of more than 64 every
 * 64th is one recording with the first. Errors are reported. diff_sides_close must follow in every case.
 */
enum exit_status diff_sides_open(const struct task *task, const struct word_list *base, const struct word_list *changed,
                                 const pfr_model_options *how, struct diff_sides *sides);
/* Reports unusable parts of them. Call it last. */
enum exit_status diff_sides_damage(const struct task *task, const struct diff_sides *sides);
void diff_sides_close(struct diff_sides *sides);

#endif

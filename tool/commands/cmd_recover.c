/* SPDX-License-Identifier: Apache-2.0 */
/* perfray recover: write a valid recording of all intact parts. */
#include "editing.h"

#define EDITING_FORMS "same|file|pipe|directory"

static const struct opt recover_opts[] = {EDITING_ROWS, {0}};

static bool recover_explains(const void *options, const struct operands *files) {
    return explain_edited_files("perfray recover", options, files);
}

static enum exit_status recover_run(const struct task *task) {
    return run_edit(task, "perfray recover", pfr_recover);
}

extern const struct command cmd_recover;
const struct command cmd_recover = {
    .name = "recover",
    .about = "write a clean copy of the intact part of a recording",
    .arguments = "[FILE]",
    .examples = "perfray recover -o clean.data perf.data\n"
                "perfray recover -o - perf.data | perfray report -\n",
    .note = "Exit status 4: parts of the recording were lost; the output has all the others.",
    .takes_one_file = true,
    .explains_files = recover_explains,
    .opts = recover_opts,
    .size = sizeof(struct editing),
    .prints_at_end = true,
    .run = recover_run,
};

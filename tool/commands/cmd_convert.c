/* SPDX-License-Identifier: Apache-2.0 */
/* perfray convert: write a recording in another form. */
#include "editing.h"

#define EDITING_FORMS "same|file|pipe|directory|quipper"

static const struct opt convert_opts[] = {
    EDITING_ROWS,
    HEADING("Quipper"),
    {"text", 0, OPT_FLAG, offsetof(struct editing, text), NULL, "with --to=quipper: write the text format of protobuf"},
    {"order", 0, OPT_CHOICE, offsetof(struct editing, sorted), "time|file",
     "with --to=quipper: order of records (default time, as quipper)"},
    {"without", 0, OPT_STRING, offsetof(struct editing, without), "FIELDS",
     "with --to=quipper: omit these fields, for readers of an older schema"},
    {"mark-unmapped", 0, OPT_FLAG, offsetof(struct editing, marks), NULL,
     "with --to=quipper: set bit 63 of sample addresses without a mapping"},
    {"output-format", 'f', OPT_REFUSED, 0,
     "is not available: --to and --trace choose the format; perfray script --format=llvm-yaml prints YAML", NULL},
    {"symbolize", 'y', OPT_REFUSED, 0,
     "is not available: traces hold no function names; perfray script --format=llvm-yaml -m FILE prints them", NULL},
    {"instr-map", 'm', OPT_REFUSED, 0,
     "is not available: traces hold no function names; perfray script --format=llvm-yaml -m FILE prints them", NULL},
    {0},
};

static bool convert_explains(const void *options, const struct operands *files) {
    return explain_edited_files("perfray convert", options, files);
}

static enum exit_status convert_run(const struct task *task) {
    return run_edit(task, "perfray convert", pfr_convert);
}

extern const struct command cmd_convert;
const struct command cmd_convert = {
    .name = "convert",
    .about = "convert a recording: container, byte order, compression, version",
    .arguments = "[FILE]",
    .examples = "perfray convert --compress -o small.data perf.data\n"
                "perfray convert --to=quipper -o profile.pb perf.data\n"
                "perfray convert --attr-size=112 -o old.data perf.data # for perf 5.2\n",
    .takes_one_file = true,
    .explains_files = convert_explains,
    .opts = convert_opts,
    .size = sizeof(struct editing),
    .prints_at_end = true,
    .run = convert_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* perfray export: a recording in the format of another tool. */
#include <perfray/export.h>
#include <unistd.h>
#include "selecting.h"

struct export_options {
    unsigned format; /* as pfr_export_format_at counts */
    const char *output;
    bool mark_kernel;
    struct selecting selecting;
};

static const struct export_options export_defaults = {.selecting = {.naming.cache = true}};

static const struct opt export_opts[] = {
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, offsetof(struct export_options, format), "folded|pprof",
     "output format: folded stacks or a pprof profile (default folded)"},
    {"output", 'o', OPT_STRING, offsetof(struct export_options, output), "FILE",
     "write FILE, completely or not at all; - for stdout (default)"},
    {"mark-kernel", 0, OPT_FLAG, offsetof(struct export_options, mark_kernel), NULL,
     "folded: append _[k] to functions of the kernel"},
    SELECTING_ROWS(struct export_options),
    {0},
};

#define PROGRAM "perfray export"

static bool goes_to_terminal(const struct export_options *options) {
    const pfr_export_format *const format = pfr_export_format_at(options->format);
    if (!format->binary || options->output || !isatty(STDOUT_FILENO))
        return false;
    complain_as(PROGRAM, "%s is nothing for a terminal: name a file with -o; see " PROGRAM " -h", format->name);
    return true;
}

static enum exit_status write_export(const struct task *task, pfr_reader *reader) {
    const struct export_options *const options = task->options;
    const pfr_symbol_options naming = symbol_options_of(&options->selecting.naming);
    const pfr_selection of = selection_of(&options->selecting, task, &naming);
    const pfr_export_options how = {.size = sizeof how,
                                    .format = pfr_export_format_at(options->format)->name,
                                    .of = &of,
                                    .path = output_path(options->output),
                                    .mark_kernel = options->mark_kernel};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_export(reader, &how, task->out, &err);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

static enum exit_status export_run(const struct task *task) {
    const struct export_options *const options = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    if (goes_to_terminal(options) || !is_other_file(task, PROGRAM, output_path(options->output)) ||
        !selecting_fits(&options->selecting, PROGRAM))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = write_export(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_export;
const struct command cmd_export = {
    .name = "export",
    .about = "write a recording in the format of another tool",
    .arguments = "[FILE]",
    .takes_one_file = true,
    .opts = export_opts,
    .defaults = &export_defaults,
    .size = sizeof(struct export_options),
    .prints_at_end = true,
    .passes = 2,
    .run = export_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* perfray report: where the time goes. */
#include <perfray/report.h>
#include <string.h>
#include "command.h"

struct report_options {
    unsigned format; /* as pfr_report_format */
    const char *sort, *symfs, *kallsyms;
    bool symbols;
    double percent_limit;
};

static const struct report_options report_defaults = {.symbols = true};

static const struct opt report_opts[] = {
    {"sort", 's', OPT_STRING, offsetof(struct report_options, sort), "KEYS",
     "count by these, with commas between: comm, dso, sym, pid, tid"},
    {"format", 0, OPT_CHOICE, offsetof(struct report_options, format), "text|perf|csv|json",
     "a table, as perf report --stdio, or for programs"},
    {"percent-limit", 0, OPT_PERCENT, offsetof(struct report_options, percent_limit), "PERCENT",
     "leave out rows below this share"},
    {"symfs", 0, OPT_STRING, offsetof(struct report_options, symfs), "DIR", "look for objects below this folder"},
    {"kallsyms", 0, OPT_STRING, offsetof(struct report_options, kallsyms), "FILE", "names of the kernel's functions"},
    {"no-symbols", 0, OPT_CLEAR, offsetof(struct report_options, symbols), NULL,
     "open no object: addresses stay numbers"},
    {"stdio", 0, OPT_HABIT, 0, NULL, "nothing: there is no other way to print"},
    {0},
};

/* Holes in the recording are told by complain_of_damage; this is what only the report meets. */
static void limit_told(void *file, const pfr_error *hole) {
    if (strcmp(hole->where, "depth") == 0)
        complain_of(file, hole, NULL);
}

static enum exit_status print_report(const struct task *task, pfr_reader *reader) {
    const struct report_options *const options = task->options;
    const pfr_report_options how = {.size = sizeof how,
                                    .format = (pfr_report_format)options->format,
                                    .sort = options->sort,
                                    .symfs = options->symfs,
                                    .kallsyms = options->kallsyms,
                                    .no_symbols = !options->symbols,
                                    .percent_limit = options->percent_limit,
                                    .hole = limit_told,
                                    .context = (void *)(uintptr_t)task->file};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (options->format == PFR_REPORT_TEXT)
        print_title(task);
    const pfr_status status = pfr_report_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray report", "%s; see perfray report -h", err.text);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

static enum exit_status report_run(const struct task *task) {
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_report(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_report;
const struct command cmd_report = {
    .name = "report",
    .about = "show where the time goes: samples by command, object and function",
    .arguments = "[FILE...]",
    .opts = report_opts,
    .size = sizeof(struct report_options),
    .defaults = &report_defaults,
    .prints_at_end = true,
    .run = report_run,
};

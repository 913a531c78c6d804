/* SPDX-License-Identifier: Apache-2.0 */
/* perfray symbols: how many addresses of a recording have names, and how to get more names. */
#include <perfray/symbols.h>
#include <string.h>
#include "caching.h"
#include "command.h"
#include "name_files.h"

struct symbols_options {
    unsigned format; /* a pfr_symbols_format */
    uint32_t max_stack, jobs;
    struct naming naming;
};

#define OF(member) offsetof(struct symbols_options, member)

static const struct symbols_options symbols_defaults = {.naming.cache = true};

static const struct opt symbols_opts[] = {
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "text|json", "output format (default text)"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 127)"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "number of threads (default: by input size, at most 4)"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols and lines from this vmlinux object"},
    CACHE_ROW(struct symbols_options),
    {0},
};

static enum exit_status print_symbols(const struct task *task, pfr_reader *reader) {
    const struct symbols_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->naming);
    const pfr_symbols_options how = {.size = sizeof how,
                                     .format = (pfr_symbols_format)o->format,
                                     .max_stack = o->max_stack,
                                     .jobs = o->jobs,
                                     .naming = &naming,
                                     .file = task->file,
                                     .hole = report_limit,
                                     .context = (void *)(uintptr_t)task->file};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (how.format == PFR_SYMBOLS_TEXT)
        print_title(task);
    const pfr_status status = pfr_symbols_print(reader, &how, task->out, &err);
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

static enum exit_status symbols_run(const struct task *task) {
    const struct symbols_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    if (!name_files_fit("perfray symbols", &o->naming))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_symbols(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_symbols;
const struct command cmd_symbols = {
    .name = "symbols",
    .about = "show which addresses have no names, why, and how to fix it",
    .arguments = "[FILE...]",
    .examples = "perfray symbols perf.data\n"
                "perfray symbols --format=json perf.data >symbols.json\n",
    .opts = symbols_opts,
    .size = sizeof(struct symbols_options),
    .defaults = &symbols_defaults,
    .prints_at_end = true,
    .run = symbols_run,
};

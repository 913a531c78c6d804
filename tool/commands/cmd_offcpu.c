/* SPDX-License-Identifier: Apache-2.0 */
/* perfray offcpu: why threads did not run, and who ended their waits. */
#include <perfray/offcpu.h>
#include <stdlib.h>
#include <string.h>
#include "caching.h"
#include "command.h"
#include "name_files.h"

struct offcpu_options {
    unsigned format, by; /* a pfr_offcpu_format, a pfr_offcpu_by */
    const char *threads, *pids, *function, *min, *time, *percent_limit;
    struct naming naming;
    uint32_t top, jobs, max_stack;
    bool wakers, locks, no_lines;
};

static const struct offcpu_options offcpu_defaults = {.naming.cache = true};

#define OF(member) offsetof(struct offcpu_options, member)

static const struct opt offcpu_opts[] = {
    HEADING("Contents"),
    {"wakers", 0, OPT_FLAG, OF(wakers), NULL, "follow wakers back from the end of a thread (critical path)"},
    {"locks", 0, OPT_FLAG, OF(locks), NULL, "one row per lock: waits, percentiles, holders and waiting threads"},
    {"by", 0, OPT_CHOICE, OF(by), "thread|process|cgroup", "one entry per thread (default), process or cgroup"},
    {"top", 'p', OPT_NUMBER, OF(top), "COUNT", "print only the first COUNT threads, locks or steps"},
    {"percent-limit", 0, OPT_STRING, OF(percent_limit), "PERCENT",
     "omit waits below PERCENT of their thread's wall time (default 1)"},
    HEADING("Selection"),
    {"thread", 't', OPT_STRING, OF(threads), "LIST", "only these threads: names (globs) and tids, comma-separated"},
    {"pid", 0, OPT_STRING, OF(pids), "PIDS", "only threads of these processes: 7,9-12"},
    {"function", 0, OPT_STRING, OF(function), "GLOB", "only waits with a function that matches GLOB in their stack"},
    {"min", 0, OPT_STRING, OF(min), "TIME", "only intervals of at least TIME: 10us, 1.5ms"},
    {"time", 0, OPT_STRING, OF(time), "A-B", "only between second A and second B, or in ranges: 10%-20% 1s-2s"},
    HEADING("Symbols"),
    {"no-lines", 0, OPT_FLAG, OF(no_lines), NULL, "do not look up source lines"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 127)"},
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols and lines from this vmlinux object"},
    CACHE_ROW(struct offcpu_options),
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json", "output format (default text); see FORMATS"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "number of threads (default: by input size, at most 4)"},
    {0},
};

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

static pfr_offcpu_options options_of(const struct task *task, const pfr_symbol_options *naming, double percent) {
    const struct offcpu_options *const o = task->options;
    return (pfr_offcpu_options){.size = sizeof(pfr_offcpu_options),
                                .format = (pfr_offcpu_format)o->format,
                                .view = o->wakers  ? PFR_OFFCPU_WAKERS
                                        : o->locks ? PFR_OFFCPU_LOCKS
                                                   : PFR_OFFCPU_WAITS,
                                .by = (pfr_offcpu_by)o->by,
                                .threads = o->threads,
                                .pids = o->pids,
                                .function = o->function,
                                .min_duration = o->min,
                                .time = o->time,
                                .percent_limit = percent,
                                .top = o->top,
                                .max_stack = o->max_stack,
                                .no_lines = o->no_lines,
                                .naming = naming,
                                .jobs = o->jobs,
                                .hole = report_limit,
                                .note = report_note,
                                .context = (void *)(uintptr_t)task->file};
}

static enum exit_status print_offcpu(const struct task *task, pfr_reader *reader, double percent) {
    const struct offcpu_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->naming);
    const pfr_offcpu_options how = options_of(task, &naming, percent);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (how.format == PFR_OFFCPU_TEXT)
        print_title(task);
    const pfr_status status = pfr_offcpu_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray offcpu", "%s", err.text);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

static bool read_percent(const char *text, double *percent) {
    char *end;
    *percent = text ? strtod(text, &end) : 1.0;
    return !text || (end != text && *end == '\0' && *percent >= 0 && *percent <= 100);
}

static enum exit_status offcpu_run(const struct task *task) {
    const struct offcpu_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    double percent;
    if (o->wakers && o->locks) {
        complain_as("perfray offcpu", "--wakers and --locks exclude each other");
        return ENDS_USAGE;
    }
    if (!read_percent(o->percent_limit, &percent)) {
        complain_as("perfray offcpu", "--percent-limit takes a number from 0 to 100, not '%s'", o->percent_limit);
        return ENDS_USAGE;
    }
    if (!name_files_fit("perfray offcpu", &o->naming))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_offcpu(task, reader, percent);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_offcpu;
const struct command cmd_offcpu = {
    .name = "offcpu",
    .about = "show why threads wait, and who ends the waits",
    .arguments = "[FILE... | -- COMMAND]",
    .examples = "perfray offcpu -- ./program\n"
                "perfray offcpu --thread reader --min 1ms waits.data\n"
                "perfray offcpu --locks waits.data\n",
    .record_option = "--off-cpu",
    .opts = offcpu_opts,
    .defaults = &offcpu_defaults,
    .size = sizeof(struct offcpu_options),
    .prints_at_end = true,
    .run = offcpu_run,
};

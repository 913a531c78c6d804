/* SPDX-License-Identifier: Apache-2.0 */
/* perfray annotate: instructions and source lines of functions, with their costs. */
#include <perfray/annotate.h>
#include <string.h>
#include <unistd.h>
#include "caching.h"
#include "command.h"
#include "fetching.h"
#include "name_files.h"

struct annotate_options {
    unsigned format; /* a pfr_annotate_format */
    uint32_t top, strip, jobs;
    bool by_line, no_source, with_source, plain, counts;
    const char *event, *style, *source_dir, *diff, *base_source_dir, *symbol, *cpus, *pids, *tids, *comms, *time,
        *debuginfod;
    struct naming naming;
};

#define OF(member) offsetof(struct annotate_options, member)

static const struct annotate_options annotate_defaults = {.naming.cache = true};

static const struct opt annotate_opts[] = {
    HEADING("Choosing functions"),
    {"symbol", 's', OPT_STRING, OF(symbol), "WHAT", "the same as the first operand"},
    {"top", 0, OPT_COUNT, OF(top), "COUNT", "show the COUNT hottest functions (default 1)"},
    {"event", 'e', OPT_STRING, OF(event), "EVENT", "only samples of this event (default: one column for each)"},
    {"cpu", 'C', OPT_STRING, OF(cpus), "CPUS", "only samples on these CPUs: 0,2-3"},
    {"pid", 0, OPT_STRING, OF(pids), "PIDS", "only samples of these processes: 7,9-12"},
    {"tid", 0, OPT_STRING, OF(tids), "TIDS", "only samples of these threads: 7,9-12"},
    {"comms", 'c', OPT_STRING, OF(comms), "NAMES", "only samples of threads with these names, comma-separated"},
    {"comm", 0, OPT_STRING, OF(comms), "NAMES", NULL},
    {"time", 0, OPT_STRING, OF(time), "A-B", "only samples between A and B: seconds, 10%-20%, 10%/2, or dates"},
    HEADING("Output"),
    {"by-line", 0, OPT_FLAG, OF(by_line), NULL, "print lines of the source function instead of instructions"},
    {"diff", 0, OPT_STRING, OF(diff), "BASE", "compare with recording BASE, line by line"},
    {"source", 'S', OPT_FLAG, OF(with_source), NULL, "print source lines between instructions (default)"},
    {"no-source", 0, OPT_FLAG, OF(no_source), NULL, "do not print source lines between instructions"},
    {"stdio", 0, OPT_FLAG, OF(plain), NULL, "print rows as perf annotate does, without arrows for jumps"},
    {"show-nr-samples", 'n', OPT_FLAG, OF(counts), NULL, "print numbers of samples instead of percentages"},
    {"disassembler-style", 'M', OPT_STRING, OF(style), "STYLE", "syntax of x86 instructions: att (default) or intel"},
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json", "output format (default text)"},
    HEADING("Source files"),
    {"source-dir", 0, OPT_STRING, OF(source_dir), "DIR", "also look for source files below DIR"},
    {"prefix", 0, OPT_STRING, OF(source_dir), "DIR", "the same as --source-dir"},
    {"base-source-dir", 0, OPT_STRING, OF(base_source_dir), "DIR",
     "with --diff: look for source files of BASE below DIR"},
    {"prefix-strip", 0, OPT_COUNT, OF(strip), "COUNT", "drop COUNT leading directories of recorded source paths"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"debuginfod", 0, OPT_ATTACHED, OF(debuginfod), "URLS",
     "fetch symbols and sources from these servers (default $DEBUGINFOD_URLS)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols and code from this vmlinux object"},
    CACHE_ROW(struct annotate_options),
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "number of threads (default: by input size, at most 4)"},
    {0},
};

static void say_note(void *context, const char *sentence) {
    complain("%s: %s", (const char *)context, sentence);
}

static enum exit_status print_functions(const struct task *task, pfr_reader *reader, pfr_reader *base,
                                        const char *what) {
    const struct annotate_options *const o = task->options;
    pfr_symbol_options naming = symbol_options_of(&o->naming);
    struct fetch fetch = {.urls = o->debuginfod, .naming = &naming, .who = "perfray annotate"};
    const pfr_annotate_options how = {.size = sizeof how,
                                      .format = (pfr_annotate_format)o->format,
                                      .what = what,
                                      .top = o->top,
                                      .by_line = o->by_line,
                                      .no_source = o->no_source && !o->with_source,
                                      .plain = o->plain,
                                      .intel = o->style && strcmp(o->style, "intel") == 0,
                                      .counts = o->counts,
                                      .source_dir = o->source_dir,
                                      .strip = o->strip,
                                      .event = o->event,
                                      .cpus = o->cpus,
                                      .pids = o->pids,
                                      .tids = o->tids,
                                      .comms = o->comms,
                                      .time = o->time,
                                      .jobs = o->jobs,
                                      .naming = &naming,
                                      .hole = report_limit,
                                      .note = say_note,
                                      .context = (void *)(uintptr_t)task->file,
                                      .base = base,
                                      .base_source_dir = o->base_source_dir,
                                      .base_context = (void *)(uintptr_t)o->diff,
                                      .find_source = fetch.urls ? fetch_source : NULL,
                                      .source_context = &fetch};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_status status = fetch_symbols(&fetch, reader, &err);
    if (status >= 0 && base)
        status = fetch_symbols(&fetch, base, &err);
    naming.fetched = fetch.urls ? fetch.folder : NULL;
    if (status >= 0)
        status = pfr_annotate_print(reader, &how, task->out, &err);
    note_missing_sources(&fetch);
    if (status == PFR_END) {
        complain("%s: no samples in %s", task->file, what ? what : "any function with a name");
        return graver_of(ENDS_USAGE, complain_of_damage(task, reader));
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

/* The first operand that names a file is the recording; the other operand names the function. */
struct annotate_operands {
    const char *file, *what, *extra;
};

static struct annotate_operands sort_operands(const struct task *task) {
    struct annotate_operands o = {.what = ((const struct annotate_options *)task->options)->symbol};
    for (size_t i = 0; i < task->nr_files; i++) {
        const char *word = task->files[i];
        if (!o.file && (strcmp(word, "-") == 0 || access(word, F_OK) == 0))
            o.file = word;
        else if (!o.what)
            o.what = word;
        else
            o.extra = word;
    }
    return o;
}

static enum exit_status annotate_run(const struct task *task) {
    const struct annotate_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    const struct annotate_operands operands = sort_operands(task);
    struct task own = *task, second = *task;
    enum exit_status status;
    if (operands.extra) {
        complain("%s is not a file, and a function was already given: %s", operands.extra, operands.what);
        return ENDS_USAGE;
    }
    if (o->style && strcmp(o->style, "att") != 0 && strcmp(o->style, "intel") != 0) {
        complain("-M takes att or intel, not %s", o->style);
        return ENDS_USAGE;
    }
    if (o->strip && !o->source_dir) {
        complain("--prefix-strip requires --source-dir DIR");
        return ENDS_USAGE;
    }
    if (o->base_source_dir && !o->diff) {
        complain("--base-source-dir requires --diff BASE");
        return ENDS_USAGE;
    }
    if (!name_files_fit("perfray annotate", &o->naming))
        return ENDS_USAGE;
    own.file = operands.file ? operands.file : default_recording(false);
    second.file = o->diff;
    pfr_reader *const reader = open_recording(&own, &how, &status);
    pfr_reader *const base = reader && o->diff ? open_recording(&second, &how, &status) : NULL;
    if (reader && (base || !o->diff))
        status = print_functions(&own, reader, base, operands.what);
    if (base)
        status = graver_of(status, complain_of_damage(&second, base));
    pfr_close(base);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_annotate;
const struct command cmd_annotate = {
    .name = "annotate",
    .about = "show the cost of each instruction or source line of a function",
    .arguments = "[FUNCTION|FILE:LINE|0xADDRESS] [FILE]",
    .examples = "perfray annotate --symfs demo-root demo.data       # the hottest function\n"
                "perfray annotate --symfs demo-root --by-line sieve demo.data\n"
                "perfray annotate --symfs demo-root --top 10 --format=csv demo.data\n",
    .opts = annotate_opts,
    .size = sizeof(struct annotate_options),
    .defaults = &annotate_defaults,
    .prints_at_end = true,
    .takes_all_files = true,
    .run = annotate_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* perfray latency: durations of the calls in a trace, by function. */
#include <perfray/latency.h>
#include <string.h>
#include "caching.h"
#include "command.h"
#include "fetching.h"
#include "name_files.h"

struct latency_options {
    unsigned format, by, order; /* a pfr_latency_format, a pfr_latency_by, a pfr_latency_order */
    const char *sort, *tids, *min_duration, *time;
    struct naming naming;
    uint32_t top, jobs;
    bool histogram, deduce, ticks, lines;
    struct word_list functions, objects;
};

static const struct latency_options latency_defaults = {.naming.cache = true};

#define OF(member) offsetof(struct latency_options, member)

static const struct opt latency_opts[] = {
    HEADING("Rows and order"),
    {"by", 0, OPT_CHOICE, OF(by), "function|caller|thread",
     "one row per function, caller and function, or thread and function"},
    {"sort", 's', OPT_STRING, OF(sort), "KEYS", "sort by KEYS, comma-separated (default sum); see SORT KEYS"},
    {"sortorder", 'r', OPT_CHOICE, OF(order), "auto|asc|dsc",
     "sort order (default auto: names and ids ascending, numbers descending)"},
    {"top", 'p', OPT_NUMBER, OF(top), "COUNT", "print only the first COUNT rows"},
    {"histogram", 0, OPT_FLAG, OF(histogram), NULL, "print a latency histogram for each row"},
    HEADING("Selection"),
    {"function", 0, OPT_WORDS, OF(functions), "GLOB", "only functions that match GLOB, or a regular expression /RE/"},
    {"object", 0, OPT_WORDS, OF(objects), "GLOB", "only objects whose path or file name matches GLOB or /RE/"},
    {"tid", 0, OPT_STRING, OF(tids), "TIDS", "only calls of these threads: 7,9-12"},
    {"min-duration", 0, OPT_STRING, OF(min_duration), "TIME", "only calls of at least TIME: 10us, 1.5ms"},
    {"time", 0, OPT_STRING, OF(time), "A-B", "only calls that ended between second A and second B"},
    HEADING("Pairing and times"),
    {"deduce-sibling-calls", 'd', OPT_FLAG, OF(deduce), NULL, "end unfinished calls at the exit of the enclosing call"},
    {"ticks", 0, OPT_FLAG, OF(ticks), NULL, "print ticks of the trace's clock instead of times"},
    HEADING("Symbols"),
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE", "object or map that names the functions of the trace"},
    {"instr_map", 0, OPT_WORDS, OF(naming.instr_maps), "FILE", NULL},
    {"lines", 0, OPT_FLAG, OF(lines), NULL, "show file and line of the start of each function"},
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    CACHE_ROW(struct latency_options),
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    {"demangle", 0, OPT_ATTACHED, OF(naming.demangle), "HOW",
     "demangling: simple (no parameters or template arguments), full, or no"},
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json", "output format (default text); see FORMATS"},
    {"output-format", 'f', OPT_CHOICE, OF(format), "text|csv|json", NULL},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "number of threads (default: one per CPU)"},
    HEADING("Compatibility"),
    {"keep-going", 'k', OPT_HABIT, 0, NULL, "ignored, for compatibility with llvm-xray (errors never end the report)"},
    {"output", 'o', OPT_REFUSED, 0, "is not available: the table goes to standard output; redirect it with > FILE",
     NULL},
    {"recursive-calls-only", 0, OPT_REFUSED, 0,
     "is not available: with --by caller, calls of a function by itself have their own row", NULL},
    {0},
};

static const char *const *words_of(const struct word_list *list) {
    return list->count ? list->at : NULL;
}

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

static pfr_latency_options options_of(const struct task *task, const pfr_symbol_options *naming) {
    const struct latency_options *const o = task->options;
    return (pfr_latency_options){.size = sizeof(pfr_latency_options),
                                 .format = (pfr_latency_format)o->format,
                                 .by = (pfr_latency_by)o->by,
                                 .sort = o->sort,
                                 .order = (pfr_latency_order)o->order,
                                 .top = o->top,
                                 .histogram = o->histogram,
                                 .deduce = o->deduce,
                                 .ticks = o->ticks,
                                 .functions = words_of(&o->functions),
                                 .objects = words_of(&o->objects),
                                 .tids = o->tids,
                                 .min_duration = o->min_duration,
                                 .time = o->time,
                                 .naming = naming,
                                 .lines = o->lines,
                                 .jobs = o->jobs,
                                 .hole = report_limit,
                                 .note = report_note,
                                 .context = (void *)(uintptr_t)task->file};
}

static enum exit_status print_latency(const struct task *task, pfr_reader *reader) {
    const struct latency_options *const o = task->options;
    pfr_symbol_options naming = symbol_options_of(&o->naming);
    naming.templates = templates_of(o->naming.demangle, o->functions.count || o->format);
    const pfr_latency_options how = options_of(task, &naming);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (how.format == PFR_LATENCY_TEXT)
        print_title(task);
    const pfr_status status = pfr_latency_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray latency", strstr(err.text, "; ") ? "%s" : "%s; see perfray latency -h", err.text);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

static enum exit_status latency_run(const struct task *task) {
    const struct latency_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    if (!name_files_fit("perfray latency", &o->naming) || !knows_demangle(o->naming.demangle, "perfray latency"))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_latency(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_latency;
const struct command cmd_latency = {
    .name = "latency",
    .about = "show the latency of traced calls: counts, percentiles, sums",
    .arguments = "[FILE...]",
    .examples = "perfray latency -s p99 -p 10 perfray.xray\n"
                "perfray latency --by=caller --format=csv perfray.xray >latency.csv\n",
    .opts = latency_opts,
    .defaults = &latency_defaults,
    .size = sizeof(struct latency_options),
    .prints_at_end = true,
    .reads_store = true,
    .reads_trace_first = true,
    .run = latency_run,
};

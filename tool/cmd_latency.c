/* SPDX-License-Identifier: Apache-2.0 */
/* perfray latency: what the calls of a trace cost. */
#include <perfray/latency.h>
#include "caching.h"
#include "command.h"
#include "name_files.h"

struct latency_options {
    unsigned format, by, order; /* as pfr_latency_format, _by, _order */
    const char *sort, *tids, *min_duration, *time;
    struct naming naming;
    uint32_t top, jobs;
    bool histogram, deduce, ticks, lines;
    struct word_list functions, objects;
};

static const struct latency_options latency_defaults = {.naming.cache = true};

#define OF(member) offsetof(struct latency_options, member)

static const struct opt latency_opts[] = {
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json", "a table for people, CSV, or JSON"},
    {"output-format", 'f', OPT_CHOICE, OF(format), "text|csv|json", NULL},
    {"by", 0, OPT_CHOICE, OF(by), "function|caller|thread",
     "a row for each function, caller and function, or thread and function"},
    {"sort", 's', OPT_STRING, OF(sort), "KEYS",
     "order rows by sum, id, func, count, min, p50, p90, p95, p99, p999, max, self or open; sum without it"},
    {"sortorder", 'r', OPT_CHOICE, OF(order), "auto|asc|dsc",
     "upwards or downwards; without it names and ids go up, numbers down"},
    {"top", 'p', OPT_NUMBER, OF(top), "COUNT", "show the first rows alone"},
    {"histogram", 0, OPT_FLAG, OF(histogram), NULL, "show how the latencies of each row are spread"},
    {"function", 0, OPT_WORDS, OF(functions), "GLOB",
     "show rows of functions like this, * and ? mean any; /RE/: a regular expression"},
    {"object", 0, OPT_WORDS, OF(objects), "GLOB", "show rows of objects like this, by path or last part of it"},
    {"tid", 0, OPT_STRING, OF(tids), "TIDS", "count calls of these threads: 7,9-12"},
    {"min-duration", 0, OPT_STRING, OF(min_duration), "TIME", "count calls that took as long: 10us, 1.5ms"},
    {"time", 0, OPT_STRING, OF(time), "A-B", "count calls that were left from second A to second B"},
    {"deduce-sibling-calls", 'd', OPT_FLAG, OF(deduce), NULL,
     "calls that were never left end with the call around them"},
    {"keep-going", 'k', OPT_HABIT, 0, NULL, "nothing: what does not fit is always counted, and passed over"},
    {"ticks", 0, OPT_FLAG, OF(ticks), NULL, "print ticks of the trace's clock, not times"},
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE",
     "name functions by this object or map; several: the program first"},
    {"instr_map", 0, OPT_WORDS, OF(naming.instr_maps), "FILE", NULL},
    {"output", 'o', OPT_REFUSED, 0, "is not here: the table goes to standard output; > FILE behind it writes a file",
     NULL},
    {"recursive-calls-only", 0, OPT_REFUSED, 0,
     "is not here: --by caller has a row of its own for calls of a function by itself", NULL},
    {"lines", 0, OPT_FLAG, OF(lines), NULL, "show file and line of each function, where it begins"},
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look for objects below this folder"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "look for what was taken out of objects here, not in /usr/lib/debug"},
    CACHE_ROW(struct latency_options),
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print names of functions as the objects have them"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "threads; without it one for each cpu"},
    {0},
};

static const char *const *words_of(const struct word_list *list) {
    return list->count ? list->at : NULL;
}

static void note_told(void *file, const char *sentence) {
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
                                 .hole = limit_told,
                                 .note = note_told,
                                 .context = (void *)(uintptr_t)task->file};
}

static enum exit_status print_latency(const struct task *task, pfr_reader *reader) {
    const pfr_symbol_options naming = symbol_options_of(&((const struct latency_options *)task->options)->naming);
    const pfr_latency_options how = options_of(task, &naming);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (how.format == PFR_LATENCY_TEXT)
        print_title(task);
    const pfr_status status = pfr_latency_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray latency", "%s; see perfray latency -h", err.text);
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
    if (!name_files_fit("perfray latency", &o->naming))
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
    .about = "show what traced calls cost: counts, percentiles, sums",
    .arguments = "[FILE...]",
    .opts = latency_opts,
    .defaults = &latency_defaults,
    .size = sizeof(struct latency_options),
    .prints_at_end = true,
    .run = latency_run,
};

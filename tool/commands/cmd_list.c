/* SPDX-License-Identifier: Apache-2.0 */
/* perfray list: events that can be recorded on this machine, and why others cannot. */
#include <fnmatch.h>
#include <perfray/sampling.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "help.h"

struct list_options {
    unsigned kind, format;
    bool possible;
};

#define OF(member) offsetof(struct list_options, member)

enum { FORMAT_TEXT, FORMAT_JSONL };

static const struct opt list_opts[] = {
    HEADING("Selection and format"),
    {"kind", 0, OPT_CHOICE, OF(kind), "all|hardware|software|cache|raw|breakpoint|pmu|tracepoint",
     "list only events of this kind (default all)"},
    {"possible", 0, OPT_FLAG, OF(possible), NULL, "list only events that can be recorded here"},
    {"format", 0, OPT_CHOICE, OF(format), "text|jsonl", "output format, one line per event (default text)"},
    {0},
};

struct listing {
    const struct list_options *options;
    const struct task *task;
    const char *kind;    /* kind of the previous row */
    size_t named, shown; /* numbers of events: selected by the operands; selected and shown */
};

static bool is_asked(const struct task *task, const pfr_recordable *what) {
    for (size_t i = 0; task->words[i]; i++)
        if (fnmatch(task->words[i], what->name, 0) == 0 ||
            (what->alias && fnmatch(task->words[i], what->alias, 0) == 0))
            return true;
    return !task->words[0];
}

static void print_row(struct listing *l, const pfr_recordable *what) {
    if (l->kind != what->kind)
        print_line(l->task->out, "%s%s:\n", l->kind ? "\n" : "", what->kind);
    l->kind = what->kind;
    char names[128];
    if (what->alias)
        snprintf(names, sizeof names, "%s or %s", what->name, what->alias);
    const char *shown = what->alias ? names : what->name;
    if (what->reason)
        print_line(l->task->out, "  %-38s no: %s\n", shown, what->reason);
    else
        print_line(l->task->out, "  %s\n", shown);
}

/* Names of events contain no characters that JSON escapes; bytes that are not plain text are shown as \xNN. */
static void print_json(struct listing *l, const pfr_recordable *what) {
    print_line(l->task->out, "{\"kind\":\"%s\",\"event\":\"%s\"", what->kind, what->name);
    if (what->alias)
        print_line(l->task->out, ",\"alias\":\"%s\"", what->alias);
    print_line(l->task->out, ",\"possible\":%s", what->reason ? "false" : "true");
    if (what->reason)
        print_line(l->task->out, ",\"reason\":\"%s\"", what->reason);
    print_line(l->task->out, "}\n");
}

static bool print_recordable(void *context, const pfr_recordable *what) {
    struct listing *const l = context;
    const bool named = is_asked(l->task, what);
    l->named += named;
    if (!named || (l->options->possible && what->reason))
        return true;
    l->shown++;
    (l->options->format == FORMAT_JSONL ? print_json : print_row)(l, what);
    return !pfr_output_failed(l->task->out);
}

static enum exit_status complain_of_none(const struct listing *l) {
    if (l->named)
        complain("none of these events can be recorded here; omit --possible to see the reasons");
    else if (l->task->words[0])
        complain("no event matches '%s'%s; perfray list shows all events, and GLOB may contain * and ?",
                 l->task->words[0], l->task->words[1] ? " or the other patterns" : "");
    return l->named || l->task->words[0] ? ENDS_GATE : ENDS_FINE;
}

static enum exit_status list_run(const struct task *task) {
    static const char *const kinds[] = {NULL,  "hardware",   "software", "cache",
                                        "raw", "breakpoint", "pmu",      "tracepoint"};
    struct listing l = {.options = task->options, .task = task};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_recordable_list(kinds[l.options->kind], print_recordable, &l, &err);
    if (status < 0)
        return complain_of(NULL, &err, NULL);
    return l.shown ? ENDS_FINE : complain_of_none(&l);
}

extern const struct command cmd_list;
const struct command cmd_list = {
    .name = "list",
    .about = "list the events that can be recorded here, and why others cannot",
    .arguments = "[GLOB...]",
    .examples = "perfray list\n"
                "perfray list --kind software '*fault*'\n"
                "perfray list --possible --format=jsonl >events.jsonl\n",
    .opts = list_opts,
    .size = sizeof(struct list_options),
    .reads_no_file = true,
    .opens_counters = true,
    .run = list_run,
};

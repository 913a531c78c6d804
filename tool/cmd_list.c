/* SPDX-License-Identifier: Apache-2.0 */
/* perfray list: what can be recorded here, and why the rest cannot. */
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
    {"kind", 0, OPT_CHOICE, OF(kind), "all|hardware|software|cache|raw|breakpoint|pmu|tracepoint",
     "show events of this kind alone"},
    {"format", 0, OPT_CHOICE, OF(format), "text|jsonl", "a line for each event: for people, or JSON"},
    {"possible", 0, OPT_FLAG, OF(possible), NULL, "show those alone that can be recorded here"},
    {0},
};

struct listing {
    const struct list_options *options;
    const struct task *task;
    const char *kind; /* of the row before */
};

static bool is_asked(const struct task *task, const char *name) {
    for (size_t i = 0; task->words[i]; i++)
        if (fnmatch(task->words[i], name, 0) == 0)
            return true;
    return !task->words[0];
}

static void print_row(struct listing *l, const pfr_recordable *what) {
    if (l->kind != what->kind)
        print_line(l->task->out, "%s%s:\n", l->kind ? "\n" : "", what->kind);
    l->kind = what->kind;
    if (what->reason)
        print_line(l->task->out, "  %-38s no: %s\n", what->name, what->reason);
    else
        print_line(l->task->out, "  %s\n", what->name);
}

/* Names of events hold nothing that JSON would escape; what is no plain text is shown as \xNN. */
static void print_json(struct listing *l, const pfr_recordable *what) {
    if (what->reason)
        print_line(l->task->out, "{\"kind\":\"%s\",\"event\":\"%s\",\"possible\":false,\"reason\":\"%s\"}\n",
                   what->kind, what->name, what->reason);
    else
        print_line(l->task->out, "{\"kind\":\"%s\",\"event\":\"%s\",\"possible\":true}\n", what->kind, what->name);
}

static bool row_told(void *context, const pfr_recordable *what) {
    struct listing *const l = context;
    if (!is_asked(l->task, what->name) || (l->options->possible && what->reason))
        return true;
    (l->options->format == FORMAT_JSONL ? print_json : print_row)(l, what);
    return !pfr_output_failed(l->task->out);
}

static enum exit_status list_run(const struct task *task) {
    static const char *const kinds[] = {NULL,  "hardware",   "software", "cache",
                                        "raw", "breakpoint", "pmu",      "tracepoint"};
    struct listing l = {.options = task->options, .task = task};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_recordable_list(kinds[l.options->kind], row_told, &l, &err);
    return status < 0 ? complain_of(NULL, &err, NULL) : ENDS_FINE;
}

extern const struct command cmd_list;
const struct command cmd_list = {
    .name = "list",
    .about = "show what can be recorded here, and why the rest cannot",
    .arguments = "[GLOB...]",
    .opts = list_opts,
    .size = sizeof(struct list_options),
    .reads_no_file = true,
    .opens_counters = true,
    .run = list_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* perfray store: many recordings in a database. */
#include <perfray/report.h>
#include <perfray/store.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "caching.h"
#include "command.h"
#include "name_files.h"
#include "store_place.h"
#include "store_spool.h"

#define PROGRAM "perfray store"

struct store_options {
    const char *store, *where, *sort, *slot, *at, *spool;
    struct word_list labels;
    unsigned format; /* a pfr_store_format */
    struct naming naming;
    uint32_t max_stack, jobs;
    bool relabel, pretend, children;
    pfr_limits limits;
};

static const struct store_options store_defaults = {.naming.cache = true, .limits.size = sizeof(pfr_limits)};

#define OF(member) offsetof(struct store_options, member)

static const struct opt store_rows[] = {
    HEADING("Store"),
    {"store", 0, OPT_STRING, OF(store), "URL",
     "SQLite file, or clickhouse://HOST:PORT/NAME (default: see ENVIRONMENT)"},
    HEADING("Pushing"),
    {"label", 'l', OPT_WORDS, OF(labels), "NAME=VALUE,...",
     "set service, version or host (default host: recorded hostname)"},
    {"slot", 0, OPT_STRING, OF(slot), "LENGTH", "sum samples in slots of LENGTH (default 10s)"},
    {"at", 0, OPT_STRING, OF(at), "TIME", "end of the recording, in seconds since 1970 (also @SECONDS)"},
    {"relabel", 0, OPT_FLAG, OF(relabel), NULL, "replace the labels of a recording that is already in the store"},
    {"spool", 0, OPT_STRING, OF(spool), "DIR", "keep recordings in DIR while the store is down, and push them later"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 1024; XRay traces 256)"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT", "number of threads (default: by input size; at most 4)"},
    HEADING("Selection and output"),
    {"where", 0, OPT_STRING, OF(where), "EXPR", "only uploads and samples that match; see EXPRESSIONS"},
    {"sort", 's', OPT_STRING, OF(sort), "KEYS", "top: group by KEYS, comma-separated (default comm,dso,sym)"},
    {"children", 0, OPT_FLAG, OF(children), NULL, "top: include callees in each function's cost"},
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json", "output format (default text)"},
    {"pretend", 0, OPT_FLAG, OF(pretend), NULL, "drop, retain: only print how many recordings would be removed"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols from this vmlinux object"},
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct store_options),
    {"no-symbols", 0, OPT_FLAG, OF(naming.no_symbols), NULL, "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    HEADING("Common options"),
    {"limit", 0, OPT_LIMIT, OF(limits), "NAME=VALUE", "set a resource limit; see LIMITS in perfray(1)"},
    {0},
};

/* --- Common. */

static enum exit_status complain_of_store(const struct store_options *o, const pfr_error *err) {
    pfr_error own = *err;
    own.offset = PFR_NO_OFFSET;
    return complain_of(o->store, &own, NULL);
}

static pfr_store *open_store(const struct store_options *o, bool create, bool read_only, enum exit_status *status) {
    const pfr_store_options how = {.size = sizeof how, .limits = &o->limits, .create = create, .read_only = read_only};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_store *const store = pfr_store_open(o->store, &how, &err);
    *status = store ? ENDS_FINE : complain_of_store(o, &err);
    return store;
}

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

static enum exit_status refuse_words(const char *usage) {
    complain_as(PROGRAM, "usage: perfray store %s; see perfray store -h", usage);
    return ENDS_USAGE;
}

/* A duration such as "30d". */
static bool read_length(const char *text, uint64_t *ns) {
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ms", 1000000},      {"s", 1000000000},     {"m", 60000000000},
                 {"h", 3600000000000}, {"d", 86400000000000}, {"w", 7 * 86400000000000}};
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].unit) == 0 && number <= UINT64_MAX / units[i].ns) {
            *ns = number * units[i].ns;
            return true;
        }
    complain_as(PROGRAM, "'%s': write a number with ms, s, m, h, d or w", text);
    return false;
}

/* --- init */

static enum exit_status run_init(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    if (*words)
        return refuse_words("init");
    store_place_prepare(o->store);
    pfr_store_close(open_store(o, true, false, &status));
    return status;
}

/* --- push */

struct pushing {
    const struct task *task;
    const struct store_options *options;
    pfr_store *store;
    bool away; /* the store cannot be reached now: recordings are spooled */
    enum exit_status status;
};

enum { LABELS = 3 };
static const char *const label_names[LABELS] = {"service", "version", "host"};

/* The label with which a text such as "host=..." begins; LABELS if it begins with no label. */
static size_t label_at(const char *text) {
    for (size_t i = 0; i < LABELS; i++)
        if (strncmp(text, label_names[i], strlen(label_names[i])) == 0 && text[strlen(label_names[i])] == '=')
            return i;
    return LABELS;
}

/* Values may contain commas: a value ends at a comma before the name of another label. */
static size_t label_length(const char *value) {
    size_t length = strcspn(value, ",");
    while (value[length] && label_at(value + length + 1) == LABELS)
        length += 1 + strcspn(value + length + 1, ",");
    return length;
}

/* Parses labels: "service=search,version=1.4". */
static bool set_labels(struct spooled *s, const char *word) {
    char *const to[LABELS] = {s->service, s->version, s->host};
    for (const char *at = word;; at++) {
        const size_t label = label_at(at);
        if (label == LABELS) {
            complain_as(PROGRAM, "--label '%s': write service=NAME, version=NAME or host=NAME", at);
            return false;
        }
        at += strlen(label_names[label]) + 1;
        const size_t length = label_length(at);
        if (length >= SPOOL_LABEL) {
            complain_as(PROGRAM, "--label %s: at most 255 bytes", label_names[label]);
            return false;
        }
        memcpy(to[label], at, length);
        to[label][length] = '\0';
        s->has_host = s->has_host || label == 2;
        at += length;
        if (!*at)
            return true;
    }
}

/* Converts "@1700000000" or "1700000000.5" to ns. */
static bool read_at(const char *text, uint64_t *ns) {
    char *end;
    const double seconds = strtod(*text == '@' ? text + 1 : text, &end);
    if (*end || end == text || !(seconds > 0 && seconds < 18000000000.0)) {
        complain_as(PROGRAM, "--at '%s': write seconds since 1970", text);
        return false;
    }
    *ns = (uint64_t)seconds * 1000000000u + (uint64_t)((seconds - (double)(uint64_t)seconds) * 1e9);
    return true;
}

static bool read_labels(const struct store_options *o, struct spooled *s) {
    *s = (struct spooled){.slot = 0};
    for (unsigned i = 0; i < o->labels.count; i++)
        if (!set_labels(s, o->labels.at[i]))
            return false;
    if (o->slot && !read_length(o->slot, &s->slot))
        return false;
    s->ended_is_given = o->at;
    return !o->at || read_at(o->at, &s->ended);
}

static void say_pushed(const char *file, const pfr_push_result *r, const struct spooled *s) {
    if (r->what == PFR_PUSHED_DIFFERS)
        complain("%s: it is in the store with service='%s' version='%s' host='%s', not '%s', '%s'%s%s; --relabel "
                 "replaces these labels",
                 file, r->service, r->version, r->host, s->service, s->version, s->has_host ? ", " : "",
                 s->has_host ? s->host : "");
    else
        complain("%s: %s, upload %s: %" PRIu64 " samples, %" PRIu64 " rows", file,
                 r->what == PFR_PUSHED_NEW       ? "pushed"
                 : r->what == PFR_PUSHED_ALREADY ? "it was in the store"
                                                 : "it was in the store; its labels were replaced",
                 r->upload, r->samples, r->rows);
}

/* Pushes a recording. p->away is set if the store could not be reached, so that the push can be tried again. */
static enum exit_status push_reader(struct pushing *p, const char *file, pfr_reader *reader, const struct spooled *s) {
    const struct store_options *const o = p->options;
    pfr_symbol_options naming = symbol_options_of(&o->naming);
    const pfr_push_options how = {.size = sizeof how,
                                  .service = s->service,
                                  .version = s->version,
                                  .host = s->has_host ? s->host : NULL,
                                  .slot = s->slot,
                                  .ended = s->ended,
                                  .ended_is_given = s->ended_is_given,
                                  .relabel = o->relabel,
                                  .max_stack = o->max_stack,
                                  .jobs = o->jobs,
                                  .naming = &naming,
                                  .hole = report_limit,
                                  .note = report_note,
                                  .context = (void *)(uintptr_t)file};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_push_result result;
    const pfr_status st = pfr_store_push(p->store, reader, &how, &result, &err);
    if (st < 0) {
        p->away = err.where && strcmp(err.where, "store.away") == 0;
        return p->away && o->spool ? ENDS_IO : complain_of(file, &err, NULL);
    }
    say_pushed(file, &result, s);
    struct task one = *p->task;
    one.file = file;
    const enum exit_status damage = result.what == PFR_PUSHED_NEW ? complain_of_damage(&one, reader) : ENDS_FINE;
    return graver_of(graver_of(exit_status_of(st), damage), result.what == PFR_PUSHED_DIFFERS ? ENDS_GATE : ENDS_FINE);
}

static enum exit_status push_file(struct pushing *p, const char *file, const struct spooled *labels) {
    const pfr_open_options how = {.size = sizeof how, .spool = true, .limits = &p->options->limits};
    const struct task one = {.file = file, .shared = p->task->shared, .options = p->task->options};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    struct spooled own = *labels;
    raise_file_limit();
    pfr_reader *const reader = pfr_open(file, &how, &err);
    if (!reader)
        return complain_of_opening(&one, &err);
    if (!own.ended)
        own.ended = (uint64_t)capture_time(file) * 1000000000u;
    const enum exit_status status = push_reader(p, file, reader, &own);
    pfr_close(reader);
    return status;
}

static bool push_spooled(void *context, const char *file, const struct spooled *labels) {
    struct pushing *p = context;
    const enum exit_status status = push_file(p, file, labels);
    p->status = graver_of(p->status, p->away ? ENDS_FINE : status);
    return !p->away;
}

static enum exit_status keep(struct pushing *p, const char *file, const struct spooled *labels) {
    struct spooled own = *labels;
    if (!own.ended)
        own.ended = (uint64_t)capture_time(file) * 1000000000u;
    if (!spool_keep(p->options->spool, file, &own))
        return ENDS_IO;
    complain("%s: the store cannot be reached; kept in %s", file, p->options->spool);
    return ENDS_FINE;
}

static void push_each(struct pushing *p, char **files, const struct spooled *labels) {
    for (; *files; files++) {
        enum exit_status status = p->away ? ENDS_IO : push_file(p, *files, labels);
        if (p->away && p->options->spool)
            status = keep(p, *files, labels);
        p->status = graver_of(p->status, status);
    }
}

static enum exit_status run_push(const struct task *task, char **files) {
    const struct store_options *const o = task->options;
    const struct shared_options shared = {.limits = o->limits};
    struct task own = *task;
    struct pushing p = {.task = &own, .options = o};
    struct spooled labels;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_store_options how = {.size = sizeof how, .limits = &o->limits};
    own.shared = &shared;
    if (!*files && !o->spool)
        return refuse_words("push FILE...");
    if (!read_labels(o, &labels) || !name_files_fit(PROGRAM, &o->naming))
        return ENDS_USAGE;
    p.store = pfr_store_open(o->store, &how, &err);
    p.away = !p.store && err.where && strcmp(err.where, "store.away") == 0;
    if (!p.store && !(p.away && o->spool))
        return complain_of_store(o, &err);
    if (p.store && o->spool && !spool_drain(o->spool, push_spooled, &p))
        p.status = ENDS_IO;
    push_each(&p, files, &labels);
    pfr_store_close(p.store);
    return p.status;
}

/* --- Queries. */

static enum exit_status ends(const struct store_options *o, pfr_status st, const pfr_error *err, pfr_output *out) {
    return st >= 0 || pfr_output_failed(out) ? exit_status_of(st < 0 ? PFR_OK : st) : complain_of_store(o, err);
}

static enum exit_status run_list(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (*words)
        return refuse_words("list");
    pfr_store *const store = open_store(o, false, true, &status);
    if (store)
        status =
            ends(o, pfr_store_list(store, o->where, (pfr_store_format)o->format, task->out, &err), &err, task->out);
    pfr_store_close(store);
    return status;
}

/* `reader` may be NULL; err then has the reason. */
static pfr_status print_top(pfr_reader *reader, const pfr_report_options *how, pfr_output *out, pfr_error *err) {
    const pfr_status st = reader ? pfr_report_print(reader, how, out, err) : err->status;
    pfr_close(reader);
    return st;
}

static enum exit_status run_top(const struct task *task, char **words) {
    static const pfr_report_format formats[] = {PFR_REPORT_TEXT, PFR_REPORT_CSV, PFR_REPORT_JSON};
    const struct store_options *const o = task->options;
    const pfr_report_options how = {.size = sizeof how,
                                    .format = formats[o->format],
                                    .sort = o->sort,
                                    .children = o->children ? PFR_REPORT_YES : PFR_REPORT_NO,
                                    .call_graph = o->format ? NULL : "none",
                                    .hole = report_limit,
                                    .note = report_note,
                                    .context = (void *)(uintptr_t)o->store};
    enum exit_status status;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (*words)
        return refuse_words("top");
    pfr_store *const store = open_store(o, false, true, &status);
    if (!store)
        return status;
    pfr_reader *const sums = o->children ? pfr_store_select_stacks(store, o->where, &err)
                                         : pfr_store_select_functions(store, o->where, &err);
    pfr_status st = print_top(sums, &how, task->out, &err);
    if (st == PFR_ERR_USAGE && err.where && strcmp(err.where, "store.sums") == 0)
        st = print_top(pfr_store_select(store, o->where, &err), &how, task->out, &err);
    pfr_store_close(store);
    return ends(o, st, &err, task->out);
}

static enum exit_status run_sql(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (!*words || words[1])
        return refuse_words("sql QUERY");
    pfr_store *const store = open_store(o, false, true, &status);
    if (store)
        status = ends(o, pfr_store_sql(store, *words, (pfr_store_format)o->format, task->out, &err), &err, task->out);
    pfr_store_close(store);
    return status;
}

static enum exit_status run_check(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (*words)
        return refuse_words("check");
    pfr_store *const store = open_store(o, false, true, &status);
    if (!store)
        return status;
    const pfr_status st = pfr_store_check(store, task->out, &err);
    pfr_store_close(store);
    return st == PFR_HOLE ? ENDS_GATE : ends(o, st, &err, task->out);
}

/* --- Removing. */

static enum exit_status say_removed(const struct store_options *o, pfr_status st, uint64_t count,
                                    const pfr_error *err) {
    if (st < 0)
        return complain_of_store(o, err);
    complain("%s: %" PRIu64 " recording%s %s", o->store, count, count == 1 ? "" : "s",
             o->pretend ? "would be removed" : "removed");
    return ENDS_FINE;
}

static enum exit_status run_drop(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    uint64_t count = 0;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (*words || !o->where)
        return refuse_words("drop --where EXPR");
    pfr_store *const store = open_store(o, false, o->pretend, &status);
    if (store) {
        const pfr_status st = pfr_store_drop(store, o->where, o->pretend, &count, &err);
        status = say_removed(o, st, count, &err);
    }
    pfr_store_close(store);
    return status;
}

static enum exit_status run_retain(const struct task *task, char **words) {
    const struct store_options *const o = task->options;
    enum exit_status status;
    uint64_t count = 0, age;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (!*words || words[1])
        return refuse_words("retain LENGTH");
    if (!read_length(*words, &age))
        return ENDS_USAGE;
    pfr_store *const store = open_store(o, false, o->pretend, &status);
    if (store) {
        const pfr_status st = pfr_store_retain(store, age, o->pretend, &count, &err);
        status = say_removed(o, st, count, &err);
    }
    pfr_store_close(store);
    return status;
}

/* --- The command. */

static const struct {
    const char *name;
    enum exit_status (*run)(const struct task *task, char **words);
} actions[] = {{"init", run_init}, {"push", run_push}, {"list", run_list},     {"top", run_top},
               {"sql", run_sql},   {"drop", run_drop}, {"retain", run_retain}, {"check", run_check}};

static enum exit_status store_run(const struct task *task) {
    struct store_options o = *(const struct store_options *)task->options;
    struct task own = *task;
    own.options = &o;
    o.store = store_place(o.store);
    for (size_t i = 0; task->words[0] && i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, task->words[0]) != 0)
            continue;
        if (o.store)
            return actions[i].run(&own, task->words + 1);
        complain_as(PROGRAM, "no store is given and there is no home directory: use --store or PERFRAY_STORE");
        return ENDS_USAGE;
    }
    complain_as(PROGRAM, "%s%s%s: write init, push, list, top, sql, drop, retain or check",
                task->words[0] ? "no action '" : "an action is missing", task->words[0] ? task->words[0] : "",
                task->words[0] ? "'" : "");
    return ENDS_USAGE;
}

extern const struct command cmd_store;
const struct command cmd_store = {
    .name = "store",
    .about = "store recordings in SQLite or ClickHouse and query many of them",
    .arguments = "init|push|list|top|sql|drop|retain|check [ARGUMENT...]",
    .examples = "perfray store init\n"
                "perfray store push -l service=search perf.data\n"
                "perfray store top --where 'service=\"search\"' -s comm\n",
    .reads_no_file = true,
    .opts = store_rows,
    .defaults = &store_defaults,
    .size = sizeof(struct store_options),
    .run = store_run,
};

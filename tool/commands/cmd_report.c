/* SPDX-License-Identifier: Apache-2.0 */
/* perfray report: counts samples or calls by command, object and function. */
#include <perfray/dump.h>
#include <perfray/info.h>
#include <perfray/report.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "caching.h"
#include "command.h"
#include "fetching.h"
#include "name_files.h"
#include "nearest.h"

struct report_options {
    unsigned format; /* a pfr_report_format */
    struct naming naming;
    const char *sort, *fields, *debuginfod;
    const char *call_graph, *parent, *separator;
    unsigned percentage; /* 1: relative */
    unsigned color;      /* an enum color */
    const char *cpus, *comms, *objects, *symbols_of, *pids, *tids, *time, *time_quantum, *symbol_filter, *ignored,
        *sockets, *event, *switch_on, *switch_off;
    bool latency, hierarchy, raw_trace, symbols, inlined, inverted, stitched, only_parent, show_samples,
        show_total_period, memory_mode, bars;
    bool children, no_children, group, no_group, branches, no_branches;
    bool quiet, hide_unresolved, full_paths, header, header_only, long_header, dump, stats;
    uint32_t max_stack, jobs;
    double percent_limit;
};

static const struct report_options report_defaults = {.symbols = true, .naming.cache = true};

#define TEXT(name, letter, member, arg, help)                                                                          \
    { name, letter, OPT_STRING, offsetof(struct report_options, member), arg, help }
/* Options of perf that are not supported; `why` names the alternative. */
#define REFUSED(name, letter, why)                                                                                     \
    { name, letter, OPT_REFUSED, 0, why, NULL }
#define FLAG(name, letter, member, help)                                                                               \
    { name, letter, OPT_FLAG, offsetof(struct report_options, member), NULL, help }

static const struct opt report_opts[] = {
    HEADING("Grouping and columns"),
    TEXT("sort", 's', sort, "KEYS", "group by KEYS, comma-separated (default comm,dso,sym); +KEYS adds"),
    TEXT("fields", 'F', fields, "FIELDS", "columns to print, in this order; +FIELDS adds columns"),
    FLAG("show-nr-samples", 'n', show_samples, "add a column with the number of samples"),
    FLAG("show-total-period", 0, show_total_period, "add a column with the total weight"),
    FLAG("children", 0, children, "include callees in each function's cost (default with call chains)"),
    FLAG("no-children", 0, no_children, "count only the function itself"),
    FLAG("group", 0, group, "show all events side by side"),
    FLAG("no-group", 0, no_group, "show events one after the other, even if recorded as a group"),
    FLAG("hierarchy", 0, hierarchy, "print rows as a tree with one level per sort key"),
    TEXT("parent", 'p', parent, "REGEX", "regular expression; sort key 'parent' shows the caller that matches"),
    FLAG("exclude-other", 'x', only_parent, "omit samples without a function that matches --parent"),
    TEXT("time-quantum", 0, time_quantum, "LENGTH",
         "interval of the sort key time, in ns, us, ms or s (default 100ms)"),
    FLAG("raw-trace", 0, raw_trace, "print tracepoints as raw fields, not with their print format"),
    FLAG("branch-stack", 'b', branches, "count branches instead of samples (default if branches were recorded)"),
    FLAG("no-branch-stack", 0, no_branches, "count samples, even if branches were recorded"),
    FLAG("mem-mode", 0, memory_mode, "count memory accesses, weighted by their cost"),
    FLAG("latency", 0, latency, "add column Latency: share of wall-clock time (see LATENCY)"),
    HEADING("Call trees"),
    {"call-graph", 'g', OPT_LAST, offsetof(struct report_options, call_graph), "HOW",
     "style, order and minimum percent of call trees; see CALL TREES"},
    FLAG("inverted", 'G', inverted, "print call trees from the outermost caller down, whatever -g says"),
    FLAG("tree", 0, bars, "print the whole call tree instead of rows, with a bar per function"),
    {"max-stack", 0, OPT_COUNT, offsetof(struct report_options, max_stack), "COUNT",
     "maximum call-chain depth (default 127; XRay traces 256)"},
    TEXT("ignore-callees", 0, ignored, "REGEX", "where a function matches REGEX, count its callees as part of it"),
    FLAG("stitch-lbr", 0, stitched, "extend LBR stacks with frames from earlier samples"),
    FLAG("inline", 0, inlined, "show inlined functions as frames of their own in call chains"),
    {"no-inline", 0, OPT_CLEAR, offsetof(struct report_options, inlined), NULL, NULL},
    {"percent-limit", 0, OPT_PERCENT, offsetof(struct report_options, percent_limit), "PERCENT",
     "hide rows and tree branches below PERCENT (default 0; branches 0.5)"},
    HEADING("Selection"),
    TEXT("event", 'e', event, "EVENT", "only samples of this event (default: all); offcpu-time: count waits"),
    TEXT("cpu", 'C', cpus, "CPUS", "only samples on these CPUs: 0,2-3"),
    TEXT("socket-filter", 0, sockets, "SOCKETS", "only samples on CPUs of these processor sockets: 0,1"),
    TEXT("time", 0, time, "A-B", "only samples between A and B: seconds, 10%-20%, 10%/2, or dates"),
    TEXT("switch-on", 0, switch_on, "EVENT", "only samples after the first sample of EVENT"),
    TEXT("switch-off", 0, switch_off, "EVENT", "only samples before the first sample of EVENT"),
    TEXT("comms", 'c', comms, "NAMES", "only rows of threads with these names, comma-separated"),
    TEXT("comm", 0, comms, "NAMES", NULL),
    TEXT("pid", 0, pids, "PIDS", "only rows of these processes: 7,9-12"),
    TEXT("tid", 0, tids, "TIDS", "only rows of these threads: 7,9-12"),
    TEXT("dso", 'd', objects, "NAMES", "only rows in these objects: libc.so.6,/usr/bin/sh"),
    TEXT("dsos", 0, objects, "NAMES", NULL),
    TEXT("symbols", 'S', symbols_of, "NAMES", "only rows of these functions, comma-separated"),
    TEXT("symbol-filter", 0, symbol_filter, "TEXT", "only rows of functions whose names contain TEXT"),
    FLAG("hide-unresolved", 'U', hide_unresolved, "omit rows whose function has no name"),
    {"percentage", 0, OPT_CHOICE, offsetof(struct report_options, percentage), "absolute|relative",
     "percentages of all samples, or of the rows shown (default absolute)"},
    HEADING("Symbols"),
    TEXT("symfs", 0, naming.symfs, "DIR", "look up objects below DIR (default /)"),
    TEXT("debug-dir", 0, naming.debug_dir, "DIR", "directory of separate debug files (default /usr/lib/debug)"),
    {"debuginfod", 0, OPT_ATTACHED, offsetof(struct report_options, debuginfod), "URLS",
     "fetch missing symbols from these servers (default $DEBUGINFOD_URLS)"},
    TEXT("kallsyms", 0, naming.kallsyms, "FILE",
         "kernel symbol file (default: running kernel if it is the recorded one)"),
    TEXT("vmlinux", 'k', naming.vmlinux, "FILE", "read kernel symbols from this vmlinux object"),
    {"instr-map", 'm', OPT_WORDS, offsetof(struct report_options, naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct report_options),
    {"no-symbols", 0, OPT_CLEAR, offsetof(struct report_options, symbols), NULL,
     "do not open objects; print addresses instead of names"},
    FLAG("no-demangle", 0, naming.mangled, "print mangled names (same as --demangle=no)"),
    {"demangle", 0, OPT_ATTACHED, offsetof(struct report_options, naming.demangle), "HOW",
     "demangling: simple (no parameters or template arguments), full, or no"},
    FLAG("full-source-path", 0, full_paths, "print whole paths in the sort keys srcline and srcfile"),
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, offsetof(struct report_options, format), "text|perf|csv|json",
     "output format (default text); perf: the layout of perf report --stdio"},
    TEXT("field-separator", 't', separator, "SEPARATOR", "separate columns by SEPARATOR, without padding"),
    {"color", 0, OPT_CHOICE, offsetof(struct report_options, color), "auto|always|never",
     "highlight hot rows (default auto: on a terminal, without NO_COLOR)"},
    {"jobs", 'j', OPT_NUMBER, offsetof(struct report_options, jobs), "COUNT",
     "number of threads (default: by input size; at most 4 with call chains)"},
    FLAG("quiet", 'q', quiet, "print only rows, no lines that begin with #"),
    FLAG("header", 0, header, "print the header of the recording first, as perf does"),
    FLAG("header-only", 0, header_only, "print only the header of the recording"),
    FLAG("show-info", 'I', long_header, "print the whole header, with topology and caches"),
    FLAG("stats", 0, stats, "print only the counts of records and samples"),
    FLAG("dump-raw-trace", 'D', dump, "print each record, as perfray dump --format=perf does"),
    {"stdio-color", 0, OPT_CHOICE, offsetof(struct report_options, color), "auto|always|never", NULL},
    HEADING("Compatibility"),
    {"stdio", 0, OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (output is always stdio)"},
    {"force", 'f', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (file ownership is not checked)"},
    {"verbose", 'v', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (see perfray symbols)"},
    {"column-widths", 'w', OPT_HABIT, 0, "WIDTHS", "ignored, for compatibility with perf (widths follow the text)"},
    {"disassembler-style", 'M', OPT_HABIT, 0, "STYLE",
     "ignored, for compatibility with perf (no instructions are shown)"},
    {"threads", 'T', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (see perfray dump --only read)"},
    {"samples", 0, OPT_HABIT, 0, "COUNT", "ignored, for compatibility with perf (see perfray script)"},
    {"ns", 0, OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (see --time-quantum)"},
    {"percent-type", 0, OPT_HABIT, 0, "TYPE", "ignored, for compatibility with perf (no instructions are shown)"},
    {"skip-empty", 0, OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (empty events have no table)"},
    REFUSED("tui", 0, "is not available: perfray flame draws an interactive SVG"),
    REFUSED("gtk", 0, "is not available: perfray flame draws an interactive SVG"),
    REFUSED("tasks", 0, "is not available: perfray script --show-task-events prints FORK, COMM and EXIT records"),
    REFUSED("mmaps", 0, "is not available: perfray script --show-mmap-events prints the mappings"),
    REFUSED("group-sort-idx", 0,
            "is not available: groups are ordered by their first event; --no-group prints each event"),
    {0},
};

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

static pfr_report_choice choice(bool yes, bool no) {
    return no ? PFR_REPORT_NO : yes ? PFR_REPORT_YES : PFR_REPORT_AUTO;
}

/* Parses "10ms" to nanoseconds. Returns 0 if `text` is NULL, UINT64_MAX if it is not a duration. */
static uint64_t read_quantum(const char *text) {
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    char *end;
    const unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; text && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0 && number && number <= UINT64_MAX / units[i].ns)
            return number * units[i].ns;
    return text ? UINT64_MAX : 0;
}

/* Makes the checks that option rows cannot express. */
static bool check(const struct report_options *o) {
    if (read_quantum(o->time_quantum) != UINT64_MAX)
        return true;
    complain_as("perfray report", "--time-quantum is a number with ns, us, ms or s; see perfray report -h");
    return false;
}

/* Meaning of -g without an argument, as in perf. */
#define LONE_CALL_GRAPH "graph,0.5,caller,function,percent"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static bool wants_color(const struct report_options *o) {
    const char *const none = getenv("NO_COLOR");
    if (o->color != COLOR_AUTO)
        return o->color == COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && !(none && *none);
}

static void fill(const struct report_options *o, pfr_report_options *how) {
    how->format = (pfr_report_format)o->format;
    how->sort = o->sort;
    how->raw_trace = o->raw_trace;
    how->fields = o->fields;
    how->show_samples = o->show_samples;
    how->show_total_period = o->show_total_period;
    how->children = choice(o->children, o->no_children);
    how->call_graph = o->call_graph && !*o->call_graph ? LONE_CALL_GRAPH : o->call_graph;
    how->inverted = o->inverted;
    how->max_stack = o->max_stack;
    how->stitched = o->stitched;
    how->parent = o->parent;
    how->only_parent = o->only_parent;
    how->percent_limit = o->percent_limit;
    how->relative = o->percentage == 1;
    how->group = choice(o->group, o->no_group);
    how->separator = o->separator;
    how->branches = choice(o->branches, o->no_branches);
    how->memory_mode = o->memory_mode;
    how->cpus = o->cpus;
    how->time = o->time;
    how->time_quantum = read_quantum(o->time_quantum);
    how->pids = o->pids;
    how->tids = o->tids;
    how->comms = o->comms;
    how->objects = o->objects;
    how->symbols = o->symbols_of;
    how->symbol_filter = o->symbol_filter;
    how->bars = o->bars;
    how->color = wants_color(o);
    how->inlined = o->inlined;
    how->jobs = o->jobs;
    how->quiet = o->quiet;
    how->hide_unresolved = o->hide_unresolved;
    how->full_paths = o->full_paths;
    how->ignore_callees = o->ignored;
    how->sockets = o->sockets;
    how->switch_on = o->switch_on;
    how->switch_off = o->switch_off;
    how->event = o->event;
    how->latency = o->latency;
    how->hierarchy = o->hierarchy;
}

/* Extends "unknown sort key symm" by the most similar key and a list of all keys. */
static void complain_of_key(const pfr_error *err) {
    static const char unknown[] = "unknown ";
    char list[700] = "";
    size_t used = 0;
    const char *const key = err->text + sizeof unknown + strlen(err->where);
    struct nearest best = {.distance = UINT_MAX};
    const char *name;
    for (uint32_t i = 0; (name = pfr_report_field_name(i)) != NULL; i++) {
        nearest_offer(&best, key, name);
        const int more = snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name);
        used += more > 0 && (size_t)more < sizeof list - used ? (size_t)more : 0;
    }
    list[used] = '\0';
    name = nearest_word(&best, key);
    complain_as("perfray report", "no %s '%s'%s%s%s; %ss: %s", err->where, key, name ? " (did you mean '" : "",
                name ? name : "", name ? "'?)" : "", err->where, list);
}

static void complain_of_usage(const pfr_error *err) {
    if (err->where && strncmp(err->text, "unknown ", 8) == 0 &&
        strncmp(err->text + 8, err->where, strlen(err->where)) == 0)
        complain_of_key(err);
    else
        complain_as("perfray report", "%s; see perfray report -h", err->text);
}

static bool filters_names(const struct report_options *o) {
    return o->symbols_of || o->symbol_filter || o->parent || o->ignored;
}

static enum exit_status print_report(const struct task *task, pfr_reader *reader) {
    const struct report_options *const options = task->options;
    pfr_symbol_options naming = symbol_options_of(&options->naming);
    naming.no_symbols = !options->symbols;
    naming.templates = templates_of(options->naming.demangle, filters_names(options) || options->format);
    pfr_report_options how = {.size = sizeof how,
                              .naming = &naming,
                              .hole = report_limit,
                              .note = report_note,
                              .hints = isatty(STDOUT_FILENO),
                              .context = (void *)(uintptr_t)task->file};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    fill(options, &how);
    if (options->format == PFR_REPORT_TEXT)
        print_title(task);
    struct fetch fetch = {.urls = options->debuginfod, .naming = &naming, .who = "perfray report"};
    pfr_status status = fetch_symbols(&fetch, reader, &err);
    naming.fetched = fetch.urls ? fetch.folder : NULL;
    if (status >= 0)
        status = pfr_report_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_of_usage(&err);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

static pfr_status print_info(const struct task *task, pfr_reader *reader, pfr_info_part part, pfr_error *err) {
    const struct report_options *const o = task->options;
    const pfr_info_options how = {.size = sizeof how,
                                  .part = part,
                                  .format = part == PFR_INFO_STATS ? PFR_INFO_TEXT : PFR_INFO_PERF,
                                  .captured = capture_time(task->file),
                                  .brief = !o->long_header};
    return pfr_info_print(reader, &how, task->out, err);
}

static pfr_status print_records(const struct task *task, pfr_reader *reader, pfr_error *err) {
    const pfr_dump_options how = {.size = sizeof how, .format = PFR_DUMP_PERF, .name = task->file};
    return pfr_dump(reader, &how, task->out, err);
}

/* Prints output that replaces the report or, with --header, precedes it. Sets *ends if no report follows. */
static enum exit_status print_other_things(const struct task *task, pfr_reader *reader, bool *ends) {
    const struct report_options *const o = task->options;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_status status = PFR_OK;
    *ends = o->header_only || o->stats || o->dump;
    if (o->header || o->header_only)
        status = print_info(task, reader, PFR_INFO_OVERVIEW, &err);
    else if (o->stats)
        status = print_info(task, reader, PFR_INFO_STATS, &err);
    else if (o->dump)
        status = print_records(task, reader, &err);
    if (status >= 0 && o->header && !*ends)
        status = pfr_rewind(reader, &err);
    *ends = *ends || status < 0;
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return *ends ? complain_of_damage(task, reader) : ENDS_FINE;
}

static enum exit_status report_run(const struct task *task) {
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status = ENDS_USAGE;
    pfr_reader *const reader =
        check(task->options) &&
                name_files_fit("perfray report", &((const struct report_options *)task->options)->naming) &&
                knows_demangle(((const struct report_options *)task->options)->naming.demangle, "perfray report")
            ? open_recording(task, &how, &status)
            : NULL;
    bool ends = false;
    if (reader)
        status = print_other_things(task, reader, &ends);
    if (reader && !ends)
        status = print_report(task, reader);
    pfr_close(reader);
    return status;
}

/* `-g FILE`: as in perf, a word that is not a call-graph mode and names an existing file is the recording. */
static bool takes_word(const struct opt *row, const char *word) {
    return row->letter != 'g' || pfr_report_is_call_graph(word) || access(word, F_OK) != 0;
}

extern const struct command cmd_report;
const struct command cmd_report = {
    .name = "report",
    .about = "show where the time goes: samples by command, object and function",
    .arguments = "[FILE...]",
    .examples = "perfray report --no-children -g none perf.data\n"
                "perfray report --hierarchy -g none perf.data\n"
                "perfray report --tree perf.data         # all calls as one tree\n",
    .opts = report_opts,
    .size = sizeof(struct report_options),
    .defaults = &report_defaults,
    .prints_at_end = true,
    .passes = 2,
    .takes = takes_word,
    .reads_store = true,
    .run = report_run,
};

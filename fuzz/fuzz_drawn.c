/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random option sets: see fuzz_drawn.h. Digits of the number, in changing bases, choose one value of each list; 0
 * omits the option.
 */
#include "fuzz_drawn.h"

#include <stdio.h>
#include <string.h>

#define NOWHERE "/nonexistent"
#define COUNT(list) ((unsigned)(sizeof(list) / sizeof *(list)))

uint64_t drawn_distribution(uint64_t number) {
    number = (number + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 29) * 0x94d049bb133111ebu;
    return number ^ number >> 32;
}

static unsigned draw(struct drawn *d, unsigned among) {
    const unsigned drawn = (unsigned)(d->number % among);
    d->number /= among;
    return drawn;
}

static void say(struct drawn *d, const char *option, const char *value) {
    const size_t length = strlen(d->words);
    snprintf(d->words + length, sizeof d->words - length, value ? " %s=%s" : " %s%s", option, value ? value : "");
}

/* Chooses one value of a list; its NULL omits the option. */
static const char *draw_text(struct drawn *d, const char *option, const char *const *list, unsigned count) {
    const char *text = list[draw(d, count)];
    if (text)
        say(d, option, text);
    return text;
}

static uint32_t draw_count(struct drawn *d, const char *option, const char *const *list, unsigned count) {
    const char *text = draw_text(d, option, list, count);
    uint32_t number = 0;
    if (text)
        sscanf(text, "%u", &number);
    return number;
}

/* Chooses flags. Each is set in only a few of many sets, because flags may exclude each other. */
struct flag {
    size_t at;
    const char *option;
};

static void draw_flags(struct drawn *d, void *options, const struct flag *flags, unsigned count, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        const unsigned number = draw(d, 2 * count);
        const struct flag *flag = number < count ? NULL : &flags[number - count];
        bool *on = flag ? (bool *)((char *)options + flag->at) : NULL;
        if (!on || *on)
            continue;
        *on = true;
        say(d, flag->option, NULL);
    }
}

static const char *const times[] = {NULL, NULL, NULL, "10%-60%", "20%/3", "0-", "1-2"};
static const char *const jobs[] = {"1", "2", "3", "7"};
static const char *const depths[] = {NULL, NULL, "1", "2", "5", "1000"};

/* --- report */

/* Keys, of which any two are chosen; keys that need a mode are at the end of the list. */
static const char *const keys[] = {
    NULL,
    NULL,
    NULL,
    "comm",
    "pid",
    "tid",
    "cpu",
    "event",
    "dso",
    "sym",
    "sym",
    "symbol_size",
    "dso_size",
    "srcline",
    "srcfile",
    "addr",
    "parent",
    "socket",
    "cgroup",
    "cgroup_id",
    "time",
    "trace",
    "weight",
    "ins_lat",
    "p_stage_cyc",
    "local_weight",
    "local_ins_lat",
    "local_p_stage_cyc",
    "transaction",
    "trace_fields",
    "code_page_size",
    "parallelism",
};
static const char *const memory_keys[] = {
    NULL,           "mem",          "snoop",      "tlb",       "locked", "blocked", "phys_daddr", "data_page_size",
    "symbol_daddr", "symbol_iaddr", "dcacheline", "dso_daddr",
};
static const char *const branch_keys[] = {
    NULL,      "dso_from", "dso_to",     "symbol_from", "symbol_to", "addr_from",
    "addr_to", "abort",    "mispredict", "in_tx",       "cycles",
};
static const char *const graphs[] = {
    NULL,           NULL,
    "none",         "none",
    "graph,0",      "graph,0.5,callee",
    "fractal,0",    "fractal,5,caller,address",
    "flat,0",       "flat,0,callee,count",
    "folded,0",     "folded,0,caller,period",
    "graph,0,1",    "fractal,0,2,callee,count",
    "caller,count", "callee,address,period",
    "none,caller",  "none,callee,address",
};
static const char *const fields[] = {
    NULL,
    NULL,
    NULL,
    NULL,
    "+sample",
    "+period",
    "overhead,sym",
    "overhead_children,sample,dso",
    "sym,comm,overhead_us",
};
static const char *const limits[] = {NULL, NULL, NULL, "0", "1", "20", "100"};
static const char *const parents[] = {NULL, NULL, NULL, "main", "."};
static const char *const filters[] = {NULL, NULL, NULL, NULL, "a", "0"};
static const char *const separators[] = {NULL, NULL, NULL, NULL, NULL, ","};
static const char *const formats[] = {NULL, "text", "perf", "csv", "json"};

#define REPORT_FLAG(member, option)                                                                                    \
    { offsetof(pfr_report_options, member), option }
static const struct flag report_flags[] = {
    REPORT_FLAG(inverted, "--inverted"),
    REPORT_FLAG(show_samples, "--show-nr-samples"),
    REPORT_FLAG(bars, "--tree"),
    REPORT_FLAG(show_total_period, "--show-total-period"),
    REPORT_FLAG(inlined, "--inline"),
    REPORT_FLAG(stitched, "--stitch-lbr"),
    REPORT_FLAG(only_parent, "--exclude-other"),
    REPORT_FLAG(raw_trace, "--raw-trace"),
    REPORT_FLAG(relative, "--percentage=relative"),
};
#define NAMING_FLAG(member, option)                                                                                    \
    { offsetof(pfr_symbol_options, member), option }
static const struct flag naming_flags[] = {
    NAMING_FLAG(mangled, "--no-demangle"),
    NAMING_FLAG(parameters, "--demangle=full"),
    NAMING_FLAG(no_symbols, "--no-symbols"),
};

static const pfr_symbol_options *draw_naming(struct drawn *d) {
    d->naming = (pfr_symbol_options){.size = sizeof d->naming, .symfs = NOWHERE, .kallsyms = NOWHERE};
    return &d->naming;
}

static pfr_report_choice draw_choice(struct drawn *d, const char *yes, const char *no) {
    const pfr_report_choice choice = (pfr_report_choice)draw(d, 3);
    if (choice != PFR_REPORT_AUTO)
        say(d, choice == PFR_REPORT_YES ? yes : no, NULL);
    return choice;
}

/* One of all pairs of keys; static, so that options can refer to it. */
static const char *draw_sort(struct drawn *d, const char *const *list, unsigned count) {
    static _Thread_local char pair[64];
    const char *first = list[draw(d, count)], *second = keys[draw(d, COUNT(keys))];
    if (!first)
        return NULL;
    snprintf(pair, sizeof pair, "%s%s%s", first, second ? "," : "", second ? second : "");
    say(d, "--sort", pair);
    return pair;
}

static void draw_mode(struct drawn *d, pfr_report_options *how) {
    static const char *const modes[] = {
        NULL, NULL, NULL, NULL, NULL, "--mem-mode", "--branch-stack", "--no-branch-stack"};
    const unsigned mode = draw(d, COUNT(modes));
    if (modes[mode])
        say(d, modes[mode], NULL);
    how->memory_mode = mode == 5;
    how->branches = mode == 6 ? PFR_REPORT_YES : mode == 7 ? PFR_REPORT_NO : PFR_REPORT_AUTO;
    how->sort = mode == 5   ? draw_sort(d, memory_keys, COUNT(memory_keys))
                : mode == 6 ? draw_sort(d, branch_keys, COUNT(branch_keys))
                            : draw_sort(d, keys, COUNT(keys));
}

static void draw_weights(struct drawn *d, pfr_report_options *how) {
    how->children = draw_choice(d, "--children", "--no-children");
    how->call_graph = draw_text(d, "--call-graph", graphs, COUNT(graphs));
    how->max_stack = draw_count(d, "--max-stack", depths, COUNT(depths));
    draw_flags(d, how, report_flags, COUNT(report_flags), 2);
    draw_flags(d, &d->naming, naming_flags, COUNT(naming_flags), 2);
}

static void draw_rows(struct drawn *d, pfr_report_options *how) {
    how->fields = draw_text(d, "--fields", fields, COUNT(fields));
    how->percent_limit = draw_count(d, "--percent-limit", limits, COUNT(limits));
    how->group = draw_choice(d, "--group", "--no-group");
    how->parent = draw_text(d, "--parent", parents, COUNT(parents));
    how->symbol_filter = draw_text(d, "--symbol-filter", filters, COUNT(filters));
    how->separator = draw_text(d, "--field-separator", separators, COUNT(separators));
    how->time = draw_text(d, "--time", times, COUNT(times));
}

pfr_report_options drawn_report(struct drawn *d) {
    pfr_report_options how = {.size = sizeof how, .naming = draw_naming(d)};
    const unsigned format = draw(d, COUNT(formats));
    how.format = format ? (pfr_report_format)(format - 1) : PFR_REPORT_TEXT;
    if (format)
        say(d, "--format", formats[format]);
    draw_weights(d, &how);
    draw_mode(d, &how);
    draw_rows(d, &how);
    how.jobs = draw_count(d, "--jobs", jobs, COUNT(jobs));
    return how;
}

/* --- script */

/* Field lists, split in the same way as by the command. */
static const char *const script_fields[][6] = {
    {"comm", "pid", "ip", "sym", "dso"},
    {"time", "ip", "symoff", "srcline"},
    {"+brstack"},
    {"+brstacksym", "+addr"},
    {"+iregs", "+uregs", "+period"},
    {"-comm", "-ip"},
    {"event", "trace", "cpu"},
    {"+phys_addr", "+weight", "+data_src", "+data_page_size"},
};
#define SCRIPT_FLAG(member, option)                                                                                    \
    { offsetof(pfr_script_options, member), option }
static const struct flag script_flags[] = {
    SCRIPT_FLAG(hide_call_graph, "--hide-call-graph"),
    SCRIPT_FLAG(nanoseconds, "--ns"),
    SCRIPT_FLAG(inlined, "--inline"),
    SCRIPT_FLAG(stitched, "--stitch-lbr"),
    SCRIPT_FLAG(kernel_paths, "--show-kernel-path"),
};

static const char *const *draw_fields(struct drawn *d) {
    const unsigned number = draw(d, 2 * COUNT(script_fields));
    if (number < COUNT(script_fields))
        return NULL;
    const char *const *names = script_fields[number - COUNT(script_fields)];
    for (unsigned i = 0; names[i]; i++) {
        const size_t length = strlen(d->words);
        snprintf(d->words + length, sizeof d->words - length, "%s%s", i ? "," : " --fields=", names[i]);
    }
    return names;
}

pfr_script_options drawn_script(struct drawn *d) {
    static const char *const shown[] = {"--show-task-events",      "--show-mmap-events",   "--show-switch-events",
                                        "--show-namespace-events", "--show-cgroup-events", "--show-bpf-events",
                                        "--show-lost-events",      "--show-round-events",  "--show-text-poke-events"};
    static const char *const clocks[] = {NULL, "--reltime", "--deltatime"};
    static const char *const ends[] = {NULL, NULL, NULL, "main"};
    pfr_script_options how = {.size = sizeof how, .naming = draw_naming(d)};
    how.show = draw(d, 1u << COUNT(shown));
    for (unsigned i = 0; i < COUNT(shown); i++)
        if (how.show >> i & 1)
            say(d, shown[i], NULL);
    how.fields = draw_fields(d);
    how.clock = (pfr_script_clock)draw(d, COUNT(clocks));
    if (how.clock)
        say(d, clocks[how.clock], NULL);
    draw_flags(d, &how, script_flags, COUNT(script_flags), 2);
    draw_flags(d, &d->naming, naming_flags, COUNT(naming_flags), 2);
    how.max_stack = draw_count(d, "--max-stack", depths, COUNT(depths));
    how.stop_at = draw_text(d, "--stop-bt", ends, COUNT(ends));
    how.time = draw_text(d, "--time", times, COUNT(times));
    how.jobs = draw_count(d, "--jobs", jobs, COUNT(jobs));
    return how;
}

/* --- export and flame */

pfr_selection drawn_selection(struct drawn *d) {
    static const char *const weights[] = {NULL, "samples", "period"};
    pfr_selection of = {.size = sizeof of, .naming = draw_naming(d)};
    const unsigned weight = draw(d, COUNT(weights));
    if (weight)
        say(d, "--weight", weights[weight]);
    of.by_count = weight == 1;
    of.by_period = weight == 2;
    of.max_stack = draw_count(d, "--max-stack", depths, COUNT(depths));
    of.stitched = draw(d, 4) == 0;
    if (of.stitched)
        say(d, "--stitch-lbr", NULL);
    of.time = draw_text(d, "--time", times, COUNT(times));
    of.jobs = draw_count(d, "--jobs", jobs, COUNT(jobs));
    return of;
}

pfr_export_options drawn_export(struct drawn *d) {
    pfr_export_options how = {.size = sizeof how, .format = draw(d, 2) ? "pprof" : "folded"};
    say(d, "--format", how.format);
    how.mark_kernel = draw(d, 2);
    if (how.mark_kernel)
        say(d, "--mark-kernel", NULL);
    return how;
}

pfr_flame_options drawn_flame(struct drawn *d) {
    static const char *const widths[] = {NULL, "200", "5000"};
    static const char *const least[] = {NULL, "1", "100"};
    pfr_flame_options how = {.size = sizeof how, .upward = draw(d, 2)};
    if (how.upward)
        say(d, "--upward", NULL);
    how.width = draw_count(d, "--width", widths, COUNT(widths));
    how.min_width = draw_count(d, "--min-width", least, COUNT(least));
    return how;
}

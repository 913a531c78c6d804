/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns events and options into perf_event_attr (perf_event_open(2)). Terms of an event take precedence over options.
 * The first event also reports maps, names and tasks. But if CPUs are recorded, counting begins late, or an AUX area is
 * recorded, a dummy event is added for these reports, because a dummy event can be enabled from the start.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include "record/plan.h"
#include "record/rings/aux_areas.h"
#include "record/option_lists.h"
#include "record/rings/recorder_note.h"
#include "wire/layout.h"
#include "wire/names.h"

#define DEFAULT_FREQUENCY 4000u
#define DEFAULT_STACK 8192u
#define ALL_USER_REGS_X86 0xff0fffull /* all but ds, es, fs and gs, which the kernel refuses */

static pfr_status wrong(pfr_error *err, const char *what, const char *format, const char *value) {
    char text[200];
    snprintf(text, sizeof text, format, value);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, what, "%s", text);
}

/* --- words of options --- */

static pfr_status clock_of(const char *text, int *id, pfr_error *err) {
    static const struct {
        const char *name;
        int id;
    } clocks[] = {{"monotonic", CLOCK_MONOTONIC},
                  {"monotonic_raw", CLOCK_MONOTONIC_RAW},
                  {"realtime", CLOCK_REALTIME},
                  {"boottime", CLOCK_BOOTTIME},
                  {"tai", CLOCK_TAI},
                  {"mono", CLOCK_MONOTONIC},
                  {"raw", CLOCK_MONOTONIC_RAW},
                  {"real", CLOCK_REALTIME},
                  {"boot", CLOCK_BOOTTIME}};
    const char *const name = strncasecmp(text, "CLOCK_", 6) == 0 ? text + 6 : text;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (strcasecmp(clocks[i].name, name) == 0 || (atoi(text) == clocks[i].id && isdigit((unsigned char)*text))) {
            *id = clocks[i].id;
            return PFR_OK;
        }
    return wrong(err, "clockid", "unknown clock '%.40s'; clocks: monotonic, monotonic_raw, realtime, boottime, tai",
                 text);
}

static const struct {
    const char *name;
    uint64_t bits;
} branch_words[] = {
    {"any", PERF_SAMPLE_BRANCH_ANY},
    {"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
    {"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
    {"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
    {"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
    {"call", PERF_SAMPLE_BRANCH_CALL},
    {"cond", PERF_SAMPLE_BRANCH_COND},
    {"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
    {"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
    {"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
    {"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
    {"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
    {"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
    {"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
    {"u", PERF_SAMPLE_BRANCH_USER},
    {"k", PERF_SAMPLE_BRANCH_KERNEL},
    {"hv", PERF_SAMPLE_BRANCH_HV},
};

static uint64_t branch_bits(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof branch_words / sizeof *branch_words; i++)
        if (strlen(branch_words[i].name) == length && strncmp(branch_words[i].name, word, length) == 0)
            return branch_words[i].bits;
    return 0;
}

static pfr_status branches_of(const char *text, uint64_t *mask, pfr_error *err) {
    const uint64_t levels = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
    *mask = 0;
    for (const char *at = text; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        const uint64_t bits = branch_bits(at, length);
        if (!bits)
            return wrong(err, "branch-filter", "unknown branch filter '%.40s'; see perfray-record(1)", at);
        *mask |= bits;
        at += length;
    }
    if (!(*mask & ~levels))
        *mask |= PERF_SAMPLE_BRANCH_ANY;
    return PFR_OK;
}

#if defined __x86_64__
#define REGISTERS SHOW_REGS_X86
#define REGISTERS_ALL ALL_USER_REGS_X86
#elif defined __aarch64__
#define REGISTERS SHOW_REGS_ARM64
#define REGISTERS_ALL ((1ull << 33) - 1)
#elif defined __s390x__
#define REGISTERS SHOW_REGS_S390
#define REGISTERS_ALL ((1ull << 34) - 1)
#else
#define REGISTERS SHOW_REGS_NONE
#define REGISTERS_ALL 0
#endif

/* Fails because no register has this name. The word "?" asks for the list of names. */
static pfr_status no_register(const char *word, pfr_error *err) {
    char names[140] = "";
    for (uint64_t number = 0; number < 64; number++) {
        const char *const name = (uint64_t)REGISTERS_ALL >> number & 1 ? name_of(REGISTERS, number) : NULL;
        if (name && strlen(names) + strlen(name) + 2 < sizeof names)
            strcat(strcat(names, " "), name);
    }
    if (strcmp(word, "?") == 0)
        return wrong(err, "registers", "registers here:%s", names);
    return wrong(err, "registers", "'%.40s' is not a register of this machine; '?' lists them", word);
}

static pfr_status registers_of(const char *text, uint64_t *mask, pfr_error *err) {
    *mask = *text ? 0 : REGISTERS_ALL;
    for (const char *at = text; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        uint64_t number;
        if (!name_value(REGISTERS, at, length, &number) || number > 63)
            return no_register(at, err);
        *mask |= 1ull << number;
        at += length;
    }
    return PFR_OK;
}

/* --- one event --- */

struct planning {
    pfr_recorder *r;
    uint64_t branches, user_regs, intr_regs;
    uint32_t frequency;
    bool begins_late; /* counting is enabled after the start, not by exec */
};

/* If the leader of a group samples for a member, the member has no period, but the same sample fields as the leader. */
static void plan_rate(const struct planning *p, struct typed_event *e, bool samples) {
    const pfr_recorder_options *const o = &p->r->options;
    struct perf_event_attr *const attr = &e->attr;
    const bool asked = o->period || o->frequency || o->highest_frequency;
    if (e->own_frequency) {
        attr->freq = 1;
    } else if (!e->aux && !e->own_period && (!e->fixed || asked)) {
        attr->freq = !o->period;
        attr->sample_period = o->period ? o->period : p->frequency;
    }
    if (attr->freq || o->with_period)
        attr->sample_type |= PERF_SAMPLE_PERIOD;
    if (o->count_only || !samples)
        attr->sample_period = 0;
    if (!samples)
        attr->freq = 0;
}

static void plan_chains(const struct planning *p, struct typed_event *e) {
    const pfr_recorder_options *const o = &p->r->options;
    const unsigned all = CHAIN_NONE + (unsigned)o->chains;
    const unsigned mode = e->chain ? (unsigned)e->chain : all;
    struct perf_event_attr *const attr = &e->attr;
    if (mode == CHAIN_NONE)
        return;
    attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr->sample_max_stack = (uint16_t)e->max_stack;
    if (mode == CHAIN_LBR) {
        attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
                                   PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS |
                                   PERF_SAMPLE_BRANCH_HW_INDEX;
        attr->exclude_callchain_user = 1;
    } else if (mode == CHAIN_DWARF) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
        attr->sample_regs_user |= p->user_regs ? p->user_regs : REGISTERS_ALL;
        attr->sample_stack_user = e->stack_size ? e->stack_size : o->stack_bytes ? o->stack_bytes : DEFAULT_STACK;
        attr->exclude_callchain_user = 1;
        attr->mmap_data = 1;
    }
}

static void plan_chain_levels(const pfr_recorder_options *o, struct perf_event_attr *attr) {
    if (o->no_user_chains)
        attr->exclude_callchain_user = 1;
    if (o->no_kernel_chains)
        attr->exclude_callchain_kernel = 1;
}

static void plan_fields(const struct planning *p, struct typed_event *e) {
    const pfr_recorder_options *const o = &p->r->options;
    const struct {
        bool asked;
        uint64_t bits;
    } fields[] = {
        {true, PERF_SAMPLE_IP | PERF_SAMPLE_TID},
        {e->time != 2 && (!o->per_thread || o->times), PERF_SAMPLE_TIME},
        {p->r->targets.by_cpu || o->cpus || o->cpu || o->raw, PERF_SAMPLE_CPU},
        {o->addresses, PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
        {o->physical_addresses, PERF_SAMPLE_PHYS_ADDR},
        {o->data_page_size, PERF_SAMPLE_DATA_PAGE_SIZE},
        {o->code_page_size, PERF_SAMPLE_CODE_PAGE_SIZE},
        {o->weight, PERF_SAMPLE_WEIGHT_STRUCT},
        {o->raw, PERF_SAMPLE_RAW},
        {o->transaction, PERF_SAMPLE_TRANSACTION},
        {o->cgroup_events, PERF_SAMPLE_CGROUP},
        {p->user_regs != 0, PERF_SAMPLE_REGS_USER},
        {p->intr_regs != 0, PERF_SAMPLE_REGS_INTR},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].asked)
            e->attr.sample_type |= fields[i].bits;
    e->attr.sample_regs_user = p->user_regs;
    e->attr.sample_regs_intr = p->intr_regs;
    e->attr.branch_sample_type = e->branches ? e->attr.branch_sample_type : p->branches;
    if (e->attr.branch_sample_type)
        e->attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    e->attr.mmap_data = o->addresses;
}

static void plan_reading(const struct planning *p, struct typed_event *e, const struct typed_event *leader) {
    const pfr_recorder_options *const o = &p->r->options;
    e->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
    if (o->counts_per_thread || o->running_time)
        e->attr.read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    e->attr.inherit_stat = o->counts_per_thread;
    if (leader->reads_group)
        e->attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_ID;
    if (leader->reads_group && leader->members > 1) {
        e->attr.read_format |= PERF_FORMAT_GROUP;
        e->attr.inherit = 0; /* the kernel cannot read inherited groups */
    }
}

/* Excludes user or kernel code if the options exclude it. */
static void plan_levels(const pfr_recorder_options *o, struct perf_event_attr *attr) {
    if (o->only_user) {
        attr->exclude_kernel = 1;
        attr->exclude_user = 0;
    }
    if (o->only_kernel) {
        attr->exclude_kernel = 0;
        attr->exclude_user = 1;
    }
}

static void plan_event(const struct planning *p, size_t number) {
    pfr_recorder *const r = p->r;
    const pfr_recorder_options *const o = &r->options;
    struct typed_event *const e = &r->events.at[number];
    const struct typed_event *const leader = &r->events.at[e->leader];
    const bool leads = e->leader == number;
    e->attr.sample_id_all = 1;
    e->attr.inherit = e->inherit ? e->inherit == 1 : !o->no_inherit && !o->per_thread;
    e->attr.disabled = leads;
    e->attr.enable_on_exec = leads && r->targets.of_command && !p->begins_late;
    if (e->most_precise)
        e->attr.precise_ip = 3;
    plan_fields(p, e);
    plan_chains(p, e);
    plan_chain_levels(o, &e->attr);
    plan_reading(p, e, leader);
    plan_rate(p, e, leads || !leader->reads_group);
    plan_levels(o, &e->attr);
    aux_plan(r, e);
    if (o->unbuffered)
        e->attr.wakeup_events = 1;
    e->attr.write_backward = e->overwrite ? e->overwrite == 1 : o->overwrite;
}

static void plan_tracking(pfr_recorder *r) {
    struct perf_event_attr *const attr = &r->events.at[r->tracking].attr;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
    attr->ksymbol = 1;
    attr->bpf_event = !r->options.no_bpf;
    attr->namespaces = r->options.namespaces;
    attr->cgroup = r->options.cgroup_events;
    attr->context_switch = r->options.switches || aux_is_recorded(r);
    attr->build_id = r->options.build_ids == PFR_BUILD_IDS_IN_MAPS;
    for (size_t i = 0; i < r->events.count; i++)
        if (i != r->tracking)
            r->events.at[i].attr.mmap_data = 0;
}

/* Adds a dummy event for records other than samples. */
static pfr_status add_dummy(const struct planning *p, pfr_error *err) {
    pfr_recorder *const r = p->r;
    struct typed_event *const e = event_list_add(&r->events, "dummy", 5);
    if (!e)
        return mem_fail(&r->memory, err, "events");
    e->attr.type = PERF_TYPE_SOFTWARE;
    e->attr.config = PERF_COUNT_SW_DUMMY;
    e->attr.sample_period = 1;
    e->fixed = true;
    r->tracking = (uint32_t)r->events.count - 1;
    struct planning own = *p;
    own.branches = own.user_regs = own.intr_regs = 0;
    plan_event(&own, r->tracking);
    struct typed_event *const dummy = &r->events.at[r->tracking];
    dummy->attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_TRANSACTION);
    dummy->attr.branch_sample_type = 0;
    dummy->attr.disabled = r->targets.by_task;
    dummy->attr.enable_on_exec = r->targets.of_command || (r->targets.by_task && p->begins_late);
    char name[64];
    dummy->name = arena_text(&r->events.arena, name, event_name_of(&dummy->attr, "dummy", name, sizeof name));
    return dummy->name ? PFR_OK : mem_fail(&r->memory, err, "events");
}

/* If there are several events, each sample must contain the id of its event. If the events' sample fields differ, the
 * id is an IDENTIFIER, whose position is fixed. */
static void plan_ids(pfr_recorder *r) {
    const bool stream = r->options.output && strcmp(r->options.output, "-") == 0; /* always has ids, as in perf */
    bool differ = r->options.identifier;
    for (size_t i = 1; i < r->events.count; i++)
        differ |= r->events.at[i].attr.sample_type != r->events.at[0].attr.sample_type;
    for (size_t i = 0; i < r->events.count; i++) {
        struct perf_event_attr *const attr = &r->events.at[i].attr;
        if (differ)
            attr->sample_type = (attr->sample_type & ~(uint64_t)PERF_SAMPLE_ID) | PERF_SAMPLE_IDENTIFIER;
        else if (r->events.count > 1 || stream)
            attr->sample_type |= PERF_SAMPLE_ID;
    }
}

static pfr_status plan_clock(pfr_recorder *r, pfr_error *err) {
    r->clock.id = CLOCK_MONOTONIC;
    if (!r->options.clock)
        return PFR_OK;
    PFR_TRY(clock_of(r->options.clock, &r->clock.id, err));
    for (size_t i = 0; i < r->events.count; i++) {
        r->events.at[i].attr.use_clockid = 1;
        r->events.at[i].attr.clockid = r->clock.id;
    }
    return PFR_OK;
}

/* --- all --- */

/* Adds the default event: cycles, or cpu-clock if the machine has no counter of cycles. */
static pfr_status add_default(pfr_recorder *r, pfr_error *err) {
    struct typed_event *const e = event_list_add(&r->events, "cycles:ppp", 10);
    if (!e)
        return mem_fail(&r->memory, err, "events");
    e->attr.type = PERF_TYPE_HARDWARE;
    e->attr.config = PERF_COUNT_HW_CPU_CYCLES;
    e->attr.exclude_guest = 1; /* as for events that were given by name */
    e->falls_back = e->most_precise = e->without_name = true;
    return PFR_OK;
}

static pfr_status filter_last(pfr_recorder *r, const char *filter, size_t first, pfr_error *err) {
    for (size_t i = first; filter && i < r->events.count; i++) {
        if (!r->events.at[i].system)
            return wrong(err, "filter", "'%.60s' is not a tracepoint; only tracepoints accept a filter",
                         r->events.at[i].name);
        r->events.at[i].filter = filter;
    }
    return PFR_OK;
}

static pfr_status parse_events(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    if (!o->events || !o->events[0])
        return add_default(r, err);
    for (size_t i = 0; o->events[i]; i++) {
        const size_t first = r->events.count;
        PFR_TRY(event_list_parse(&r->events, o->events[i], r->kernel, err));
        PFR_TRY(filter_last(r, o->filters ? o->filters[i] : NULL, first, err));
    }
    return PFR_OK;
}

static pfr_status plan_cgroups(pfr_recorder *r, pfr_error *err) {
    const char *at = r->options.cgroups;
    if (!at)
        return PFR_OK;
    if (!r->targets.by_cpu)
        return wrong(err, "cgroup", "--cgroup %.60s needs -a or -C, because cgroups are recorded per CPU", at);
    for (size_t i = 0; i < r->events.count; i++) {
        const size_t length = strcspn(at, ",");
        r->events.at[i].cgroup = length ? arena_text(&r->events.arena, at, length) : NULL;
        if (length && !r->events.at[i].cgroup)
            return mem_fail(&r->memory, err, "events");
        if (at[length] == ',')
            at += length + 1;
    }
    return PFR_OK;
}

/* Sets the branch filters of events whose terms contain one. */
static pfr_status plan_branches(const struct planning *p, pfr_error *err) {
    for (size_t i = 0; i < p->r->events.count; i++) {
        struct typed_event *const e = &p->r->events.at[i];
        uint64_t mask = 0;
        if (e->branches)
            PFR_TRY(branches_of(e->branches, &mask, err));
        e->attr.branch_sample_type = mask;
    }
    return PFR_OK;
}

/* --group: makes all events one group, whichever groups were typed. */
static void join_events(pfr_recorder *r) {
    for (size_t i = 0; r->options.one_group && i < r->events.count; i++) {
        r->events.at[i].leader = 0;
        r->events.at[i].members = i ? 1 : (uint32_t)r->events.count;
    }
}

/* Adds a condition that excludes this process to a tracepoint's filter. */
static pfr_status leave_out_recorder(pfr_recorder *r, struct typed_event *e, pfr_error *err) {
    char text[4096];
    const int pid = (int)getpid();
    const int length = e->filter ? snprintf(text, sizeof text, "(%s) && common_pid != %d", e->filter, pid)
                                 : snprintf(text, sizeof text, "common_pid != %d", pid);
    if (length >= (int)sizeof text)
        return wrong(err, "filter", "the filter of %.60s is too long", e->name);
    e->filter = arena_text(&r->events.arena, text, (size_t)length);
    return e->filter ? PFR_OK : mem_fail(&r->memory, err, "events");
}

static pfr_status plan_exclusion(pfr_recorder *r, pfr_error *err) {
    bool any = false;
    if (!r->options.without_recorder)
        return PFR_OK;
    for (size_t i = 0; i < r->events.count; i++)
        if (r->events.at[i].system) {
            any = true;
            PFR_TRY(leave_out_recorder(r, &r->events.at[i], err));
        }
    return any ? PFR_OK : wrong(err, "exclude-perf", "--exclude-perf is for tracepoints: add -e %s", "SYSTEM:NAME");
}

static pfr_status frequency_is_allowed(const pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    const uint32_t asked = o->frequency ? o->frequency : DEFAULT_FREQUENCY;
    const int64_t most = kernel_number(INT32_MAX, r->kernel->proc, "sys/kernel/perf_event_max_sample_rate");
    if (!o->strict_frequency || o->highest_frequency || o->period || asked <= most)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "freq",
                    "%u samples per second exceed the kernel's limit: use -F %lld, or raise "
                    "kernel.perf_event_max_sample_rate",
                    asked, (long long)most);
}

static uint32_t frequency_of(pfr_recorder *r) {
    const pfr_recorder_options *const o = &r->options;
    const uint32_t asked = o->frequency ? o->frequency : DEFAULT_FREQUENCY;
    const int64_t most = kernel_number(INT32_MAX, r->kernel->proc, "sys/kernel/perf_event_max_sample_rate");
    if (o->highest_frequency && most < INT32_MAX)
        return (uint32_t)most;
    if (asked <= most)
        return asked;
    recorder_note(r, "%u samples per second exceed the kernel's limit; using %lld (kernel.perf_event_max_sample_rate)",
                  asked, (long long)most);
    return (uint32_t)most;
}

pfr_status plan_events(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    if (o->period && (o->frequency || o->highest_frequency))
        return wrong(err, "count", "--count and --freq exclude each other%s", "");
    PFR_TRY(frequency_is_allowed(r, err));
    struct planning p = {.r = r, .frequency = frequency_of(r), .begins_late = o->delay_ms != 0 || o->on_times};
    PFR_TRY(plan_synthesis(r, err));
    PFR_TRY(plan_turns(r, err));
    PFR_TRY(parse_events(r, err));
    join_events(r);
    PFR_TRY(plan_exclusion(r, err));
    PFR_TRY(plan_cgroups(r, err));
    PFR_TRY(aux_check(r, err));
    PFR_TRY(o->branches ? branches_of(o->branches, &p.branches, err) : PFR_OK);
    PFR_TRY(o->user_regs ? registers_of(o->user_regs, &p.user_regs, err) : PFR_OK);
    PFR_TRY(o->intr_regs ? registers_of(o->intr_regs, &p.intr_regs, err) : PFR_OK);
    PFR_TRY(plan_branches(&p, err));
    for (size_t i = 0; i < r->events.count; i++)
        plan_event(&p, i);
    if (r->targets.by_cpu || o->cpus || p.begins_late || aux_is_recorded(r))
        PFR_TRY(add_dummy(&p, err));
    plan_tracking(r);
    plan_ids(r);
    return plan_clock(r, err);
}

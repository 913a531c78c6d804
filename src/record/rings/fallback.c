/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fallbacks when the kernel refuses an event: a table of features that are dropped from the attrs, the least important
 * one first. Each row is used once. If no row is left, the error message is made here. See perf_event_open(2), ERRORS.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/rings/fallback.h"
#include "record/rings/recorder_note.h"

#define ROW_BIT(n) (1u << (n))

/* --- one event --- */

static bool is_absent(int why) {
    return why == ENOENT || why == ENXIO || why == ENODEV || why == EOPNOTSUPP;
}

static bool take_clock(pfr_recorder *r, struct typed_event *e, int why) {
    if (!e->falls_back || !is_absent(why) || e->attr.type != PERF_TYPE_HARDWARE)
        return false;
    char name[64];
    const size_t length = event_name_of(&e->attr, "cpu-clock", name, sizeof name);
    const char *const kept = arena_text(&r->events.arena, name, length);
    if (!kept)
        return false;
    recorder_note(r, "hardware cycles are not available (%s); using cpu-clock", strerror(why));
    e->name = e->named ? e->name : kept;
    e->attr.type = PERF_TYPE_SOFTWARE;
    e->attr.config = PERF_COUNT_SW_CPU_CLOCK;
    e->falls_back = e->most_precise = false;
    e->stands_in = true;
    return true;
}

static bool less_precise(pfr_recorder *r, struct typed_event *e, int why) {
    if (!e->most_precise || e->attr.precise_ip == 0 || (why != EINVAL && why != EOPNOTSUPP))
        return false;
    e->attr.precise_ip--;
    if (!e->without_name)
        return true;
    char name[32];
    const int length =
        snprintf(name, sizeof name, "cycles%s%.*s", e->attr.precise_ip ? ":" : "", (int)e->attr.precise_ip, "ppp");
    const char *const kept = arena_text(&r->events.arena, name, (size_t)length);
    e->name = kept ? kept : e->name;
    return true;
}

/* --- all events: missing permission, or a kernel that does not know a feature --- */

static bool user_alone(struct perf_event_attr *attr) {
    const bool may = !attr->exclude_kernel && !attr->exclude_user;
    attr->exclude_kernel = attr->exclude_hv = may || attr->exclude_kernel;
    return may;
}
static bool without_lost(struct perf_event_attr *attr) {
    const bool may = attr->read_format & PERF_FORMAT_LOST;
    attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
    return may;
}
static bool with_plain_weight(struct perf_event_attr *attr) {
    const bool may = attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT;
    if (may)
        attr->sample_type = (attr->sample_type & ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT) | PERF_SAMPLE_WEIGHT;
    return may;
}
static bool without_page_sizes(struct perf_event_attr *attr) {
    const uint64_t bits = PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
    const bool may = attr->sample_type & bits;
    attr->sample_type &= ~bits;
    return may;
}
static bool without_build_id(struct perf_event_attr *attr) {
    const bool may = attr->build_id;
    attr->build_id = 0;
    return may;
}
static bool without_cgroup(struct perf_event_attr *attr) {
    const bool may = attr->cgroup || attr->sample_type & PERF_SAMPLE_CGROUP;
    attr->cgroup = 0;
    attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
    return may;
}
static bool without_hw_index(struct perf_event_attr *attr) {
    const bool may = attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX;
    attr->branch_sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_HW_INDEX;
    return may;
}
static bool without_bpf(struct perf_event_attr *attr) {
    const bool may = attr->bpf_event;
    attr->bpf_event = 0;
    return may;
}
static bool without_ksymbol(struct perf_event_attr *attr) {
    const bool may = attr->ksymbol;
    attr->ksymbol = 0;
    return may;
}
static bool without_guests(struct perf_event_attr *attr) {
    const bool may = attr->exclude_guest || attr->exclude_host;
    attr->exclude_guest = attr->exclude_host = 0;
    return may;
}

/* `permission`: the row is for EACCES and EPERM. Otherwise the row is for other errors. */
static const struct {
    bool permission;
    const char *what; /* note to the user; NULL: the change is not reported */
    bool (*drop)(struct perf_event_attr *attr);
} rows[] = {
    {true,
     "no permission to sample the kernel, so only user code is sampled; kernel.perf_event_paranoid=1 or less, or "
     "CAP_PERFMON, permits it",
     user_alone},
    {false, "the kernel does not count lost samples per event (Linux 6.0 does)", without_lost},
    {false, NULL, with_plain_weight},
    {false, "the kernel does not report page sizes (Linux 5.11 does)", without_page_sizes},
    {false, "the kernel does not put build-ids into maps (Linux 5.12 does)", without_build_id},
    {false, "the kernel does not report cgroups (Linux 5.7 does)", without_cgroup},
    {false, NULL, without_hw_index},
    {false, "the kernel does not report BPF programs (Linux 5.1 does)", without_bpf},
    {false, "the kernel does not report new kernel symbols (Linux 5.1 does)", without_ksymbol},
    {false, NULL, without_guests},
};

static bool drop_from_all(pfr_recorder *r, unsigned row) {
    bool any = false;
    for (size_t i = 0; i < r->events.count; i++)
        any |= rows[row].drop(&r->events.at[i].attr);
    return any;
}

static bool give_up(pfr_recorder *r, int why) {
    const bool permission = why == EACCES || why == EPERM;
    if (!permission && why != EINVAL && why != EOPNOTSUPP)
        return false;
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++) {
        if (rows[row].permission != permission || r->given_up & ROW_BIT(row))
            continue;
        r->given_up |= ROW_BIT(row);
        if (!drop_from_all(r, row))
            continue;
        r->notes_due |= ROW_BIT(row);
        return true;
    }
    return false;
}

void fallback_report(pfr_recorder *r) {
    for (unsigned row = 0; row < sizeof rows / sizeof *rows; row++)
        if (rows[row].what && r->notes_due & ROW_BIT(row))
            recorder_note(r, "%s", rows[row].what);
    r->notes_due = 0;
}

bool fallback_next(pfr_recorder *r, struct typed_event *e, int why) {
    return take_clock(r, e, why) || less_precise(r, e, why) || give_up(r, why);
}

/* --- no feature is left to drop --- */

struct fallback_level {
    int64_t most;
    const char *text;
};

/* The highest value of kernel.perf_event_paranoid with which the event is permitted: see perf_allow_tracepoint and the
 * similar functions of linux/perf_event.h. */
static struct fallback_level level_needed(const pfr_recorder *r, const struct perf_event_attr *attr) {
    if (attr->type == PERF_TYPE_TRACEPOINT)
        return (struct fallback_level){-1, "-1 for tracepoints"};
    if (r->targets.by_cpu)
        return (struct fallback_level){0, "0 or less for whole CPUs"};
    if (attr->exclude_user || attr->sample_type & PERF_SAMPLE_PHYS_ADDR)
        return (struct fallback_level){1, "1 or less for this"};
    return (struct fallback_level){2, "2 or less"};
}

/* The first recorded task of another user. A counter can be opened for such a task only with ptrace access
   (perf_event_open(2)). 0: there is no such task. */
static pid_t task_of_another_user(const pfr_recorder *r) {
    struct stat owner;
    for (size_t i = 0; i < r->targets.nr_tasks && (r->options.pids || r->options.tids); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%d", r->kernel->proc, (int)r->targets.tasks[i].tid);
        if (stat(path, &owner) == 0 && owner.st_uid != geteuid())
            return (pid_t)r->targets.tasks[i].tid;
    }
    return 0;
}

static const char *permission_advice(const pfr_recorder *r, const struct perf_event_attr *attr, int why, char *to,
                                     size_t room) {
    const int64_t level = kernel_number(-2, r->kernel->proc, "sys/kernel/perf_event_paranoid");
    if (level == -2)
        return "this kernel or container has no counters: kernel.perf_event_paranoid is missing";
    if (geteuid() == 0 && why == EPERM)
        return "a container or seccomp filter refuses it: it needs CAP_PERFMON there";
    const pid_t foreign = geteuid() == 0 ? 0 : task_of_another_user(r);
    if (foreign) {
        snprintf(to, room,
                 "task %d is another user's: ptrace access to it is needed (its user, root or CAP_SYS_PTRACE)",
                 (int)foreign);
        return to;
    }
    const struct fallback_level needed = level_needed(r, attr);
    const bool of_others = r->options.pids || r->options.tids;
    if (level <= needed.most && of_others) /* permitted, so ptrace_may_access refused: perf_event_open(2) */
        return "the process is another user's, or may not be traced: it needs CAP_PERFMON";
    snprintf(to, room, "kernel.perf_event_paranoid is %lld: it needs %s, or CAP_PERFMON", (long long)level,
             needed.text);
    return to;
}

static const struct {
    int why;
    const char *cause;
} causes[] = {
    {ENOSYS, "this kernel has no perf_event_open (CONFIG_PERF_EVENTS), or a seccomp filter hides it"},
    {ENOENT, "this machine has no such event; see perfray list"},
    {ENODEV, "this machine has no such counter, or the CPU is offline; see perfray list"},
    {ENXIO, "this machine has no such counter; see perfray list"},
    {EOPNOTSUPP, "this counter cannot sample, or not in this way; try cpu-clock"},
    {EBUSY, "another program uses the counter exclusively"},
    {ENOSPC, "all breakpoints are in use"},
    {EMFILE, "too many open files: record fewer events or threads, or raise ulimit -n"},
    {ENFILE, "the machine has too many open files: raise fs.file-max"},
    {EINVAL, "the kernel does not accept this combination of event and options"},
    {ESRCH, "the process or thread to record has ended"},
};

pfr_status fallback_failed(const pfr_recorder *r, const struct typed_event *e, int why, pfr_error *err) {
    char advice[120];
    if (why == EACCES || why == EPERM)
        return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "event", "event %.30s: not permitted; %s", e->name,
                        permission_advice(r, &e->attr, why, advice, sizeof advice));
    if (why == EOPNOTSUPP && e->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                        "event %.40s: this counter has no branch stacks; record it without -b, -j and lbr", e->name);
    if (why == EINVAL && e->attr.type > PERF_TYPE_BREAKPOINT && r->targets.by_task)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                        "event %.40s: this counter cannot count single tasks in this way; try -a", e->name);
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (causes[i].why == why)
            return pfr_fail(err, why == EMFILE || why == ENFILE ? PFR_ERR_IO : PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                            "event %.40s: %s", e->name, causes[i].cause);
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "event", "event %.40s: %s", e->name, strerror(why));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a counter for each event on each CPU, and for each task if tasks are recorded. If the kernel refuses a counter,
 * the attrs are changed to request less (fallback.c) and all counters are opened again, so that all counters of an
 * event have the same attr.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "record/rings/counters.h"
#include "record/rings/fallback.h"

struct counter_target {
    int32_t cpu, tid;
};

static pfr_status add_counter(pfr_recorder *r, const struct open_counter *counter, pfr_error *err) {
    if (r->nr_counters == r->counters_room) {
        const size_t room = r->counters_room ? 2 * r->counters_room : 32;
        void *const at = mem_resize(&r->memory, r->counters, r->counters_room, room, sizeof *r->counters);
        if (!at) {
            r->kernel->close(r->kernel->context, counter->fd);
            return mem_fail(&r->memory, err, "counters");
        }
        r->counters = at;
        r->counters_room = room;
    }
    r->counters[r->nr_counters++] = *counter;
    return PFR_OK;
}

static void close_all(pfr_recorder *r) {
    for (size_t i = 0; i < r->nr_counters; i++)
        r->kernel->close(r->kernel->context, r->counters[i].fd);
    r->nr_counters = 0;
}

void counters_close(pfr_recorder *r) {
    close_all(r);
    mem_free(&r->memory, r->counters, r->counters_room, sizeof *r->counters);
    r->counters = NULL;
    r->counters_room = 0;
}

/* Raises the soft limit of open files to the hard limit; false: that is not possible. */
static bool raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int cgroup_folder(const pfr_recorder *r, const char *name) {
    static const char *const roots[] = {"fs/cgroup/perf_event", "fs/cgroup/unified", "fs/cgroup"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s/%s", r->kernel->sys, roots[i], name);
        const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

/* Returns the descriptor of the counter, or -errno. */
static int open_one(pfr_recorder *r, struct typed_event *e, const struct counter_target *spot, int group) {
    const int folder = e->cgroup ? cgroup_folder(r, e->cgroup) : -1;
    if (e->cgroup && folder < 0)
        return -ENOTDIR;
    const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (folder >= 0 ? PERF_FLAG_PID_CGROUP : 0);
    int fd = r->kernel->open(r->kernel->context, &e->attr, folder >= 0 ? folder : spot->tid, spot->cpu, group, flags);
    int why = fd < 0 ? errno : 0;
    if (why == EMFILE && raise_file_limit()) {
        fd = r->kernel->open(r->kernel->context, &e->attr, folder >= 0 ? folder : spot->tid, spot->cpu, group, flags);
        why = fd < 0 ? errno : 0;
    }
    if (folder >= 0)
        close(folder);
    return fd < 0 ? -why : fd;
}

static int group_of(const pfr_recorder *r, uint32_t leader, const struct counter_target *spot) {
    for (size_t i = r->nr_counters; i-- > 0;)
        if (r->counters[i].event == leader && r->counters[i].cpu == spot->cpu && r->counters[i].tid == spot->tid)
            return r->counters[i].fd;
    return -1;
}

/* Offline CPUs and ended tasks are skipped, unless there is nothing else to record. */
static bool may_be_missed(const pfr_recorder *r, const struct counter_target *spot, int why) {
    if (why == ESRCH)
        return r->targets.by_task && r->targets.nr_tasks > 1;
    return why == ENODEV && r->targets.nr_cpus > 1 && spot->cpu >= 0 && !r->options.cpus &&
           kernel_number(1, r->kernel->sys, "devices/system/cpu/cpu%d/online", spot->cpu) == 0;
}

/* Opens a counter. PFR_END: the attrs were changed, so all counters must be opened again. */
static pfr_status open_at(pfr_recorder *r, uint32_t number, const struct counter_target *spot, pfr_error *err) {
    struct typed_event *const e = &r->events.at[number];
    const int group = e->leader == number ? -1 : group_of(r, e->leader, spot);
    const int fd = open_one(r, e, spot, group);
    if (fd >= 0)
        return add_counter(r, &(struct open_counter){.fd = fd, .event = number, .cpu = spot->cpu, .tid = spot->tid},
                           err);
    if (may_be_missed(r, spot, -fd))
        return PFR_OK;
    if (fd == -ENOTDIR)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "cgroup", "there is no cgroup %.80s", e->cgroup);
    return fallback_next(r, e, -fd) ? PFR_END : fallback_failed(r, e, -fd, err);
}

static pfr_status open_event(pfr_recorder *r, uint32_t number, pfr_error *err) {
    const size_t tasks = r->targets.by_task ? r->targets.nr_tasks : 1,
                 cpus = r->options.per_thread ? 1 : r->targets.nr_cpus;
    for (size_t c = 0; c < cpus; c++)
        for (size_t t = 0; t < tasks; t++) {
            const struct counter_target spot = {r->options.per_thread ? ANYWHERE : r->targets.cpus[c],
                                                r->targets.by_task ? r->targets.tasks[t].tid : ANYWHERE};
            const pfr_status status = open_at(r, number, &spot, err);
            if (status != PFR_OK)
                return status;
        }
    return PFR_OK;
}

static pfr_status open_all(pfr_recorder *r, pfr_error *err) {
    for (uint32_t i = 0; i < r->events.count; i++) {
        const pfr_status status = open_event(r, i, err);
        if (status != PFR_OK)
            return status;
    }
    return PFR_OK;
}

static pfr_status learn_id(pfr_recorder *r, struct open_counter *counter, pfr_error *err) {
    const struct typed_event *const e = &r->events.at[counter->event];
    if (r->kernel->control(r->kernel->context, counter->fd, PERF_EVENT_IOC_ID, (uintptr_t)&counter->id) < 0)
        return pfr_fail_errno(err, errno, "ask for the id of", e->name);
    if (e->filter &&
        r->kernel->control(r->kernel->context, counter->fd, PERF_EVENT_IOC_SET_FILTER, (uintptr_t)e->filter) < 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                        "event %.40s does not accept filter '%.60s': %s", e->name, e->filter, strerror(errno));
    return PFR_OK;
}

pfr_status counters_open(pfr_recorder *r, pfr_error *err) {
    pfr_status status;
    while ((status = open_all(r, err)) == PFR_END)
        close_all(r);
    PFR_TRY(status);
    fallback_report(r);
    if (r->nr_counters == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "target", "the process or thread to record has ended");
    for (size_t i = 0; i < r->nr_counters; i++)
        PFR_TRY(learn_id(r, &r->counters[i], err));
    return PFR_OK;
}

/* The attrs are used as the fallbacks at the start have left them. No further fallback is tried. */
pfr_status counters_open_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err) {
    const struct counter_target spot = {cpu, ANYWHERE};
    const size_t first = r->nr_counters;
    pfr_status status = PFR_OK;
    for (uint32_t i = 0; i < r->events.count && status == PFR_OK; i++) {
        struct typed_event *const e = &r->events.at[i];
        const int fd = open_one(r, e, &spot, e->leader == i ? -1 : group_of(r, e->leader, &spot));
        status = fd < 0
                     ? fallback_failed(r, e, -fd, err)
                     : add_counter(r, &(struct open_counter){.fd = fd, .event = i, .cpu = cpu, .tid = ANYWHERE}, err);
    }
    for (size_t i = first; i < r->nr_counters && status == PFR_OK; i++)
        status = learn_id(r, &r->counters[i], err);
    while (status != PFR_OK && r->nr_counters > first)
        r->kernel->close(r->kernel->context, r->counters[--r->nr_counters].fd);
    return status;
}

void counters_track(pfr_recorder *r) {
    for (size_t i = 0; i < r->nr_counters; i++)
        if (r->counters[i].event == r->tracking)
            r->kernel->control(r->kernel->context, r->counters[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void counters_switch(pfr_recorder *r, bool on) {
    const unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
    for (size_t i = 0; i < r->nr_counters; i++)
        if (r->events.at[r->counters[i].event].leader == r->counters[i].event)
            r->kernel->control(r->kernel->context, r->counters[i].fd, request, 0);
    r->control.enabled = on;
}

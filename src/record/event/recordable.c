/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the events that can be recorded on this machine: each event is opened on this process and closed again. Only
 * one of the tracepoints is tried. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <perfray/sampling.h>
#include "record/event/event.h"

struct event_listing {
    const struct kernel *kernel;
    const char *kind;
    bool (*row)(void *context, const pfr_recordable *what);
    void *context;
    bool goes_on;
};

static bool is_wanted(const struct event_listing *l, const char *kind) {
    return l->goes_on && (!l->kind || strcmp(l->kind, kind) == 0);
}

static void pass_row(struct event_listing *l, const pfr_recordable *row) {
    if (l->goes_on)
        l->goes_on = l->row(l->context, row);
}

static void list_event(struct event_listing *l, const char *kind, const char *name, const char *reason) {
    pass_row(l, &(pfr_recordable){name, kind, reason, NULL});
}

static const char *reason_of(int why) {
    switch (why) {
    case 0:
        return NULL;
    case EACCES:
    case EPERM:
        return "not permitted: needs a lower kernel.perf_event_paranoid, or CAP_PERFMON";
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return "this machine has no such counter";
    case EOPNOTSUPP:
        return "counts, but cannot sample";
    case EINVAL:
        return "the kernel does not accept this form of it";
    case ENOSYS:
        return "this kernel has no perf_event_open, or a filter hides it";
    default:
        return strerror(why);
    }
}

static int open_once(const struct event_listing *l, struct perf_event_attr *attr, pid_t pid, int cpu) {
    const int fd = l->kernel->open(l->kernel->context, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno;
    l->kernel->close(l->kernel->context, fd);
    return 0;
}

/* Returns 0 if the event can be sampled, otherwise errno. If the permission for the kernel is missing, tries again with
   the kernel excluded. */
static int try_event(const struct event_listing *l, uint32_t type, uint64_t config, uint64_t period) {
    struct perf_event_attr attr = {.type = type, .size = sizeof attr, .config = config, .disabled = 1};
    attr.sample_period = period;
    int why = open_once(l, &attr, 0, -1);
    if (why == EACCES || why == EPERM) {
        attr.exclude_kernel = attr.exclude_hv = 1;
        why = open_once(l, &attr, 0, -1);
    }
    return why;
}

static void list_named(struct event_listing *l, uint32_t type, const char *kind) {
    for (const struct event_name *row = event_names; row->name && is_wanted(l, kind); row++)
        if (row->type == type)
            pass_row(l, &(pfr_recordable){row->name, kind, reason_of(try_event(l, row->type, row->config, 100000)),
                                          row->alias});
}

static void list_caches(struct event_listing *l) {
    for (unsigned cache = 0; cache_name(cache) && is_wanted(l, "cache"); cache++)
        for (unsigned what = 0; cache_what(what) && l->goes_on; what++) {
            char name[64];
            uint64_t config;
            snprintf(name, sizeof name, "%s-%s", cache_name(cache), cache_what(what));
            if (cache_event(name, strlen(name), &config))
                list_event(l, "cache", name, reason_of(try_event(l, PERF_TYPE_HW_CACHE, config, 100000)));
        }
}

static void list_raw(struct event_listing *l) {
    if (is_wanted(l, "raw"))
        list_event(l, "raw", "rNNN", reason_of(try_event(l, PERF_TYPE_RAW, 0x3c, 100000)));
}

static void list_breakpoint(struct event_listing *l) {
    static volatile int watched;
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof attr, .sample_period = 1};
    if (!is_wanted(l, "breakpoint"))
        return;
    attr.bp_type = HW_BREAKPOINT_W;
    attr.bp_len = HW_BREAKPOINT_LEN_4;
    attr.bp_addr = (uintptr_t)&watched;
    attr.exclude_kernel = attr.exclude_hv = 1;
    list_event(l, "breakpoint", "mem:ADDR[/LEN][:rwx]", reason_of(open_once(l, &attr, 0, -1)));
}

/* Calls `entry` with each name in a folder, in sorted order, until the caller's function ends the listing. */
static void each_entry(struct event_listing *l, const char *folder,
                       void (*entry)(struct event_listing *l, const char *folder, const char *name)) {
    struct dirent **names;
    const int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && l->goes_on)
            entry(l, folder, names[i]->d_name);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* --- PMUs --- */

static int try_text(struct event_listing *l, const char *text) {
    struct memory memory;
    struct event_list events;
    int why = EINVAL;
    memory_init(&memory, NULL, 0);
    event_list_init(&events, &memory);
    if (event_list_parse(&events, text, l->kernel, NULL) == PFR_OK && events.count == 1) {
        events.at[0].attr.sample_period = 100000;
        events.at[0].attr.exclude_guest = 0;
        why = open_once(l, &events.at[0].attr, 0, -1);
        if (why == EINVAL)
            why = open_once(l, &events.at[0].attr, -1, 0) == 0 ? 0 : EOPNOTSUPP;
    }
    event_list_free(&events);
    return why;
}

static void list_pmu_event(struct event_listing *l, const char *folder, const char *name) {
    const char *const pmu = strstr(folder, "/devices/") + strlen("/devices/");
    char text[512];
    const char *const dot = strrchr(name, '.');
    if (dot && (strcmp(dot, ".unit") == 0 || strcmp(dot, ".scale") == 0 || strcmp(dot, ".snapshot") == 0))
        return;
    snprintf(text, sizeof text, "%.*s/%s/", (int)strcspn(pmu, "/"), pmu, name);
    list_event(l, "pmu", text, reason_of(try_text(l, text)));
}

static void list_pmu(struct event_listing *l, const char *folder, const char *name) {
    char events[PATH_MAX + 272];
    snprintf(events, sizeof events, "%s/%s//", folder, name);
    if (aux_kind_of(name))
        list_event(l, "pmu", events + strlen(folder) + 1, reason_of(try_text(l, events + strlen(folder) + 1)));
    snprintf(events, sizeof events, "%s/%s/events", folder, name);
    each_entry(l, events, list_pmu_event);
}

static void list_pmus(struct event_listing *l) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/bus/event_source/devices", l->kernel->sys);
    if (is_wanted(l, "pmu"))
        each_entry(l, folder, list_pmu);
}

/* --- tracepoints --- */

struct tracepoint_list {
    struct event_listing listing;
    const char *reason;
    bool tried;
};

static void list_point(struct event_listing *l, const char *folder, const char *name) {
    struct tracepoint_list *const p = (struct tracepoint_list *)l;
    const char *const system = strrchr(folder, '/') + 1;
    char text[512];
    const int64_t id = kernel_number(-1, folder, "%s/id", name);
    if (id < 0)
        return;
    if (!p->tried)
        p->reason = reason_of(try_event(l, PERF_TYPE_TRACEPOINT, (uint64_t)id, 1));
    p->tried = true;
    snprintf(text, sizeof text, "%s:%s", system, name);
    list_event(l, "tracepoint", text, p->reason);
}

static void list_system(struct event_listing *l, const char *folder, const char *name) {
    char points[PATH_MAX + 260];
    snprintf(points, sizeof points, "%s/%s", folder, name);
    each_entry(l, points, list_point);
}

static void list_tracepoints(struct event_listing *l) {
    char folder[PATH_MAX];
    struct tracepoint_list p = {.listing = *l};
    snprintf(folder, sizeof folder, "%s/events", l->kernel->tracing);
    if (!is_wanted(l, "tracepoint"))
        return;
    if (access(folder, R_OK | X_OK) == 0)
        each_entry(&p.listing, folder, list_system);
    else
        list_event(&p.listing, "tracepoint", "SYSTEM:NAME",
                   errno == EACCES ? "tracefs is not readable for this user; run perfray as root"
                                   : "tracefs is not mounted: mount -t tracefs none /sys/kernel/tracing");
    l->goes_on = p.listing.goes_on;
}

pfr_status pfr_recordable_list(const char *kind, bool (*row)(void *context, const pfr_recordable *what), void *context,
                               pfr_error *err) {
    static const char *const kinds[] = {"hardware", "software", "cache", "raw", "breakpoint", "pmu", "tracepoint"};
    struct event_listing l = {&real_kernel, kind, row, context, true};
    size_t known = 0;
    while (kind && known < 7 && strcmp(kinds[known], kind) != 0)
        known++;
    if (known == 7)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "kind", "'%.40s' is not a kind of event", kind);
    list_named(&l, PERF_TYPE_HARDWARE, kinds[0]);
    list_named(&l, PERF_TYPE_SOFTWARE, kinds[1]);
    list_caches(&l);
    list_raw(&l);
    list_breakpoint(&l);
    list_pmus(&l);
    list_tracepoints(&l);
    return PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each switch and each wake-up must be recorded, so these events have a period of their own, which -F and -c do not
 * change. If tracefs can be used: sched_switch and sched_waking with call chains on all CPUs, because any thread or the
 * kernel may end a wait. Otherwise: samples of context-switches with the user part of the call chain, and SWITCH
 * records.
 */
#include "off_cpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "outcome.h"

#define SWITCH "events/sched/sched_switch/format"

static bool can_read_tracefs(void) {
    return access("/sys/kernel/tracing/" SWITCH, R_OK) == 0 || access("/sys/kernel/debug/tracing/" SWITCH, R_OK) == 0;
}

/* perf_event_paranoid; 2 if it cannot be read. */
static long paranoid(void) {
    char text[32];
    long level = 2;
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    if (!file)
        return level;
    if (fgets(text, sizeof text, file))
        level = strtol(text, NULL, 10);
    fclose(file);
    return level;
}

/* perf_event_open(2) asks for capabilities of the initial user namespace, whose uid_map is the identity of all uids. */
static bool is_initial_namespace(void) {
    unsigned long inside = 0, outside = 0, count = 0;
    FILE *file = fopen("/proc/self/uid_map", "re");
    const bool is_read = file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3;
    if (file)
        fclose(file);
    return !is_read || (inside == 0 && outside == 0 && count == 4294967295ul);
}

/* CAP_PERFMON or CAP_SYS_ADMIN among the effective capabilities: bits 38 and 21 (linux/capability.h). Root of a
   container may have neither. */
static bool has_capability(void) {
    char line[256];
    bool has = false;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "CapEff:", 7) == 0)
            has = (strtoull(line + 7, NULL, 16) & (1ull << 38 | 1ull << 21)) != 0;
    if (file)
        fclose(file);
    return has && is_initial_namespace();
}

static bool add(struct off_cpu *lists, size_t *count, const char *event, const char *filter) {
    if (*count == OFF_CPU_EVENTS_MOST) {
        complain_as("perfray record", "--off-cpu: too many events, at most %u", OFF_CPU_EVENTS_MOST);
        return false;
    }
    lists->events[*count] = event;
    lists->filters[(*count)++] = filter;
    return true;
}

static void print_note(const pfr_recorder_options *how, const char *sentence) {
    if (how->note)
        how->note(how->context, sentence);
}

/* A context switch happens in the kernel, so without permission to sample the kernel there are no samples of
   switches. */
static void note_missing(const pfr_recorder_options *how, bool tracefs, bool stacks) {
    if (stacks)
        print_note(how,
                   "off-cpu: context-switches with call chains, and SWITCH records; missing: wakers, waits for a CPU");
    else
        print_note(
            how,
            "off-cpu: SWITCH records; missing: call chains and reasons (kernel.perf_event_paranoid at 1 or less, or "
            "CAP_PERFMON, allows them), wakers, waits for a CPU");
    print_note(how, !tracefs ? "off-cpu: tracefs is not readable: run as root with it mounted (mount -t tracefs nodev "
                               "/sys/kernel/tracing)"
                             : "off-cpu: tracepoints need CAP_PERFMON (root outside of a container has it), or "
                               "kernel.perf_event_paranoid = -1");
}

/* Records all CPUs, unless tasks or CPUs were named. */
static void choose_targets(pfr_recorder_options *how) {
    const bool chosen = how->pids || how->tids || how->user || how->cpus || how->cgroups || how->per_thread;
    if (!chosen)
        how->all_cpus = true;
    else if (!how->cpus)
        how->switches = true; /* no tracepoint of the task itself reports when it is switched in */
    print_note(how, chosen && !how->cpus
                        ? "off-cpu: sched_switch and sched_waking of the chosen tasks, and SWITCH records; "
                          "missing: wake-ups by other tasks (-a has them)"
                        : "off-cpu: sched_switch and sched_waking with call chains, of all threads");
}

bool off_cpu_add(pfr_recorder_options *how, struct off_cpu *lists) {
    const bool tracefs = can_read_tracefs(), allowed = has_capability() || paranoid() <= -1;
    size_t count = 0;
    for (size_t i = 0; how->events && how->events[i]; i++)
        if (!add(lists, &count, how->events[i], how->filters ? how->filters[i] : NULL))
            return false;
    if (how->chains == PFR_CHAINS_NONE)
        how->chains = PFR_CHAINS_FP;
    if (tracefs && allowed) {
        choose_targets(how);
        if (!add(lists, &count, "sched:sched_switch/period=1/", NULL) ||
            !add(lists, &count, "sched:sched_waking/period=1/", NULL))
            return false;
    } else {
        how->switches = true;
        note_missing(how, tracefs, allowed || paranoid() <= 1);
        if (!add(lists, &count, "context-switches/period=1/", NULL))
            return false;
    }
    how->events = lists->events;
    how->filters = lists->filters;
    return true;
}

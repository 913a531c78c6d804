/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of an event whose name was not recorded. It is built from the attr as in perf: a base name by type and
 * config, then `:` and the letters of the modes in which the event counts (docs/perf-data-format.md, EVENT_DESC).
 */
#include "file/read/event_name.h"

#include <stdio.h>

enum { HARDWARE, SOFTWARE, TRACEPOINT, HW_CACHE, RAW, BREAKPOINT };

#define NAME_ROOM 128

static const char *const hardware[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
static const char *const software[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                       "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                       "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
static const char *const operations[] = {"load", "store", "prefetch"};
static const char *const operations_many[] = {"loads", "stores", "prefetches"};

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static void hardware_name(char *to, uint64_t config) {
    const uint64_t id = config & UINT32_MAX;
    snprintf(to, NAME_ROOM, "%s", id < COUNT_OF(hardware) ? hardware[id] : "unknown-hardware");
}

static void software_name(char *to, uint64_t config) {
    snprintf(to, NAME_ROOM, "%s", config < COUNT_OF(software) ? software[config] : "unknown-software");
}

static void cache_name(char *to, uint64_t config) {
    const uint64_t id = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
    if (id >= COUNT_OF(caches) || op >= COUNT_OF(operations) || result > 1)
        snprintf(to, NAME_ROOM, "%s",
                 id >= COUNT_OF(caches)       ? "unknown-ext-hardware-cache-type"
                 : op >= COUNT_OF(operations) ? "unknown-ext-hardware-cache-op"
                                              : "unknown-ext-hardware-cache-result");
    else if (result == 1)
        snprintf(to, NAME_ROOM, "%s-%s-misses", caches[id], operations[op]);
    else
        snprintf(to, NAME_ROOM, "%s-%s", caches[id], operations_many[op]);
}

static void breakpoint_name(char *to, const struct pfr_rec_attr *attr) {
    const int used = snprintf(to, NAME_ROOM, "mem:0x%llx:", (unsigned long long)attr->config1);
    snprintf(to + used, NAME_ROOM - (size_t)used, "%s%s%s", attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
             attr->bp_type & 4 ? "x" : "");
}

/* Writes the modes under perf's conditions: k, u and h for kernel, user and hypervisor, unless all three are counted;
   one p per level of precision; H and G for host and guest. */
static void modifiers(char *to, const struct pfr_rec_attr_flags *f) {
    char *at = to;
    const bool any = f->exclude_user || f->exclude_kernel || f->exclude_hv;
    *at++ = ':';
    if (any) {
        if (!f->exclude_kernel)
            *at++ = 'k';
        if (!f->exclude_user)
            *at++ = 'u';
        if (!f->exclude_hv)
            *at++ = 'h';
    }
    for (uint32_t i = 0; i < f->precise_ip; i++)
        *at++ = 'p';
    const bool written = any || f->precise_ip;
    if (f->exclude_host || (bool)f->exclude_guest == written) {
        if (!f->exclude_host)
            *at++ = 'H';
        if (!f->exclude_guest)
            *at++ = 'G';
    }
    if (at == to + 1)
        at--;
    *at = 0;
}

const char *event_name_make(pfr_reader *r, const struct pfr_rec_attr *attr) {
    char name[NAME_ROOM * 2];
    bool modes = true;
    if (attr->type == HARDWARE)
        hardware_name(name, attr->config);
    else if (attr->type == SOFTWARE)
        software_name(name, attr->config);
    else if (attr->type == HW_CACHE)
        cache_name(name, attr->config);
    else if (attr->type == BREAKPOINT)
        breakpoint_name(name, attr);
    else if (attr->type == RAW)
        snprintf(name, NAME_ROOM, "raw 0x%llx", (unsigned long long)attr->config);
    else if (attr->type == TRACEPOINT)
        snprintf(name, NAME_ROOM, "unknown tracepoint"), modes = false;
    else
        snprintf(name, NAME_ROOM, "unknown attr type: %u", attr->type), modes = false;
    if (modes)
        modifiers(name + strlen(name), &attr->flags);
    return arena_text(&r->arena, name, strlen(name));
}

const char *event_unit(const pfr_event *event) {
    const bool is_clock = event->attr.type == SOFTWARE && event->attr.config < 2; /* cpu-clock, task-clock */
    if (event->unit && event->scale == 1)
        return event->unit;
    return is_clock ? "ns" : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the events known on every machine: linux/perf_event.h (enum perf_hw_id, perf_sw_ids, perf_hw_cache_id,
 * _op_id, _op_result_id), as perf-list(1) spells them. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "record/event/event.h"

#define HW(name, alias, id)                                                                                            \
    { name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id }
#define SW(name, alias, id)                                                                                            \
    { name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id }

const struct event_name event_names[] = {
    HW("cpu-cycles", "cycles", CPU_CYCLES),
    HW("instructions", NULL, INSTRUCTIONS),
    HW("cache-references", NULL, CACHE_REFERENCES),
    HW("cache-misses", NULL, CACHE_MISSES),
    HW("branch-instructions", "branches", BRANCH_INSTRUCTIONS),
    HW("branch-misses", NULL, BRANCH_MISSES),
    HW("bus-cycles", NULL, BUS_CYCLES),
    HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
    HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND),
    HW("ref-cycles", NULL, REF_CPU_CYCLES),
    SW("cpu-clock", NULL, CPU_CLOCK),
    SW("task-clock", NULL, TASK_CLOCK),
    SW("page-faults", "faults", PAGE_FAULTS),
    SW("context-switches", "cs", CONTEXT_SWITCHES),
    SW("cpu-migrations", "migrations", CPU_MIGRATIONS),
    SW("minor-faults", NULL, PAGE_FAULTS_MIN),
    SW("major-faults", NULL, PAGE_FAULTS_MAJ),
    SW("alignment-faults", NULL, ALIGNMENT_FAULTS),
    SW("emulation-faults", NULL, EMULATION_FAULTS),
    SW("dummy", NULL, DUMMY),
    SW("bpf-output", NULL, BPF_OUTPUT),
    SW("cgroup-switches", NULL, CGROUP_SWITCHES),
    {NULL, NULL, 0, 0},
};

static const struct {
    const char *names[4];
} caches[] = {{{"L1-dcache", "l1-d", "l1d"}},
              {{"L1-icache", "l1-i", "l1i"}},
              {{"LLC", "L2"}},
              {{"dTLB", "d-tlb"}},
              {{"iTLB", "i-tlb"}},
              {{"branch", "branches", "bpu"}},
              {{"node"}}};

/* The first six names are those that cache_what returns. The others are alternative spellings. */
static const struct {
    const char *name;
    uint8_t operation, result;
} accesses[] = {
    {"loads", 0, 0},      {"load-misses", 0, 1},     {"stores", 1, 0},        {"store-misses", 1, 1},
    {"prefetches", 2, 0}, {"prefetch-misses", 2, 1}, {"load", 0, 0},          {"read", 0, 0},
    {"load-refs", 0, 0},  {"read-misses", 0, 1},     {"load-miss", 0, 1},     {"misses", 0, 1},
    {"refs", 0, 0},       {"store", 1, 0},           {"write", 1, 0},         {"write-misses", 1, 1},
    {"store-refs", 1, 0}, {"prefetch", 2, 0},        {"prefetch-refs", 2, 0}, {"prefetch-miss", 2, 1},
};

static bool access_of(const char *text, size_t length, uint64_t *config) {
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        if (strlen(accesses[i].name) == length && strncasecmp(accesses[i].name, text, length) == 0) {
            *config = (uint64_t)accesses[i].operation << 8 | (uint64_t)accesses[i].result << 16;
            return true;
        }
    *config = 0;
    return length == 0;
}

static bool cache_event_of(unsigned cache, const char *text, size_t length, uint64_t *config) {
    for (unsigned i = 0; i < 4 && caches[cache].names[i]; i++) {
        const size_t head = strlen(caches[cache].names[i]);
        if (length < head || strncasecmp(text, caches[cache].names[i], head) != 0)
            continue;
        const bool whole = length == head;
        if ((whole || text[head] == '-') && access_of(text + head + !whole, length - head - !whole, config)) {
            *config |= cache;
            return true;
        }
    }
    return false;
}

bool cache_event(const char *text, size_t length, uint64_t *config) {
    for (unsigned i = 0; i < sizeof caches / sizeof *caches; i++)
        if (cache_event_of(i, text, length, config))
            return true;
    return false;
}

const char *cache_name(unsigned number) {
    return number < sizeof caches / sizeof *caches ? caches[number].names[0] : NULL;
}

const char *cache_what(unsigned number) {
    return number < 6 ? accesses[number].name : NULL;
}

/* Modifiers are chosen as perf chooses them for events whose names were not typed. */
size_t event_name_of(const struct perf_event_attr *attr, const char *plain, char *to, size_t room) {
    const bool modes = attr->exclude_kernel || attr->exclude_user || attr->exclude_hv;
    const bool no_guests_meant = modes || attr->precise_ip;
    const bool machines = attr->exclude_host || attr->exclude_guest == no_guests_meant;
    char letters[16] = "";
    snprintf(letters, sizeof letters, "%s%s%s%.*s%s%s", modes && !attr->exclude_kernel ? "k" : "",
             modes && !attr->exclude_user ? "u" : "", modes && !attr->exclude_hv ? "h" : "", (int)attr->precise_ip,
             "ppp", machines && !attr->exclude_host ? "H" : "", machines && !attr->exclude_guest ? "G" : "");
    const int length = snprintf(to, room, "%s%s%s", plain, *letters ? ":" : "", letters);
    return length > 0 ? (size_t)length : 0;
}

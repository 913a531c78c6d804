/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header features about the machine and the recording, with payloads as in wire/perf_features.def. The table has one
 * row per feature. If the function of a row finds no data, the feature is not written.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include "record/contents/machine.h"
#include "record/contents/machine_cpus.h"
#include "record/contents/machine_feature.h"
#include "wire/feature_bits.h"

static bool put_text(struct output *payload, const char *text) {
    feature_text(payload, text);
    return *text != '\0';
}

/* --- functions of rows: false if there is nothing to write --- */

static bool put_hostname(pfr_recorder *r, struct output *payload) {
    struct utsname names;
    (void)r;
    return uname(&names) == 0 && put_text(payload, names.nodename);
}

static bool put_release(pfr_recorder *r, struct output *payload) {
    struct utsname names;
    (void)r;
    return uname(&names) == 0 && put_text(payload, names.release);
}

static bool put_arch(pfr_recorder *r, struct output *payload) {
    struct utsname names;
    (void)r;
    return uname(&names) == 0 && put_text(payload, names.machine);
}

static bool put_version(pfr_recorder *r, struct output *payload) {
    return put_text(payload, r->options.version ? r->options.version : "perfray");
}

/* The last number of a CPU list such as "0-3,5". */
static long last_number(const char *list) {
    const char *at = list + strlen(list);
    while (at > list && isdigit((unsigned char)at[-1]))
        at--;
    return strtol(at, NULL, 10);
}

static bool put_nrcpus(pfr_recorder *r, struct output *payload) {
    char present[4096];
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const bool known = kernel_text(present, sizeof present, r->kernel->sys, "devices/system/cpu/present") > 0;
    feature_u32(payload, (uint32_t)(known ? last_number(present) + 1 : sysconf(_SC_NPROCESSORS_CONF)));
    feature_u32(payload, (uint32_t)online);
    return true;
}

/* Copies the value of the first line "KEY : value" of /proc/cpuinfo, with runs of spaces reduced to one space. */
static bool cpuinfo(const pfr_recorder *r, const char *key, char *to, size_t room) {
    char text[8192];
    size_t used = 0;
    if (kernel_text(text, sizeof text, r->kernel->proc, "cpuinfo") <= 0)
        return false;
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const size_t length = strlen(key);
        const char *const colon = strchr(line, ':');
        if (strncmp(line, key, length) != 0 || !colon ||
            strspn(line + length, " \t") + length != (size_t)(colon - line))
            continue;
        const char *at = colon + 1 + strspn(colon + 1, " \t");
        for (; *at && *at != '\n' && used + 1 < room; at++)
            if (*at != ' ' || at[1] != ' ')
                to[used++] = *at;
        to[used] = '\0';
        return used > 0;
    }
    return false;
}

static bool put_cpudesc(pfr_recorder *r, struct output *payload) {
    static const char *const keys[] = {"model name", "cpu model", "Processor", "uarch", "cpu"};
    char text[256];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (cpuinfo(r, keys[i], text, sizeof text))
            return put_text(payload, text);
    return false;
}

static bool put_cpuid(pfr_recorder *r, struct output *payload) {
    char vendor[64], family[16], model[16], stepping[16], text[160];
    if (cpuinfo(r, "vendor_id", vendor, sizeof vendor) && cpuinfo(r, "cpu family", family, sizeof family) &&
        cpuinfo(r, "model", model, sizeof model) && cpuinfo(r, "stepping", stepping, sizeof stepping)) {
        snprintf(text, sizeof text, "%s,%s,%s,%s", vendor, family, model, stepping);
        return put_text(payload, text);
    }
    return kernel_text(text, sizeof text, r->kernel->sys, "devices/system/cpu/cpu0/regs/identification/midr_el1") > 0 &&
           put_text(payload, text);
}

static bool put_total_mem(pfr_recorder *r, struct output *payload) {
    char text[4096];
    if (kernel_text(text, sizeof text, r->kernel->proc, "meminfo") <= 0)
        return false;
    const char *const line = strstr(text, "MemTotal:");
    feature_u64(payload, line ? strtoull(line + 9, NULL, 10) : 0);
    return line != NULL;
}

static bool put_cmdline(pfr_recorder *r, struct output *payload) {
    char path[PATH_MAX];
    const char *const *const words = r->options.words;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    uint32_t count = 0;
    while (words && words[count])
        count++;
    path[length > 0 ? length : 0] = '\0';
    feature_u32(payload, count + 1);
    feature_text(payload, path);
    for (uint32_t i = 0; i < count; i++)
        feature_text(payload, words[i]);
    return true;
}

static bool put_event_desc(pfr_recorder *r, struct output *payload) {
    feature_u32(payload, (uint32_t)r->events.count);
    feature_u32(payload, sizeof(struct perf_event_attr));
    for (uint32_t i = 0; i < r->events.count; i++) {
        uint32_t ids = 0;
        for (size_t c = 0; c < r->nr_counters; c++)
            ids += r->counters[c].event == i;
        out_write(payload, &r->events.at[i].attr, sizeof r->events.at[i].attr);
        feature_u32(payload, ids);
        feature_text(payload, r->events.at[i].name);
        for (size_t c = 0; c < r->nr_counters; c++)
            if (r->counters[c].event == i)
                feature_u64(payload, r->counters[c].id);
    }
    return true;
}

static bool put_branch_stack(pfr_recorder *r, struct output *payload) {
    (void)payload;
    for (size_t i = 0; i < r->events.count; i++)
        if (r->events.at[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
            return true;
    return false;
}

static bool put_groups(pfr_recorder *r, struct output *payload) {
    uint32_t groups = 0;
    for (uint32_t i = 0; i < r->events.count; i++)
        groups += r->events.at[i].members > 1;
    feature_u32(payload, groups);
    for (uint32_t i = 0; i < r->events.count; i++)
        if (r->events.at[i].members > 1) {
            feature_text(payload, "{anon_group}");
            feature_u32(payload, i);
            feature_u32(payload, r->events.at[i].members);
        }
    return groups > 0;
}

/* Calls `put` for each PMU in order of names. Returns the number of calls that returned true. */
static uint32_t each_pmu(pfr_recorder *r, struct output *to,
                         bool (*put)(pfr_recorder *r, const char *name, struct output *to)) {
    char path[PATH_MAX];
    struct dirent **names;
    uint32_t taken = 0;
    snprintf(path, sizeof path, "%s/bus/event_source/devices", r->kernel->sys);
    const int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.')
            taken += put(r, names[i]->d_name, to);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return taken;
}

static bool put_pmu(pfr_recorder *r, const char *name, struct output *to) {
    const int64_t type = pmu_type(r->kernel, name);
    if (type < 0)
        return false;
    feature_u32(to, (uint32_t)type);
    feature_text(to, name);
    return true;
}

/* Writes a count and then a list. The count is known only when the list is complete. */
static bool put_counted(pfr_recorder *r, struct output *payload,
                        bool (*put)(pfr_recorder *r, const char *name, struct output *to)) {
    struct output rows;
    size_t length;
    out_open_memory(&rows, &r->memory);
    const uint32_t count = each_pmu(r, &rows, put);
    const char *const bytes = out_bytes(&rows, &length);
    feature_u32(payload, count);
    if (length)
        out_write(payload, bytes, length);
    if (rows.status < 0)
        payload->status = rows.status;
    out_close(&rows, NULL);
    return true;
}

static bool put_pmus(pfr_recorder *r, struct output *payload) {
    return put_counted(r, payload, put_pmu);
}

static bool put_cap(pfr_recorder *r, const char *pmu, const char *cap, struct output *to) {
    char value[256];
    if (cap[0] == '.' ||
        kernel_text(value, sizeof value, r->kernel->sys, "bus/event_source/devices/%s/caps/%s", pmu, cap) < 0)
        return false;
    feature_text(to, cap);
    feature_text(to, value);
    return true;
}

static uint32_t count_caps(DIR *folder) {
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    rewinddir(folder);
    return count;
}

static bool put_caps_of(pfr_recorder *r, const char *name, struct output *to) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/caps", r->kernel->sys, name);
    DIR *const folder = opendir(path);
    if (!folder)
        return false;
    const uint32_t count = count_caps(folder);
    if (count)
        feature_u32(to, count);
    for (struct dirent *entry; count && (entry = readdir(folder));)
        put_cap(r, name, entry->d_name, to);
    closedir(folder);
    if (count)
        feature_text(to, name);
    return count > 0;
}

static bool put_caps(pfr_recorder *r, struct output *payload) {
    return put_counted(r, payload, put_caps_of);
}

static bool put_clockid(pfr_recorder *r, struct output *payload) {
    struct timespec step;
    if (!r->options.clock || clock_getres((clockid_t)r->clock.id, &step) != 0)
        return false;
    feature_u64(payload, (uint64_t)step.tv_sec * 1000000000u + (uint64_t)step.tv_nsec);
    return true;
}

static bool put_clock_data(pfr_recorder *r, struct output *payload) {
    feature_u32(payload, 1);
    feature_u32(payload, (uint32_t)r->clock.id);
    feature_u64(payload, r->clock.wall_ns);
    feature_u64(payload, r->clock.ns);
    return r->options.clock != NULL;
}

static const struct {
    uint32_t bit;
    bool (*put)(pfr_recorder *r, struct output *payload);
} features[] = {
    {BIT_HOSTNAME, put_hostname},
    {BIT_OSRELEASE, put_release},
    {BIT_VERSION, put_version},
    {BIT_ARCH, put_arch},
    {BIT_NRCPUS, put_nrcpus},
    {BIT_CPUDESC, put_cpudesc},
    {BIT_CPUID, put_cpuid},
    {BIT_TOTAL_MEM, put_total_mem},
    {BIT_CMDLINE, put_cmdline},
    {BIT_EVENT_DESC, put_event_desc},
    {BIT_BRANCH_STACK, put_branch_stack},
    {BIT_PMU_MAPPINGS, put_pmus},
    {BIT_GROUP_DESC, put_groups},
    {BIT_CLOCKID, put_clockid},
    {BIT_CLOCK_DATA, put_clock_data},
    {BIT_PMU_CAPS, put_caps},
};

pfr_status machine_put_events(pfr_recorder *r, pfr_error *err) {
    struct output payload;
    out_open_memory(&payload, &r->memory);
    put_event_desc(r, &payload);
    const pfr_status status = machine_feature(r, BIT_EVENT_DESC, &payload, err);
    out_close(&payload, NULL);
    return status;
}

pfr_status machine_put(pfr_recorder *r, pfr_error *err) {
    struct output payload;
    pfr_status status = PFR_OK;
    out_open_memory(&payload, &r->memory);
    for (size_t i = 0; i < sizeof features / sizeof *features && status == PFR_OK; i++) {
        if (features[i].put(r, &payload))
            status = machine_feature(r, features[i].bit, &payload, err);
        out_clear(&payload);
    }
    if (status == PFR_OK)
        status = machine_put_cpus(r, err);
    out_close(&payload, NULL);
    return status;
}

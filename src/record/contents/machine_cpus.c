/* SPDX-License-Identifier: Apache-2.0 */
/* Features CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE and MEM_TOPOLOGY, from sysfs:
 * Documentation/ABI/stable/sysfs-devices-system-cpu and -node. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/contents/machine_cpus.h"
#include "record/contents/machine_feature.h"
#include "wire/feature_bits.h"

#define LIST_MOST 1024u
#define CPU "devices/system/cpu/cpu%ld/"
#define NODE "devices/system/node/node%ld/"
#define INDEX_MOST 16
#define NODE_MOST 1024
#define BLOCK_WORDS 1024 /* 64-bit words: enough bits for the memory blocks of a node */

struct sysfs {
    const char *sys, *proc;
    long cpus; /* number of available CPUs */
};

/* --- topology --- */

/* Whether a CPU must write a list of CPUs: each list is written only once, for the first CPU in it. */
static bool writes_list(const struct sysfs *in, long cpu, const char *file, char list[LIST_MOST]) {
    char path[64];
    snprintf(path, sizeof path, CPU "topology/%s", cpu, file);
    return kernel_text(list, LIST_MOST, in->sys, "%s", path) > 0 && strtol(list, NULL, 10) == cpu;
}

static void put_lists(const struct sysfs *in, const char *file, struct output *payload) {
    char list[LIST_MOST];
    uint32_t count = 0;
    for (long cpu = 0; cpu < in->cpus; cpu++)
        count += writes_list(in, cpu, file, list);
    feature_u32(payload, count);
    for (long cpu = 0; cpu < in->cpus; cpu++)
        if (writes_list(in, cpu, file, list))
            feature_text(payload, list);
}

static int64_t of_cpu(const struct sysfs *in, long cpu, const char *file) {
    return kernel_number(-1, in->sys, CPU "topology/%s", cpu, file);
}

static bool put_topology(const struct sysfs *in, struct output *payload) {
    put_lists(in, "core_siblings_list", payload);
    put_lists(in, "thread_siblings_list", payload);
    for (long cpu = 0; cpu < in->cpus; cpu++) {
        feature_u32(payload, (uint32_t)of_cpu(in, cpu, "core_id"));
        feature_u32(payload, (uint32_t)of_cpu(in, cpu, "physical_package_id"));
    }
    if (of_cpu(in, 0, "die_id") < 0)
        return true;
    put_lists(in, "die_cpus_list", payload);
    for (long cpu = 0; cpu < in->cpus; cpu++)
        feature_u32(payload, (uint32_t)of_cpu(in, cpu, "die_id"));
    return true;
}

/* --- nodes --- */

static uint64_t node_memory(const struct sysfs *in, long node, const char *key) {
    char text[4096];
    if (kernel_text(text, sizeof text, in->sys, NODE "meminfo", node) <= 0)
        return 0;
    const char *const line = strstr(text, key);
    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* The highest node number, or -1. */
static long last_node(const struct sysfs *in) {
    char list[LIST_MOST];
    if (kernel_text(list, sizeof list, in->sys, "devices/system/node/online") <= 0)
        return -1;
    const char *at = list + strlen(list);
    while (at > list && at[-1] >= '0' && at[-1] <= '9')
        at--;
    const long last = strtol(at, NULL, 10);
    return last < NODE_MOST ? last : NODE_MOST - 1;
}

static bool node_cpus(const struct sysfs *in, long node, char list[LIST_MOST]) {
    return kernel_text(list, LIST_MOST, in->sys, NODE "cpulist", node) >= 0;
}

static bool put_nodes(const struct sysfs *in, struct output *payload) {
    char list[LIST_MOST];
    uint32_t count = 0;
    const long last = last_node(in);
    for (long node = 0; node <= last; node++)
        count += node_cpus(in, node, list);
    feature_u32(payload, count);
    for (long node = 0; node <= last; node++)
        if (node_cpus(in, node, list)) {
            feature_u32(payload, (uint32_t)node);
            feature_u64(payload, node_memory(in, node, "MemTotal:"));
            feature_u64(payload, node_memory(in, node, "MemFree:"));
            feature_text(payload, list);
        }
    return count > 0;
}

/* --- caches --- */

static bool put_cache(const struct sysfs *in, long cpu, int index, int64_t level, struct output *payload) {
    char type[64], size[64], map[LIST_MOST];
    if (kernel_number(-1, in->sys, CPU "cache/index%d/level", cpu, index) != level ||
        kernel_text(map, sizeof map, in->sys, CPU "cache/index%d/shared_cpu_list", cpu, index) < 0 ||
        strtol(map, NULL, 10) != cpu)
        return false;
    if (!payload)
        return true;
    kernel_text(type, sizeof type, in->sys, CPU "cache/index%d/type", cpu, index);
    kernel_text(size, sizeof size, in->sys, CPU "cache/index%d/size", cpu, index);
    feature_u32(payload, (uint32_t)level);
    feature_u32(payload, (uint32_t)kernel_number(0, in->sys, CPU "cache/index%d/coherency_line_size", cpu, index));
    feature_u32(payload, (uint32_t)kernel_number(0, in->sys, CPU "cache/index%d/number_of_sets", cpu, index));
    feature_u32(payload, (uint32_t)kernel_number(0, in->sys, CPU "cache/index%d/ways_of_associativity", cpu, index));
    feature_text(payload, type);
    feature_text(payload, size);
    feature_text(payload, map);
    return true;
}

static uint32_t each_cache(const struct sysfs *in, struct output *payload) {
    uint32_t count = 0;
    for (int64_t level = 1; level <= 4; level++)
        for (long cpu = 0; cpu < in->cpus; cpu++)
            for (int index = 0; index < INDEX_MOST; index++) {
                if (kernel_number(-1, in->sys, CPU "cache/index%d/level", cpu, index) < 0)
                    break;
                count += put_cache(in, cpu, index, level, payload);
            }
    return count;
}

static bool put_caches(const struct sysfs *in, struct output *payload) {
    const uint32_t count = each_cache(in, NULL);
    feature_u32(payload, 1);
    feature_u32(payload, count);
    each_cache(in, payload);
    return true; /* perf writes the feature even if the machine reports no caches */
}

/* --- memory blocks --- */

/* Sets the bits of a node's memory blocks. Returns the number of its highest block + 1; 0: no such node. */
static uint64_t node_blocks(const struct sysfs *in, long node, uint64_t bits[BLOCK_WORDS]) {
    char path[PATH_MAX];
    uint64_t end = 0;
    snprintf(path, sizeof path, "%s/" NODE, in->sys, node);
    DIR *const folder = opendir(path);
    memset(bits, 0, BLOCK_WORDS * sizeof *bits);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        unsigned long block;
        if (sscanf(entry->d_name, "memory%lu", &block) != 1 || block >= 64ul * BLOCK_WORDS)
            continue;
        bits[block / 64] |= 1ull << block % 64;
        end = block + 1 > end ? block + 1 : end;
    }
    if (folder)
        closedir(folder);
    return end;
}

static bool put_blocks(const struct sysfs *in, struct output *payload) {
    uint64_t bits[BLOCK_WORDS], count = 0;
    char size[64];
    const long last = last_node(in);
    if (kernel_text(size, sizeof size, in->sys, "devices/system/memory/block_size_bytes") <= 0)
        return false;
    for (long node = 0; node <= last; node++)
        count += node_blocks(in, node, bits) > 0;
    feature_u64(payload, 1);
    feature_u64(payload, strtoull(size, NULL, 16));
    feature_u64(payload, count);
    for (long node = 0; node <= last; node++) {
        const uint64_t end = node_blocks(in, node, bits);
        if (!end)
            continue;
        feature_u64(payload, (uint64_t)node);
        feature_u64(payload, end);
        feature_u64(payload, end);
        out_write(payload, bits, (end + 63) / 64 * sizeof *bits);
    }
    return count > 0;
}

static const struct {
    uint32_t bit;
    bool (*put)(const struct sysfs *in, struct output *payload);
} features[] = {
    {BIT_CPU_TOPOLOGY, put_topology},
    {BIT_NUMA_TOPOLOGY, put_nodes},
    {BIT_CACHE, put_caches},
    {BIT_MEM_TOPOLOGY, put_blocks},
};

static long available_cpus(const struct kernel *kernel) {
    char present[4096];
    if (kernel_text(present, sizeof present, kernel->sys, "devices/system/cpu/present") <= 0)
        return sysconf(_SC_NPROCESSORS_CONF);
    const char *at = present + strlen(present);
    while (at > present && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return strtol(at, NULL, 10) + 1;
}

pfr_status machine_put_cpus(pfr_recorder *r, pfr_error *err) {
    const struct sysfs in = {r->kernel->sys, r->kernel->proc, available_cpus(r->kernel)};
    const bool stream = strcmp(r->file.path, "-") == 0; /* perf refuses CACHE in a stream */
    struct output payload;
    pfr_status status = PFR_OK;
    out_open_memory(&payload, &r->memory);
    for (size_t i = 0; i < sizeof features / sizeof *features && status == PFR_OK; i++) {
        if (!(stream && features[i].bit == BIT_CACHE) && features[i].put(&in, &payload))
            status = machine_feature(r, features[i].bit, &payload, err);
        out_clear(&payload);
    }
    out_close(&payload, NULL);
    return status;
}

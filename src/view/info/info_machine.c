/* SPDX-License-Identifier: Apache-2.0 */
/* The features that describe the machine: names, CPUs, memory, caches, PMUs. */
#include "view/info/info_feature.h"

#define STRING_FEATURE(feature_name, words)                                                                            \
    void say_##feature_name(const struct feature_scene *scene, const pfr_feature *feature) {                           \
        struct pfr_rec_feature_##feature_name body;                                                                    \
        if (decode_feature(scene, feature, &body, sizeof body))                                                        \
            say_string_line(scene->to, words, &body.feature_name);                                                     \
    }

static void say_string_line(pfr_output *to, const char *words, const pfr_text *text) {
    say(to, "# %s : ", words);
    say_view(to, text);
    say(to, "\n");
}

STRING_FEATURE(hostname, "hostname")
STRING_FEATURE(osrelease, "os release")
STRING_FEATURE(version, "perf version")
STRING_FEATURE(arch, "arch")
STRING_FEATURE(cpudesc, "cpudesc")
STRING_FEATURE(cpuid, "cpuid")

void say_nrcpus(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_nrcpus body;
    if (decode_feature(scene, feature, &body, sizeof body))
        say(scene->to, "# nrcpus online : %" PRIu32 "\n# nrcpus avail : %" PRIu32 "\n", body.online, body.available);
}

void say_total_mem(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_total_mem body;
    if (decode_feature(scene, feature, &body, sizeof body))
        say(scene->to, "# total memory : %" PRIu64 " kB\n", body.total_mem);
}

static void say_siblings(pfr_output *to, const char *words, const pfr_items *siblings) {
    struct pfr_rec_string cpus;
    EACH_PART(siblings, cpus)
    say_string_line(to, words, &cpus.text);
}

/* Size of the strings as computed by perf: each is padded to a multiple of 64, whatever length is recorded. */
static uint64_t size_by_perf(const pfr_items *strings) {
    struct pfr_rec_string string;
    uint64_t size = 4;
    EACH_PART(strings, string)
    size += 4 + ((string.text.length + 64ull) & ~63ull);
    return size;
}

/*
 * Whether perf finds the arrays of core and socket ids: it expects them where the strings before them would end if they
 * were padded. On most machines perf also rejects socket ids above the number of CPUs; this is not checked here.
 */
static bool has_places(const pfr_feature *feature, const struct pfr_rec_feature_cpu_topology *body) {
    return body->cpus.count &&
           feature->bytes.length > size_by_perf(&body->core_siblings) + size_by_perf(&body->thread_siblings);
}

static void say_places(pfr_output *to, const struct pfr_rec_feature_cpu_topology *body, bool dies) {
    struct pfr_rec_core_and_socket place;
    struct pfr_rec_die die;
    pfr_items_iter die_iter = pfr_items_begin(&body->die_ids);
    int cpu = 0;
    EACH_PART(&body->cpus, place) {
        say(to, "# CPU %d: Core ID %d, ", cpu++, (int)place.core_id);
        if (dies && pfr_items_next(&die_iter, &die, sizeof die, NULL) == PFR_OK)
            say(to, "Die ID %d, ", (int)die.die_id);
        say(to, "Socket ID %d\n", (int)place.socket_id);
    }
}

void say_cpu_topology(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_cpu_topology body;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    const bool places = has_places(feature, &body), dies = places && body.nr_dies > 0;
    say_siblings(scene->to, "sibling sockets", &body.core_siblings);
    if (dies)
        say_siblings(scene->to, "sibling dies   ", &body.die_siblings);
    say_siblings(scene->to, "sibling threads", &body.thread_siblings);
    if (places)
        say_places(scene->to, &body, dies);
    else
        say(scene->to, "# Core ID and Socket ID information is not available\n");
}

void say_numa_topology(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_numa_topology body;
    struct pfr_rec_numa_node node;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    EACH_PART(&body.nodes, node) {
        say(scene->to, "# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64 " kB\n", node.node,
            node.mem_total, node.mem_free);
        say(scene->to, "# node%" PRIu32 " cpu list : ", node.node);
        say_view(scene->to, &node.cpus);
        say(scene->to, "\n");
    }
}

void say_pmu_mappings(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_pmu_mappings body;
    struct pfr_rec_pmu_mapping pmu;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    const char *before = "";
    say(scene->to, "# pmu mappings: %s", body.pmus.count ? "" : "not available");
    EACH_PART(&body.pmus, pmu) {
        say(scene->to, "%s", before);
        say_view(scene->to, &pmu.name);
        say(scene->to, " = %" PRIu32, pmu.type);
        before = ", ";
    }
    say(scene->to, "\n");
}

void say_cache(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_cache body;
    struct pfr_rec_cache_level cache;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# CPU cache info:\n");
    EACH_PART(&body.caches, cache) {
        say(scene->to, "#  L%" PRIu32 " ", cache.level);
        say_view_left(scene->to, &cache.type, 15);
        say(scene->to, " ");
        say_view_right(scene->to, &cache.size, 8);
        say(scene->to, " [");
        say_view(scene->to, &cache.map);
        say(scene->to, "]\n");
    }
}

static uint64_t count_bits(const pfr_u64s *words, uint64_t bits) {
    uint64_t set = 0;
    for (uint64_t bit = 0; bit < bits; bit++)
        set += pfr_u64s_at(words, bit / 64) >> bit % 64 & 1;
    return set;
}

void say_mem_topology(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_mem_topology body;
    struct pfr_rec_memory_node node;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", body.nr, body.block_size);
    EACH_PART(&body.nodes, node) {
        say(scene->to, "#  %3" PRIu64 " [", node.node);
        say_bytes_unit(scene->to, body.block_size * count_bits(&node.bitmap, node.bits));
        say(scene->to, "]: ");
        say_bit_ranges(scene->to, &node.bitmap, node.bits);
        say(scene->to, "\n");
    }
}

static void say_caps(pfr_output *to, const pfr_items *caps) {
    struct pfr_rec_pmu_cap cap;
    const char *before = "";
    say(to, " pmu capabilities: %s", caps->count ? "" : "not available");
    EACH_PART(caps, cap) {
        say(to, "%s", before);
        say_view(to, &cap.name);
        say(to, "=");
        say_view(to, &cap.value);
        before = ", ";
    }
    say(to, "\n");
}

void say_cpu_pmu_caps(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_cpu_pmu_caps body;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# cpu");
    say_caps(scene->to, &body.caps);
}

void say_pmu_caps(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_pmu_caps body;
    struct pfr_rec_pmu_caps_entry pmu;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    EACH_PART(&body.pmus, pmu) {
        say(scene->to, "# ");
        say_view(scene->to, &pmu.pmu_name);
        say_caps(scene->to, &pmu.caps);
    }
}

void say_hybrid_topology(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_hybrid_topology body;
    struct pfr_rec_hybrid_pmu pmu;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# hybrid cpu system:\n");
    EACH_PART(&body.pmus, pmu) {
        say(scene->to, "# ");
        say_view(scene->to, &pmu.pmu_name);
        say(scene->to, " cpu list : ");
        say_view(scene->to, &pmu.cpus);
        say(scene->to, "\n");
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header as printed by `perf report --header-only -I`. For a file: all features, in the order of their bits,
 * between two lines "# ========". For a stream: these lines without features, then each feature when its record
 * arrives, up to the record that ends the features.
 */
#include <time.h>
#include "view/info/info_header.h"
#include "view/info/info_feature.h"
#include "wire/layout.h"
#include "wire/names.h"

#define FEATURES_OF_PERF 32u /* perf 6.1 knows the feature bits below this number */

static feature_printer *const feature_printers[FEATURES_OF_PERF] = {
    [PFR_FEATURE_HOSTNAME] = say_hostname,
    [PFR_FEATURE_OSRELEASE] = say_osrelease,
    [PFR_FEATURE_VERSION] = say_version,
    [PFR_FEATURE_ARCH] = say_arch,
    [PFR_FEATURE_NRCPUS] = say_nrcpus,
    [PFR_FEATURE_CPUDESC] = say_cpudesc,
    [PFR_FEATURE_CPUID] = say_cpuid,
    [PFR_FEATURE_TOTAL_MEM] = say_total_mem,
    [PFR_FEATURE_CMDLINE] = say_cmdline,
    [PFR_FEATURE_EVENT_DESC] = say_event_desc,
    [PFR_FEATURE_CPU_TOPOLOGY] = say_cpu_topology,
    [PFR_FEATURE_NUMA_TOPOLOGY] = say_numa_topology,
    [PFR_FEATURE_BRANCH_STACK] = say_branch_stack,
    [PFR_FEATURE_PMU_MAPPINGS] = say_pmu_mappings,
    [PFR_FEATURE_GROUP_DESC] = say_group_desc,
    [PFR_FEATURE_AUXTRACE] = say_auxtrace,
    [PFR_FEATURE_STAT] = say_stat,
    [PFR_FEATURE_CACHE] = say_cache,
    [PFR_FEATURE_SAMPLE_TIME] = say_sample_time,
    [PFR_FEATURE_MEM_TOPOLOGY] = say_mem_topology,
    [PFR_FEATURE_CLOCKID] = say_clockid,
    [PFR_FEATURE_DIR_FORMAT] = say_dir_format,
    [PFR_FEATURE_BPF_PROG_INFO] = say_bpf_prog_info,
    [PFR_FEATURE_BPF_BTF] = say_bpf_btf,
    [PFR_FEATURE_COMPRESSED] = say_compressed,
    [PFR_FEATURE_CPU_PMU_CAPS] = say_cpu_pmu_caps,
    [PFR_FEATURE_CLOCK_DATA] = say_clock_data,
    [PFR_FEATURE_HYBRID_TOPOLOGY] = say_hybrid_topology,
    [PFR_FEATURE_PMU_CAPS] = say_pmu_caps,
};

/* Features that perf prints in full only with -I: topologies, caches, memory. */
#define LONG_FEATURES (1u << 13 | 1u << 14 | 1u << 20 | 1u << 22 | 1u << 30)

void say_feature(const struct feature_scene *scene, const pfr_feature *feature) {
    if (scene->brief && feature->bit < FEATURES_OF_PERF && LONG_FEATURES >> feature->bit & 1)
        say(scene->to, "# %s info available, use -I to display\n", name_of(SHOW_FEATURE, feature->bit));
    else if (feature->bit < FEATURES_OF_PERF && feature_printers[feature->bit])
        feature_printers[feature->bit](scene, feature);
}

static void say_captured(pfr_output *to, int64_t seconds) {
    char text[32];
    const time_t moment = (time_t)seconds;
    if (seconds && ctime_r(&moment, text))
        say(to, "# captured on    : %s", text);
}

static void say_frame(pfr_output *to, const pfr_header *header, int64_t captured) {
    const bool stream = header->container == PFR_PIPE;
    const uint64_t offset = stream ? 0 : header->data_offset, size = stream ? 0 : header->data_size_said;
    say(to, "# ========\n");
    say_captured(to, captured);
    say(to, "# header version : %" PRIu32 "\n", header->version - 1);
    say(to, "# data offset    : %" PRIu64 "\n", offset);
    say(to, "# data size      : %" PRIu64 "\n", size);
    say(to, "# feat offset    : %" PRIu64 "\n", offset + size);
}

static void say_missing(pfr_output *to, const pfr_header *header) {
    say(to, "# missing features: ");
    for (uint32_t bit = 1; bit < FEATURES_OF_PERF; bit++)
        if (!(header->features[0] >> bit & 1))
            say(to, "%s ", name_of(SHOW_FEATURE, bit));
    say(to, "\n");
}

static pfr_status say_file_features(const struct feature_scene *scene, pfr_error *err) {
    const uint32_t count = pfr_feature_count(scene->reader);
    for (uint32_t i = 0; i < count; i++) {
        const pfr_feature *feature = pfr_get_feature(scene->reader, i, err);
        if (!feature)
            return err->status;
        say_feature(scene, feature);
    }
    say_missing(scene->to, pfr_get_header(scene->reader));
    return PFR_OK;
}

/* Prints the feature of one HEADER_FEATURE record; PFR_END: there are no more features. */
static pfr_status say_streamed(const struct feature_scene *scene, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_feature body;
    if (pfr_decode(rec, &body, sizeof body, err) != PFR_OK)
        return PFR_OK;
    if (body.payload.length == 0)
        return PFR_END;
    const pfr_feature *feature = pfr_find_feature(scene->reader, (uint32_t)body.feat_id, err);
    if (!feature)
        return err->status;
    say_feature(scene, feature);
    return PFR_OK;
}

static pfr_status say_stream_features(const struct feature_scene *scene, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    while ((status = pfr_next(scene->reader, &rec, err)) >= 0 && status != PFR_END) {
        if (status == PFR_OK && rec.type == PFR_RECORD_FEATURE)
            status = say_streamed(scene, &rec, err);
        if (status < 0 || status == PFR_END)
            break;
    }
    return status < 0 ? status : PFR_OK;
}

pfr_status info_header(struct info *info, pfr_error *err) {
    const struct feature_scene scene = {info->to, info->reader, info->options.brief};
    const pfr_header *header = pfr_get_header(info->reader);
    const bool stream = header->container == PFR_PIPE;
    say_frame(info->to, header, info->options.captured);
    const pfr_status status = stream ? PFR_OK : say_file_features(&scene, err);
    say(info->to, "# ========\n#\n");
    return status == PFR_OK && stream ? say_stream_features(&scene, err) : status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_FEATURE_H
#define PFR_VIEW_INFO_FEATURE_H
/*
 * Header features as printed by perf, in lines that begin with "# ". Each feature has a function; info_header.c has the
 * table of these functions by bit. The functions print nothing for a payload that does not match its layout.
 */
#include "view/info/info_output.h"

struct feature_scene {
    pfr_output *to;
    pfr_reader *reader;
    bool brief; /* print only the names of features that may fill pages */
};

typedef void feature_printer(const struct feature_scene *scene, const pfr_feature *feature);

/* info_machine.c */
feature_printer say_hostname, say_osrelease, say_version, say_arch, say_nrcpus, say_cpudesc, say_cpuid, say_total_mem,
    say_cpu_topology, say_numa_topology, say_pmu_mappings, say_cache, say_mem_topology, say_cpu_pmu_caps,
    say_hybrid_topology, say_pmu_caps;

/* info_run.c */
feature_printer say_cmdline, say_event_desc, say_branch_stack, say_group_desc, say_auxtrace, say_stat, say_sample_time,
    say_clockid, say_dir_format, say_compressed, say_clock_data;

/* info_bpf.c */
feature_printer say_bpf_prog_info, say_bpf_btf;

/* Prints a feature by its bit; prints nothing if perf prints nothing for it (info_header.c). */
void say_feature(const struct feature_scene *scene, const pfr_feature *feature);

/* perf's name for a clock; "(not found)" for clocks unknown to perf. */
const char *clock_word(uint32_t clockid);

/* Prints a time in local time: "2026-11-21 02:37:13.227113". */
void say_moment(pfr_output *to, uint64_t nanoseconds);

/* Prints the arguments of the command line, each followed by a blank, with ' as \'. */
void say_arguments(pfr_output *to, const pfr_items *words);

/* Whether the members of `group` are events of the recording that follow `*next`, the end of the previous group; sets
 *next to the end of this one. perf reads groups in order, and puts no event into two groups. */
bool group_follows(const struct feature_scene *scene, const struct pfr_rec_group_desc_entry *group, uint32_t *next);

static inline bool decode_feature(const struct feature_scene *scene, const pfr_feature *feature, void *body,
                                  size_t size) {
    return pfr_decode_feature(scene->reader, feature, body, size, NULL) == PFR_OK;
}

/* Begins a loop over the parts of `items`; `part` is the current part. */
#define EACH_PART(items, part)                                                                                         \
    for (pfr_items_iter iter_ = pfr_items_begin(items); pfr_items_next(&iter_, &(part), sizeof(part), NULL) == PFR_OK;)

#endif

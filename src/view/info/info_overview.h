/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_OVERVIEW_H
#define PFR_VIEW_INFO_OVERVIEW_H
/* The parts of the overview that come out of header features (info_contents.c). */
#include "view/info/info_parts.h"
#include "view/info/info_feature.h"

/* The name of a fact, in its column. */
void overview_label(pfr_output *to, const char *label);

/* Host, kernel, cpus, recorder, command, clocks. */
void overview_machine(const struct feature_scene *scene, int64_t captured);
void overview_groups(const struct feature_scene *scene);
/* How many build-ids, tracepoint formats; BPF programs one by one. */
void overview_contents(const struct feature_scene *scene);
/* Features that no table knows, and those whose section does not lie in the file. */
void overview_unknown(const struct feature_scene *scene);

/* Systems and formats in the tracing data; false: there is none. */
struct trace_count {
    uint32_t systems, formats;
};
bool count_formats(const struct feature_scene *scene, struct trace_count *count);

/* The payload of a feature in its struct; false: the recording does not have it, or it does not fit. */
bool find_feature_body(const struct feature_scene *scene, uint32_t bit, void *body, size_t size);

pfr_status info_overview(struct info *info, pfr_error *err);

#endif

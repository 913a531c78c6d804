/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_OVERVIEW_H
#define PFR_VIEW_INFO_OVERVIEW_H
/* The parts of the overview that come from header features (info_contents.c). */
#include "view/info/info_parts.h"
#include "view/info/info_feature.h"

/* Writes the label of a fact, padded to its column. */
void overview_label(pfr_output *to, const char *label);

/* Prints host, kernel, CPUs, recorder, command line and clocks. */
void overview_machine(const struct feature_scene *scene, int64_t captured);
void overview_groups(const struct feature_scene *scene);
/* Prints the numbers of build ids and of tracepoint formats, and each BPF program. */
void overview_contents(const struct feature_scene *scene);
/* Prints unknown features, and those whose section is outside the file. */
void overview_unknown(const struct feature_scene *scene);

/* Numbers of systems and formats in the tracing data. count_formats returns false if there is no tracing data. */
struct xray_count {
    uint32_t systems, formats;
};
bool count_formats(const struct feature_scene *scene, struct xray_count *count);

/* Decodes a feature into its struct. False: the recording does not have the feature, or the payload does not match its
 * layout. */
bool find_feature_body(const struct feature_scene *scene, uint32_t bit, void *body, size_t size);

pfr_status info_overview(struct info *info, pfr_error *err);

#endif

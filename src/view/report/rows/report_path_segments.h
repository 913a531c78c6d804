/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PATH_SEGMENTS_H
#define PFR_VIEW_REPORT_PATH_SEGMENTS_H
/* Interface of report_path_segments.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

pfr_status path_segments_make(struct report *r, pfr_error *err);

/* Makes the weights of a root's path segments inclusive: adds the sum of each segment to its parent's. */
void path_segments_sum_up(struct report *r, uint32_t root);

/* Returns the weight of the samples at the segment's last node. */
struct profile_weight path_segment_self(const struct report *r, uint32_t path_segment);

/* Prefetches the nodes of a segment. */
void path_segment_fetch(const struct report *r, uint32_t path_segment);
void path_segments_free(struct report *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TRACEPOINT_H
#define PFR_MODEL_PROFILE_TRACEPOINT_H
/* Text of tracepoints. */
#include "model/profile/count/profile_parts.h"

/* Writes the text of a tracepoint and the requested fields; profile_tracepoint_part separates them. */
pfr_status tracepoint_parts_write(struct sample_counter *c, const struct picked *s, struct output *to, pfr_error *err);

#endif

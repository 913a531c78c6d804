/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_TRACEPOINT_H
#define PFR_MODEL_PROFILE_TRACEPOINT_H
/* What other files use of profile_tracepoint.c, which says how it works. */
#include "model/profile/count/profile_parts.h"

/* The text of a tracepoint, with the fields that are wished for behind it: profile_trace_part takes it apart. */
pfr_status trace_parts_write(struct sample_counter *c, const struct picked *s, struct output *to, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_DEFERRED_NAMES_H
#define PFR_MODEL_PROFILE_DEFERRED_NAMES_H
/* Interface of profile_deferred_names.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* When no lane runs any more: what counters counted plainly goes to nodes of `to`, one of them. */
pfr_status late_settle(struct sample_counter *to, struct sample_counter *const *all, uint32_t count, pfr_error *err);

#endif

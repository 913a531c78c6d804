/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_DEFERRED_NAMES_H
#define PFR_MODEL_PROFILE_DEFERRED_NAMES_H
/* Interface of profile_deferred_names.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* Call it when no worker runs any more: resolves the entries of the fast path of all counters to nodes of `to`, which
   is one of the counters. */
pfr_status late_settle(struct sample_counter *to, struct sample_counter *const *all, uint32_t count, pfr_error *err);

#endif

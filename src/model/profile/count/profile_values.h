/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_VALUES_H
#define PFR_MODEL_PROFILE_VALUES_H
/* Interface of profile_values.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* Finds the root of the group for the words of an entry. `key` NULL: places are resolved with the final state, and
 *since is the timestamp key of the latest place. */
pfr_status values_root(struct sample_counter *c, const uint64_t *words, const struct record_key *key, uint32_t *root,
                       uint64_t *since, pfr_error *err);

/* Call it at the end: makes groups for samples for which there was no memory. */
pfr_status values_take_limited(struct sample_counter *c, pfr_error *err);

/* Makes the group for the samples of one event for which there was no memory. */
pfr_status values_put_limited(struct profile *p, struct frames_of *frames, struct node_tree *tree, uint32_t event,
                              const struct profile_weight *limited, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_VALUES_H
#define PFR_MODEL_PROFILE_VALUES_H
/* Interface of profile_values.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* The root of the group that the words of an entry say; key NULL: as of the end, and *since is the moment of the
   youngest place. */
pfr_status values_root(struct sample_counter *c, const uint64_t *words, const struct record_key *key, uint32_t *root,
                       uint64_t *since, pfr_error *err);

/* At the end: groups for what there was no memory for. */
pfr_status values_take_limited(struct sample_counter *c, pfr_error *err);

/* One of them. */
pfr_status values_put_limited(struct profile *p, struct frames_of *frames, struct node_tree *tree, uint32_t event,
                              const struct profile_weight *limited, pfr_error *err);

#endif

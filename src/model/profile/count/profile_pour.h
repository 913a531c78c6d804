/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_POUR_H
#define PFR_MODEL_PROFILE_POUR_H
/* The end of counting: see profile_pour.c. */
#include "model/profile/count/profile_parts.h"

/* What entries weigh goes to their nodes, stacks or sums, and the entries go. */
pfr_status counter_pour(struct sample_counter *c, pfr_error *err);

/* The same, before it, of entries that lanes share: one part of so many; the tree has weights. */
void counter_pour_common(struct sample_counter *c, uint32_t part, uint32_t parts);

/* Before that, where nodes are marked: those of one part of the shared entries, and those of samples that were looked
   up individually. */
void counter_mark_common(const struct sample_counter *c, uint32_t part, uint32_t parts);

void counter_mark_individual_samples(const struct sample_counter *c);

/* Something did not fit. */
bool counter_met_limit(const struct sample_counter *c);

/* Frees entries and whole stacks, which another counter has. Samples that were looked up individually stay: they weigh
   in the counter's tree, and counter_pour adds them to it. */
void counter_drop(struct sample_counter *c);

#endif

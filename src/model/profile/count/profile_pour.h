/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_POUR_H
#define PFR_MODEL_PROFILE_POUR_H
/* The end of counting: see profile_pour.c. */
#include "model/profile/count/profile_parts.h"

/* Adds the weights of entries to their nodes, stacks or sums, and frees the entries. */
pfr_status counter_pour(struct sample_counter *c, pfr_error *err);

/* Pours part `part` of `parts` of the shared entries; call it before counter_pour. The tree must have weights. */
void counter_pour_common(struct sample_counter *c, uint32_t part, uint32_t parts);

/* Call these before counter_pour_common if nodes are marked. They mark the nodes of one part of the shared entries, and
   the nodes of samples that were resolved individually. */
void counter_mark_common(const struct sample_counter *c, uint32_t part, uint32_t parts);

void counter_mark_individual_samples(const struct sample_counter *c);

/* Whether the memory limit was reached. */
bool counter_met_limit(const struct sample_counter *c);

/* Frees entries and whole stacks after another counter took them over. Samples that were resolved individually remain:
   counter_pour adds their weights to the counter's tree. */
void counter_drop(struct sample_counter *c);

#endif

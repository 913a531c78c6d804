/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_COUNT_H
#define PFR_MODEL_PROFILE_COUNT_H
/* Interface of profile_count.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* Initialises a counter. If `common` is NULL, the counter has a tree and entries of its own. */
pfr_status counter_init(struct sample_counter *c, struct frames_of *frames, pfr_reader *reader,
                        struct pick_places *places, struct common *common, struct memory *memory, pfr_error *err);
void counter_free(struct sample_counter *c);
/* Frees parts of a counter. */
void counter_free_entries(struct sample_counter *c);
void counter_free_individual_samples(struct sample_counter *c);

/* Counts the samples of the reader from its current position to its end. */
pfr_status counter_run(struct sample_counter *c, pfr_error *err);

/* Call it at the end: frees data that only lookups need. */
void counter_end_lookups(struct sample_counter *c);

/* Finds the root of the group to which an entry with these words belongs, by the final state. */
pfr_status counter_root(struct sample_counter *c, const uint64_t *words, uint32_t *root, uint64_t *since,
                        pfr_error *err);

#endif

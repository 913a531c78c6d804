/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_COUNT_H
#define PFR_MODEL_PROFILE_COUNT_H
/* Interface of profile_count.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* common NULL: a tree and entries of its own. */
pfr_status counter_init(struct sample_counter *c, struct frames_of *frames, pfr_reader *reader,
                        struct pick_places *places, struct common *common, struct memory *memory, pfr_error *err);
void counter_free(struct sample_counter *c);
/* Parts of it. */
void counter_free_entries(struct sample_counter *c);
void counter_free_individual_samples(struct sample_counter *c);

/* Counts the samples of the reader from where it is, to its end. */
pfr_status counter_run(struct sample_counter *c, pfr_error *err);

/* At the end: frees what only lookups need. */
void counter_end_lookups(struct sample_counter *c);

/* The root of the group of an entry's words, as at the end. */
pfr_status counter_root(struct sample_counter *c, const uint64_t *words, uint32_t *root, uint64_t *since,
                        pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_STACKS_H
#define PFR_MODEL_PROFILE_STACKS_H
/* Resolves call chains of new entries to nodes, in batches of rows. */
#include "model/profile/count/profile_parts.h"

void profile_stacks_init(struct profile_stacks *s, struct memory *memory);
void profile_stacks_free(struct profile_stacks *s);

/* Resolves the sampled address of a future row. */
void profile_stacks_expect(struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                           const struct record_key *key);

/* Prefetches data for a future row, at most AHEAD rows before it is added. */
void profile_stacks_fetch(const struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                          const struct record_key *key);

/* Adds a row with the frames of the sample. There must be room: set `count` to 0 when the rows were processed. */
pfr_status profile_stacks_add(struct sample_counter *c, const struct picked *picked, const struct stack_place *place,
                              pfr_error *err);

/* Call it once before the rows are read: resolves the deferred addresses and the sampled addresses. If memory does not
   suffice for a row, the status of the row is the error. */
pfr_status profile_stacks_settle(struct sample_counter *c, pfr_error *err);

/* Moves all rows to their nodes; each has its own status. Code that reads nodes of the tree must be between begin and
   end. */
pfr_status profile_stacks_begin(struct sample_counter *c, pfr_error *err);
void profile_stacks_walk(struct sample_counter *c, pfr_error *err);
void profile_stacks_end(struct sample_counter *c);

/* Maximum number of chain entries that the request wants. */
uint32_t profile_max_stack(const struct sample_counter *c);

#endif

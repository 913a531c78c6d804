/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_STACKS_H
#define PFR_MODEL_PROFILE_STACKS_H
/* What other files use of profile_stacks.c, which says how it works. */
#include "model/profile/count/profile_parts.h"

void profile_stacks_init(struct profile_stacks *s, struct memory *memory);
void profile_stacks_free(struct profile_stacks *s);

/* Where the sampled address of a row to come is. */
void profile_stacks_expect(struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                           const struct record_key *key);

/* Of a row to come what can be fetched meanwhile is; before it is added, at most AHEAD rows before. */
void profile_stacks_fetch(const struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                          const struct record_key *key);

/* One more row: the frames of the sample. There must be room: `count` goes back to 0 when its rows were taken. */
pfr_status profile_stacks_add(struct sample_counter *c, const struct picked *picked, const struct stack_place *place,
                              pfr_error *err);

/* Before rows are looked at, once for all of them: what was put aside, and the sampled addresses. What does not fit
   into memory is a row's status. */
pfr_status profile_stacks_settle(struct sample_counter *c, pfr_error *err);

/* All rows to their nodes; each has a status of its own. What looks at nodes of the tree stands between begin and end.
 */
pfr_status profile_stacks_begin(struct sample_counter *c, pfr_error *err);
void profile_stacks_walk(struct sample_counter *c, pfr_error *err);
void profile_stacks_end(struct sample_counter *c);

/* Addresses of a chain that are wanted. */
uint32_t profile_max_stack(const struct sample_counter *c);

#endif

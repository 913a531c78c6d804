/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WHOLE_STACKS_H
#define PFR_MODEL_PROFILE_WHOLE_STACKS_H
/* What other files use of profile_whole_stacks.c, which says how it works. */
#include "model/profile/count/profile_parts.h"

void whole_init(struct whole_stacks *w, struct memory *memory);
void whole_free(struct whole_stacks *w);

/* Adds a stack with these frames; stack->first is not looked at. */
pfr_status whole_put(struct sample_counter *c, const struct profile_stack *stack, const uint32_t *frames,
                     uint32_t *number, pfr_error *err);

/* Before either pours: the entries of another counter, and their stacks, whose frames stay where they are and become
   `to`'s. `more`: there will be others. What there is no room for is `limited`. */
pfr_status whole_join(struct sample_counter *to, struct sample_counter *from, bool more, pfr_error *err);

/* At the end of counting: each stack is told its frames. */
void whole_settle(struct whole_stacks *w);
void stack_parts_free(struct memory *memory, struct stack_part *parts, uint32_t count);

/* What it holds becomes the profile's. `sorted`: it is in the order of first samples. */
pfr_status whole_give(struct whole_stacks *w, bool sorted, struct profile *p, pfr_error *err);

#endif

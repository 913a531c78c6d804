/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WHOLE_STACKS_H
#define PFR_MODEL_PROFILE_WHOLE_STACKS_H
/* Stacks kept one by one, for requests without a tree. */
#include "model/profile/count/profile_parts.h"

void whole_init(struct whole_stacks *w, struct memory *memory);
void whole_free(struct whole_stacks *w);

/* Adds a stack with these frames; stack->first is ignored. */
pfr_status whole_put(struct sample_counter *c, const struct profile_stack *stack, const uint32_t *frames,
                     uint32_t *number, pfr_error *err);

/* Takes the entries and stacks of another counter; its frames stay in place and then belong to `to`. Call it before
   either counter pours. `more`: other counters will follow. Weight without room goes to `limited`. */
pfr_status whole_join(struct sample_counter *to, struct sample_counter *from, bool more, pfr_error *err);

/* At the end of counting: sets the pointer of each stack to its frames. */
void whole_settle(struct whole_stacks *w);
void stack_parts_free(struct memory *memory, struct stack_part *parts, uint32_t count);

/* Moves the stacks into the profile. `sorted`: in the order of first samples. */
pfr_status whole_give(struct whole_stacks *w, bool sorted, struct profile *p, pfr_error *err);

#endif

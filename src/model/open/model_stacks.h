/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_STACKS_H
#define PFR_MODEL_OPEN_MODEL_STACKS_H
/* Interface of model_stacks.c, which describes how it works. */
#include "model/open/model_parts.h"

void stack_tree_init(struct stack_tree *t, struct pfr_model *m);
void stack_tree_free(struct stack_tree *t);

/* Initialises the hash table for a model that has stacks already. */
pfr_status stack_tree_resume(struct stack_tree *t, pfr_error *err);

/* Call it before nodes are added below `parent`: marks the symbols of `parent` and of its callers. */
pfr_status stack_tree_begin(struct stack_tree *t, uint32_t parent, pfr_error *err);

/* Finds or makes a child of `parent`, which must be the parent of stack_tree_begin or the child found last. */
pfr_status stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t frame, bool apart, uint32_t *id,
                            pfr_error *err);

/* Converts the nodes of samples to ids of stacks, in place. */
pfr_status model_number_stacks(struct pfr_model *m, uint32_t *nodes, size_t count, pfr_error *err);

#endif

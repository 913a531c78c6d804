/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_BATCH_ROWS_H
#define PFR_MODEL_BATCH_ROWS_H
/* Copies one row out of the columns of a batch. */
#include <perfray/spans.h>

static inline pfr_call call_of_batch(const pfr_call_batch *b, uint32_t i) {
    return (pfr_call){.start = b->start[i],
                      .duration = b->duration[i],
                      .self = b->self[i],
                      .parent = b->parent[i],
                      .argument = b->argument[i],
                      .thread = b->thread[i],
                      .symbol = b->symbol[i],
                      .stack = b->stack[i],
                      .depth = b->depth[i],
                      .flags = b->flags[i]};
}

#endif

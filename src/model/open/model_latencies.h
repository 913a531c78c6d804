/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_LATENCIES_H
#define PFR_MODEL_LATENCIES_H
/* Latencies of a model's calls, as perfray latency computes them from the trace: sums and percentiles are those of the
   trace's ticks, and percentiles of many calls are those of the same sketch. */
#include "model/latency/distributions.h"

#include <perfray/model.h>

/* Numbers of the finished calls of one row, in the unit of the model's times. */
struct model_latency {
    uint64_t count, sum, low, high, rank[LATENCY_RANKS];
    int64_t self;
    bool is_exact; /* false: the percentiles are those of a sketch */
};

/* Adds up the calls by row. `row_of` has the row of each symbol, by its id; `rows` is the number of rows, and the
   length of `to`. Errors: MEMORY, LIMIT, and those of reading calls. */
pfr_status model_latencies(const pfr_model *model, const uint32_t *row_of, uint32_t rows, struct model_latency *to,
                           pfr_error *err);

#endif

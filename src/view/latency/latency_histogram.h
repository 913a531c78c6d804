/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_HISTOGRAM_H
#define PFR_VIEW_LATENCY_HISTOGRAM_H
/* Interface of latency_histogram.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

#define LATENCY_BINS_MOST 64u

/* From `from` to below `to`, as printed. */
struct latency_bin {
    uint64_t from, to, count;
};

struct latency_histogram {
    struct latency_bin bins[LATENCY_BINS_MOST];
    unsigned count; /* none is empty at either end */
    uint64_t most;  /* in one */
};

pfr_status latency_histogram_make(const struct latency *l, const struct latency_row *row, struct latency_histogram *h,
                                  pfr_error *err);

#endif

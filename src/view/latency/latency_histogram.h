/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_HISTOGRAM_H
#define PFR_VIEW_LATENCY_HISTOGRAM_H
/* Interface of latency_histogram.c; latency_parts.h describes how the files work together. */
#include "view/latency/latency_parts.h"

#define LATENCY_BINS_MOST 64u

/* A half-open interval [from, to), in the printed unit. */
struct latency_bin {
    uint64_t from, to, count;
};

struct latency_histogram {
    struct latency_bin bins[LATENCY_BINS_MOST];
    unsigned count; /* number of bins; the first and the last are not empty */
    uint64_t most;  /* largest count of a bin */
};

pfr_status latency_histogram_make(const struct latency *l, const struct latency_row *row, struct latency_histogram *h,
                                  pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_ROWS_H
#define PFR_VIEW_LATENCY_ROWS_H
/* Interface of latency_rows.c; latency_parts.h describes how the files work together. */
#include "view/latency/latency_parts.h"

/* A percentile of latency_thousandths: its key and its heading. */
struct latency_rank {
    const char *name, *title;
};

extern const struct latency_rank latency_ranks[LATENCY_RANKS];

/* Both return PFR_ERR_USAGE for an unknown sort key. */
pfr_status latency_rows_make(struct latency *l, pfr_error *err);
pfr_status latency_sort_check(const char *keys, pfr_error *err);

/* Converts ticks to the printed unit: ns, or ticks if the frequency is not known or --ticks is given. */
uint64_t latency_shown(const struct latency *l, uint64_t ticks);

#endif

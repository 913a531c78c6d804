/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_ROWS_H
#define PFR_VIEW_LATENCY_ROWS_H
/* Interface of latency_rows.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

/* "p50", and the thousandths that it is. */
struct latency_rank {
    const char *name, *title;
    unsigned thousandths;
};

extern const struct latency_rank latency_ranks[LATENCY_RANKS];

/* USAGE: no such sort key. */
pfr_status latency_rows_make(struct latency *l, pfr_error *err);
pfr_status latency_sort_check(const char *keys, pfr_error *err);

/* Ticks as they are printed. */
uint64_t latency_shown(const struct latency *l, uint64_t ticks);
uint64_t latency_shown_sum(const struct latency *l, unsigned __int128 ticks);
int64_t latency_shown_self(const struct latency *l, __int128 ticks);

#endif

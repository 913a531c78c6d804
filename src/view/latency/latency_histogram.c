/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a latency distribution to bins whose bounds are 1, 2, 5, 10 ... in the printed unit (nanoseconds or ticks):
 * see latency_parts.h. */
#include "view/latency/latency_histogram.h"
#include "view/latency/latency_rows.h"

#include "base/memory/fail.h"

/* Returns the next bound: 0, 1, 2, 5, 10 ... below 2^64, then 2^64 - 1. */
static uint64_t next_end(uint64_t end) {
    uint64_t power = 1;
    if (end == 0)
        return 1;
    while (end / power >= 10)
        power *= 10;
    const uint64_t factor = end / power == 2 ? 5 : 2;
    return end / power == 2 ? 5 * power : end > UINT64_MAX / factor ? UINT64_MAX : end * factor;
}

/* Adds a value; values must be added in ascending order. */
static void add(struct latency_histogram *h, uint64_t value, uint64_t count) {
    struct latency_bin *last = h->count ? &h->bins[h->count - 1] : NULL;
    while (!last || (value >= last->to && last->to != UINT64_MAX)) {
        const uint64_t from = last ? last->to : 0;
        if (last && last->count == 0 && h->count == 1) /* drops the empty bin below the first value */
            h->count = 0;
        last = &h->bins[h->count++];
        *last = (struct latency_bin){.from = from, .to = next_end(from)};
    }
    last->count += count;
    h->most = last->count > h->most ? last->count : h->most;
}

pfr_status latency_histogram_make(const struct latency *l, const struct latency_row *row, struct latency_histogram *h,
                                  pfr_error *err) {
    struct distribution_list list;
    h->count = 0;
    h->most = 0;
    PFR_TRY(distribution_list(&l->costs.distributions, row->number, &list, err));
    for (uint32_t i = 0; i < list.count; i++)
        add(h, latency_shown(l, list.at[i].what), list.at[i].count);
    distribution_list_free(&l->costs.distributions, &list);
    return PFR_OK;
}

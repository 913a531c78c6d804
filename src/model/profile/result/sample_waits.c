/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of samples by waits: see sample_waits.h. */
#include "model/profile/result/sample_waits.h"

void sample_waits_free(struct sample_waits *waits) {
    if (!waits)
        return;
    struct memory *const memory = waits->memory;
    mem_free(memory, waits->at, waits->room, sizeof *waits->at);
    mem_free(memory, waits->lives, waits->lives_room, sizeof *waits->lives);
    mem_free(memory, waits->shown, waits->shown ? (size_t)waits->nr_events + 1 : 0, sizeof *waits->shown);
    mem_free(memory, waits, 1, sizeof *waits);
}

static bool is_before(const struct sample_wait *wait, uint64_t place, uint64_t inner) {
    return wait->place < place || (wait->place == place && wait->inner < inner);
}

/* Index of the first wait that is not before the place. */
static size_t bisect(const struct sample_waits *waits, uint64_t place, uint64_t inner) {
    size_t low = 0, high = waits->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_before(&waits->at[middle], place, inner))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_first_from(const struct sample_waits *waits, size_t at, uint64_t place, uint64_t inner) {
    return at <= waits->count && (at == 0 || is_before(&waits->at[at - 1], place, inner)) &&
           (at == waits->count || !is_before(&waits->at[at], place, inner));
}

uint64_t sample_waits_find(const struct sample_waits *waits, uint64_t place, uint64_t inner, size_t *hint) {
    const size_t at = is_first_from(waits, *hint, place, inner) ? *hint : bisect(waits, place, inner);
    const bool is_there = at < waits->count && waits->at[at].place == place && waits->at[at].inner == inner;
    *hint = at + is_there;
    return is_there ? waits->at[at].ns : 0;
}

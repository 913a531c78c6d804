/* SPDX-License-Identifier: Apache-2.0 */
/* The keys at which a state changes: see timestamp_keys.h. */
#include "model/state/timestamp_keys.h"

#include "base/memory/fail.h"

#include <stdlib.h>

static pfr_status put(struct timestamp_keys *m, const struct record_key *key, pfr_error *err) {
    void *more = mem_grow(m->memory, m->at, m->count, &m->room, 256, sizeof *m->at);
    if (!more)
        return mem_fail(m->memory, err, "state");
    m->at = more;
    m->at[m->count++] = *key;
    return PFR_OK;
}

static pfr_status put_changes(struct timestamp_keys *m, const struct changes *list, pfr_error *err) {
    for (uint32_t i = 0; i < list->count; i++)
        PFR_TRY(put(m, &list->at[i].key, err));
    return PFR_OK;
}

static pfr_status put_maps(struct timestamp_keys *m, const struct map *maps, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++)
        PFR_TRY(put(m, &maps[i].key, err));
    return PFR_OK;
}

static pfr_status put_space(struct timestamp_keys *m, const struct space *s, pfr_error *err) {
    for (uint32_t i = 0; i < s->nr_runs; i++)
        PFR_TRY(put_maps(m, s->runs[i].maps, s->runs[i].count, err));
    return put_maps(m, s->newest, s->nr_newest, err);
}

static pfr_status put_threads(struct timestamp_keys *m, const struct threads *threads, pfr_error *err) {
    for (size_t i = 0; i < threads->count; i++) {
        const struct generation *g = &threads->at[i];
        PFR_TRY(put(m, &g->begin, err));
        PFR_TRY(put(m, &g->met, err));
        PFR_TRY(put_changes(m, &g->names, err));
        PFR_TRY(put_changes(m, &g->spaces, err));
    }
    return PFR_OK;
}

static pfr_status put_all(struct timestamp_keys *m, const struct state *s, pfr_error *err) {
    PFR_TRY(put_threads(m, &s->threads, err));
    for (size_t i = 0; i < s->spaces.count; i++)
        PFR_TRY(put_space(m, &s->spaces.at[i], err));
    return PFR_OK;
}

static pfr_status put_kernel(struct timestamp_keys *m, const struct state *s, pfr_error *err) {
    PFR_TRY(put_space(m, &s->spaces.at[s->kernel], err));
    PFR_TRY(put_space(m, &s->spaces.at[s->modules], err));
    return put_space(m, &s->spaces.at[s->ksymbols], err);
}

static int by_key(const void *a, const void *b) {
    return key_before(b, a) - key_before(a, b);
}

static pfr_status finish(struct timestamp_keys *m, pfr_status st) {
    if (st < 0)
        timestamp_keys_free(m);
    else if (m->count)
        qsort(m->at, m->count, sizeof *m->at, by_key);
    return st;
}

pfr_status timestamp_keys_make(struct timestamp_keys *m, const struct state *state, struct memory *memory,
                               pfr_error *err) {
    *m = (struct timestamp_keys){.memory = memory};
    return finish(m, put_all(m, state, err));
}

pfr_status timestamp_keys_make_kernel(struct timestamp_keys *m, const struct state *state, struct memory *memory,
                                      pfr_error *err) {
    *m = (struct timestamp_keys){.memory = memory};
    return finish(m, put_kernel(m, state, err));
}

void timestamp_keys_free(struct timestamp_keys *m) {
    mem_free(m->memory, m->at, m->room, sizeof *m->at);
    *m = (struct timestamp_keys){.memory = m->memory};
}

size_t timestamp_keys_count_before(const struct timestamp_keys *m, const struct record_key *key) {
    size_t low = 0, high = m->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_before(&m->at[middle], key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TIMESTAMP_KEYS_H
#define PFR_MODEL_TIMESTAMP_KEYS_H
/*
 * The keys at which a state changes, in order. The result of a lookup at one key holds for every other key between the
 * same two changes. This serves consumers that cache results although their records do not come in the order of keys.
 *
 *     timestamp_keys_make(&moments, &state, memory, &err);
 *     struct timestamp_rank rank = {0};
 *     if (timestamp_keys_rank(&moments, &key, &rank) == kept.rank)
 *         use(&kept);
 */
#include "model/state/state.h"

struct timestamp_keys {
    struct record_key *at;
    size_t count, room;
    struct memory *memory;
};

/* Number of changes with a smaller key. It is kept from one lookup to the next, because the next key is mostly between
   the same two changes. */
struct timestamp_rank {
    size_t before;
};

/* Collects the keys of changes of threads, of their names and address spaces, and of mappings in any address space,
   including the kernel's. The state must not change afterwards. On failure there is nothing to free. */
pfr_status timestamp_keys_make(struct timestamp_keys *timestamp_keys, const struct state *state, struct memory *memory,
                               pfr_error *err);
/* Collects the keys of changes of the kernel's mappings and symbols. */
pfr_status timestamp_keys_make_kernel(struct timestamp_keys *timestamp_keys, const struct state *state,
                                      struct memory *memory, pfr_error *err);
void timestamp_keys_free(struct timestamp_keys *timestamp_keys);

size_t timestamp_keys_count_before(const struct timestamp_keys *timestamp_keys, const struct record_key *key);

/* As timestamp_keys_count_before, but takes only a few instructions if the key is between the same two changes as the
   previous one. */
static inline size_t timestamp_keys_rank(const struct timestamp_keys *timestamp_keys, const struct record_key *key,
                                         struct timestamp_rank *rank) {
    const size_t n = rank->before;
    const bool is_behind = n == 0 || key_before(&timestamp_keys->at[n - 1], key);
    if (!is_behind || (n < timestamp_keys->count && key_before(&timestamp_keys->at[n], key)))
        rank->before = timestamp_keys_count_before(timestamp_keys, key);
    return rank->before;
}

#endif

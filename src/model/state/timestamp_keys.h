/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TIMESTAMP_KEYS_H
#define PFR_MODEL_TIMESTAMP_KEYS_H
/*
 * The keys at which a state changes, in order: what was found for one key holds for every other key between the same
 * two changes. For a consumer that keeps what it found and whose records do not come in the order of keys.
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

/* How many changes have a smaller key: remembered, since the next key is mostly between the same two. */
struct timestamp_rank {
    size_t before;
};

/* Changes of threads, their names and address spaces, and of what is mapped in any address space, the kernel's
 * included. The state no longer changes. On failure there is nothing to free. */
pfr_status timestamp_keys_make(struct timestamp_keys *timestamp_keys, const struct state *state, struct memory *memory,
                               pfr_error *err);
/* Changes of what is mapped in the kernel, and of its symbols. */
pfr_status timestamp_keys_make_kernel(struct timestamp_keys *timestamp_keys, const struct state *state,
                                      struct memory *memory, pfr_error *err);
void timestamp_keys_free(struct timestamp_keys *timestamp_keys);

size_t timestamp_keys_count_before(const struct timestamp_keys *timestamp_keys, const struct record_key *key);

/* The same, in a few instructions where the key is between the same two changes as the one before. */
static inline size_t timestamp_keys_rank(const struct timestamp_keys *timestamp_keys, const struct record_key *key,
                                         struct timestamp_rank *rank) {
    const size_t n = rank->before;
    const bool is_behind = n == 0 || key_before(&timestamp_keys->at[n - 1], key);
    if (!is_behind || (n < timestamp_keys->count && key_before(&timestamp_keys->at[n], key)))
        rank->before = timestamp_keys_count_before(timestamp_keys, key);
    return rank->before;
}

#endif

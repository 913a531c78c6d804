/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_HASH_SEED_H
#define PFR_BASE_HASH_SEED_H
/*
 * The seed of all hash tables. It is random per process, so that no recording can be crafted to cause collisions. No
 * output may depend on it.
 */
#include <stddef.h>
#include <stdint.h>

/* Changed only before main and by pfr_debug_hash_seed. */
extern uint64_t hash_seed;

/* Tables of different sizes hash differently. Otherwise keys that are copied in slot order to a smaller table would
   cluster in one part of the smaller table. */
static inline uint64_t table_seed(size_t slot_count) {
    return hash_seed + (uint64_t)slot_count * 0xd1342543de82ef95u;
}

#endif

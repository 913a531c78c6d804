/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_HASH_SEED_H
#define PFR_BASE_HASH_SEED_H
/*
 * The seed of all hash tables: random in each process, so that a recording cannot be made to collide in them. Which
 * seed it is must not be seen in any output.
 */
#include <stddef.h>
#include <stdint.h>

/* Set before main and by pfr_debug_hash_seed only. */
extern uint64_t hash_seed;

/* A table of another size hashes differently: otherwise keys that are copied from a table to a smaller one, in the
   order of slots, would gather in one part of it. */
static inline uint64_t table_seed(size_t slot_count) {
    return hash_seed + (uint64_t)slot_count * 0xd1342543de82ef95u;
}

#endif

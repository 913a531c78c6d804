/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_INTERN_H
#define PFR_BASE_INTERN_H
/*
 * Maps equal byte strings to one number. Ids are dense from 0 in order of first appearance, so they can index arrays.
 * The bytes are copied, with a NUL appended (not counted in the length), and do not move until intern_free. Slots hold
 * 32 bits of an XXH3 hash beside the id; the hash is seeded (hash_seed.h) against crafted collisions, and no output
 * depends on the seed.
 */
#include "base/memory/arena.h"

#define INTERN_NONE UINT32_MAX

struct intern_text {
    const uint8_t *bytes;
    uint32_t length;
};

struct intern_slot {
    uint32_t hash;
    uint32_t id; /* INTERN_NONE: the slot is empty */
};

struct intern_table {
    struct memory *memory;
    struct arena arena;
    struct intern_text *texts; /* indexed by id */
    size_t text_capacity;
    struct intern_slot *slots; /* their number is a power of two */
    size_t slot_count;
    uint64_t seed;
    uint32_t count;
};

void intern_init(struct intern_table *table, struct memory *memory);
void intern_free(struct intern_table *table);

/* Sets *id to the id of these bytes, which are added if they are new. Errors: memory, limit (also for 4 GiB of text or
   2^32-1 ids). */
pfr_status intern_put(struct intern_table *table, const void *bytes, size_t length, uint32_t *id, pfr_error *err);

/* The id of these bytes or INTERN_NONE. */
uint32_t intern_find(const struct intern_table *table, const void *bytes, size_t length);

/* The bytes of an id, NUL-terminated; the table must have returned this id. */
static inline struct intern_text intern_get(const struct intern_table *table, uint32_t id) {
    return table->texts[id];
}

static inline const char *intern_chars(const struct intern_table *table, uint32_t id) {
    return (const char *)table->texts[id].bytes;
}

#endif

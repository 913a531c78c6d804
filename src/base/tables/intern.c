/* SPDX-License-Identifier: Apache-2.0 */
/* The intern table: linear probing over (hash, id); the text of an id is compared only when 32 bits of hash agree. */
#include <string.h>
#include <xxhash.h>
#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "base/tables/hash_seed.h"

#define FIRST_SLOTS ((size_t)64)
#define FIRST_TEXTS ((size_t)32)

void intern_init(struct intern_table *table, struct memory *memory) {
    *table = (struct intern_table){.memory = memory};
    arena_init(&table->arena, memory);
}

void intern_free(struct intern_table *table) {
    mem_free(table->memory, table->slots, table->slot_count, sizeof *table->slots);
    mem_free(table->memory, table->texts, table->text_capacity, sizeof *table->texts);
    arena_free(&table->arena);
    intern_init(table, table->memory);
}

static uint32_t hash_bytes(const struct intern_table *table, const void *bytes, size_t length) {
    return (uint32_t)XXH3_64bits_withSeed(bytes, length, table->seed);
}

static bool is_text(const struct intern_text *text, const void *bytes, size_t length) {
    return text->length == length && (length == 0 || memcmp(text->bytes, bytes, length) == 0);
}

/* The slot of these bytes, or the empty slot where they belong. An empty slot always exists. */
static struct intern_slot *find_text(const struct intern_table *table, const void *bytes, size_t length,
                                     uint32_t hash) {
    const size_t mask = table->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct intern_slot *slot = &table->slots[i];
        if (slot->id == INTERN_NONE)
            return slot;
        if (slot->hash == hash && is_text(&table->texts[slot->id], bytes, length))
            return slot;
    }
}

static void move_slots(const struct intern_slot *from, size_t from_count, struct intern_slot *to, size_t to_count) {
    for (size_t i = 0; i < to_count; i++)
        to[i].id = INTERN_NONE;
    for (size_t i = 0; i < from_count; i++) {
        if (from[i].id == INTERN_NONE)
            continue;
        size_t place = from[i].hash & (to_count - 1);
        while (to[place].id != INTERN_NONE)
            place = (place + 1) & (to_count - 1);
        to[place] = from[i];
    }
}

static bool grow_slots(struct intern_table *table) {
    if (table->count < table->slot_count / 4 * 3)
        return true;
    const size_t slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
    struct intern_slot *slots = mem_alloc(table->memory, slot_count, sizeof *slots);
    if (!slots)
        return false;
    if (!table->slots)
        table->seed = table_seed(slot_count);
    move_slots(table->slots, table->slot_count, slots, slot_count);
    mem_free(table->memory, table->slots, table->slot_count, sizeof *slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return true;
}

static bool add_text(struct intern_table *table, const void *bytes, size_t length) {
    struct intern_text *texts =
        mem_grow(table->memory, table->texts, table->count, &table->text_capacity, FIRST_TEXTS, sizeof *texts);
    if (!texts)
        return false;
    table->texts = texts;
    const char *copy = arena_text(&table->arena, bytes, length);
    if (!copy)
        return false;
    texts[table->count] = (struct intern_text){(const uint8_t *)copy, (uint32_t)length};
    return true;
}

pfr_status intern_put(struct intern_table *table, const void *bytes, size_t length, uint32_t *id, pfr_error *err) {
    if (length > UINT32_MAX || table->count == INTERN_NONE)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "intern",
                        "a string table holds at most 2^32-1 strings, each below 4 GiB");
    if (!grow_slots(table))
        return mem_fail(table->memory, err, "intern");
    const uint32_t hash = hash_bytes(table, bytes, length);
    struct intern_slot *slot = find_text(table, bytes, length, hash);
    if (slot->id == INTERN_NONE) {
        if (!add_text(table, bytes, length))
            return mem_fail(table->memory, err, "intern");
        *slot = (struct intern_slot){hash, table->count++};
    }
    *id = slot->id;
    return PFR_OK;
}

uint32_t intern_find(const struct intern_table *table, const void *bytes, size_t length) {
    if (!table->slot_count || length > UINT32_MAX)
        return INTERN_NONE;
    return find_text(table, bytes, length, hash_bytes(table, bytes, length))->id;
}

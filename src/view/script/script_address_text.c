/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of single addresses, printed without offset and source line, so that all addresses of a function have the same
 * text. Texts are cached by blocks of 256 bytes. For user addresses these are blocks of the object file, so that all
 * processes share them; for kernel addresses, blocks of memory. A block with several functions has one slot per
 * function.
 *
 * If a block of memory is exactly one of these blocks, its texts are also cached by memory address
 * (script_address_cache.c), which avoids the lookup of mapping and object.
 */
#include "view/script/script_address_text.h"
#include "view/script/script_address_cache.h"
#include "view/script/script_frames.h"

#include "base/memory/fail.h"
#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define BLOCK NEAR_BLOCK

struct range_slot {
    uint64_t block;
    const uint8_t *text;
    uint32_t owner, epoch; /* owner: object, or space of the kernel; epoch 0: empty */
    uint8_t first, last;   /* range of bytes in the block for which the text is valid */
};

/* A lookup. */
struct wanted_text {
    struct place at;
    uint64_t place; /* user: offset in the object; kernel: address */
    uint32_t owner;
    bool for_ever; /* new mappings do not invalidate the text, because an object keeps its names */
};

void ranges_free(struct frames *f) {
    for (size_t i = 0; i < NAME_FORMS; i++) {
        struct range_table *t = &f->ranges[i];
        mem_free(f->memory, t->slots, t->slots ? t->slot_count : 0, sizeof *t->slots);
        *t = (struct range_table){0};
    }
}

static inline size_t first_slot(const struct range_table *t, uint64_t block, uint32_t owner) {
    uint64_t h = (block ^ table_seed(t->slot_count)) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ owner) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

/* Returns the slot that covers the place, or the empty slot where the place would be inserted. */
static struct range_slot *find_slot(const struct range_table *t, const struct wanted_text *w) {
    const uint64_t block = w->place / BLOCK;
    const uint8_t at = (uint8_t)(w->place % BLOCK);
    for (size_t i = first_slot(t, block, w->owner);; i++) {
        struct range_slot *slot = &t->slots[i & (t->slot_count - 1)];
        if (!slot->epoch || (slot->block == block && slot->owner == w->owner && slot->first <= at && at <= slot->last))
            return slot;
    }
}

static void put_slot(struct range_table *t, const struct range_slot *one) {
    size_t i = first_slot(t, one->block, one->owner);
    while (t->slots[i & (t->slot_count - 1)].epoch)
        i++;
    t->slots[i & (t->slot_count - 1)] = *one;
}

static bool grow(struct frames *f, struct range_table *t) {
    struct range_table more = {.slot_count = t->slots ? t->slot_count * 2 : FIRST_SLOTS, .used = t->used};
    more.slots = mem_zeroed(f->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < t->slot_count; i++)
        if (t->slots[i].epoch)
            put_slot(&more, &t->slots[i]);
    mem_free(f->memory, t->slots, t->slots ? t->slot_count : 0, sizeof *t->slots);
    *t = more;
    return true;
}

/* Sets the range around the address, within its block, for which the text is valid. */
static void set_extent(struct script *s, struct range_slot *slot, const struct place *place, uint64_t address,
                       uint64_t at, unsigned form) {
    struct address_name name = {.before = BLOCK, .behind = BLOCK};
    if (form & NAME_SYM)
        script_name_at(s, place, address, &name);
    slot->first = (uint8_t)(at > name.before ? at - name.before : 0);
    slot->last = (uint8_t)(BLOCK - at > name.behind ? at + name.behind - 1 : BLOCK - 1);
}

/* Prepares a lookup. Returns false if the address is not mapped, or if a KSYMBOL record names the code there. */
static bool want(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, struct wanted_text *w) {
    const bool user = cpumode == SCRIPT_USER;
    state_place_in(s->shared->state, cpumode, m->thread->space, address, m->key, &w->at);
    w->place = user ? w->at.offset : address;
    w->owner = user ? w->at.object : script_space(m, cpumode);
    w->for_ever = user;
    return w->at.map && !w->at.ksymbol;
}

static bool make_slot(struct script *s, unsigned cpumode, uint64_t address, unsigned form, const struct wanted_text *w,
                      struct range_slot *made) {
    *made = (struct range_slot){.block = w->place / BLOCK, .owner = w->owner, .epoch = script_epoch(s, cpumode)};
    set_extent(s, made, &w->at, address, w->place % BLOCK, form);
    made->text = script_frame_text(s, &w->at, address, form);
    return made->text;
}

/* Once the state contains a KSYMBOL, kernel addresses are not cached by block: code with KSYMBOL records, such as BPF
 * programs, is loaded and unloaded at run time, so the names in a block can change. */
static bool is_kept(const struct script *s, unsigned cpumode) {
    const struct space *ksymbols = &s->shared->state->spaces.at[s->shared->state->ksymbols];
    return cpumode == SCRIPT_USER || (ksymbols->nr_runs == 0 && ksymbols->nr_newest == 0);
}

/* Returns the slot that covers the place; fills a new slot if necessary. NULL: the error is in s->failed. */
static const struct range_slot *slot_of(struct script *s, unsigned cpumode, uint64_t address, unsigned form,
                                        const struct wanted_text *w) {
    struct range_table *t = &s->caches.frames.ranges[form];
    struct range_slot made;
    if (t->used >= sizes.script_cache)
        frames_reset(&s->caches.frames);
    if (t->used >= t->slot_count / 4 * 3 && !grow(&s->caches.frames, t)) {
        script_fail(s, mem_fail(s->memory, s->err, "frames"));
        return NULL;
    }
    struct range_slot *slot = find_slot(t, w);
    if (slot->epoch && (w->for_ever || slot->epoch == s->caches.kernel_epoch))
        return slot;
    if (!make_slot(s, cpumode, address, form, w, &made))
        return NULL;
    t->used += slot->epoch == 0;
    *slot = made;
    return slot;
}

/* Whether the block of memory around the address is exactly one block of the object file, and its mapping is the only
 * one ever at its addresses. Always true for addresses outside user space, which are cached by blocks of memory. */
static bool is_block(const struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                     const struct wanted_text *w) {
    const uint64_t first = address - address % BLOCK;
    return cpumode != SCRIPT_USER ||
           ((address - w->place) % BLOCK == 0 && w->at.map->start <= first && w->at.map->last - first >= BLOCK - 1 &&
            space_has_alone(&s->shared->state->spaces, m->thread->space, w->at.map));
}

const uint8_t *script_range_text(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                                 unsigned form) {
    struct wanted_text w;
    const uint8_t *text = near_find(s, m, cpumode, address, form);
    if (text)
        return text;
    if (!is_kept(s, cpumode) || !want(s, m, cpumode, address, &w))
        return NULL;
    const struct range_slot *slot = slot_of(s, cpumode, address, form, &w);
    if (slot && is_block(s, m, cpumode, address, &w))
        near_keep(s, m, cpumode, address, form,
                  &(struct near_slot){.text = slot->text, .first = slot->first, .last = slot->last});
    return slot ? slot->text : NULL;
}

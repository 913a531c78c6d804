/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches the formatted names (the text) last found in a block of an address space, if they are valid for a range of
 * addresses. One lookup in this cache replaces the lookups of the mapping and of its object. A new entry overwrites an
 * old one; while this happens often, the table grows, up to a few MB. Its slots are prefetched a few records ahead. If
 * a user mapping is the only mapping ever at its addresses, it is not looked up again while records come in order. The
 * text of a kernel address is valid until the kernel's mappings or symbols change.
 */
#include "view/script/script_address_cache.h"
#include "view/script/script_threads.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

#define BITS_FIRST 11u
#define BITS_MOST 17u

/* The two slots for a block, which share a cache line. */
static inline struct near_slot *slots_at(const struct near_table *t, uint64_t block, uint32_t space) {
    const uint64_t h = (block ^ (uint64_t)space << 40) * 0x9e3779b97f4a7c15u;
    return &t->slots[h >> (64 - t->bits) & ~(uint64_t)1];
}

static inline uint32_t epoch_of(const struct script *s, unsigned cpumode, bool lasting) {
    return lasting ? s->caches.order_epoch : script_epoch(s, cpumode);
}

const uint8_t *near_find(const struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                         unsigned form) {
    const struct near_table *t = &s->caches.frames.near[form];
    const uint32_t space = script_space(m, cpumode);
    const uint64_t block = address / NEAR_BLOCK;
    const uint8_t at = (uint8_t)(address % NEAR_BLOCK);
    if (!t->slots)
        return NULL;
    const struct near_slot *slot = slots_at(t, block, space);
    for (const struct near_slot *end = slot + 2; slot < end; slot++)
        if (slot->block == block && slot->space == space && slot->first <= at && at <= slot->last &&
            slot->epoch == epoch_of(s, cpumode, slot->lasting))
            return slot->text;
    return NULL;
}

/* Stores an entry in one of the two slots of its block; overwrites the older entry. */
static void put(struct near_table *t, const struct near_slot *one) {
    struct near_slot *slot = slots_at(t, one->block, one->space);
    t->pushed_out += slot[1].epoch != 0;
    slot[1] = slot[0];
    slot[0] = *one;
}

/* Allocates the table, or doubles it and copies its entries. */
static bool grow(struct frames *f, struct near_table *t) {
    struct near_table more = {.bits = t->slots ? t->bits + 1 : BITS_FIRST};
    more.slots = mem_zeroed(f->memory, (size_t)1 << more.bits, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = t->slots ? (size_t)1 << t->bits : 0; i-- > 0;)
        if (t->slots[i].epoch)
            put(&more, &t->slots[i]);
    mem_free(f->memory, t->slots, t->slots ? (size_t)1 << t->bits : 0, sizeof *t->slots);
    *t = more;
    t->pushed_out = 0;
    return true;
}

void near_keep(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form,
               const struct near_slot *found) {
    struct near_table *t = &s->caches.frames.near[form];
    struct near_slot one = *found;
    one.block = address / NEAR_BLOCK;
    one.space = script_space(m, cpumode);
    one.lasting = cpumode == SCRIPT_USER && !s->shared->learns && !s->caches.disorder.is_on;
    one.epoch = epoch_of(s, cpumode, one.lasting);
    if ((!t->slots || (t->bits < BITS_MOST && t->pushed_out >> (t->bits - 1))) && !grow(&s->caches.frames, t)) {
        script_fail(s, mem_fail(s->memory, s->err, "frames"));
        return;
    }
    put(t, &one);
}

void near_expect(const struct script *s, const pfr_record *rec) {
    if (rec->type != PFR_RECORD_SAMPLE || rec->event < 0 || (uint32_t)rec->event >= s->shared->nr_events)
        return;
    const struct script_event *e = &s->shared->events[rec->event];
    const struct near_table *t = &s->caches.frames.near[e->name_form];
    if (!t->slots || !e->ip_at || rec->size < e->tid_at + 4u)
        return;
    const bool swap = rec->context->swap;
    struct script_thread *thread = &s->caches.threads[load_u32(rec->bytes + e->tid_at, swap) % SCRIPT_THREADS];
    const struct moment m = {.thread = thread};
    __builtin_prefetch(slots_at(t, load_u64(rec->bytes + e->ip_at, swap) / NEAR_BLOCK,
                                script_space(&m, rec->misc & PFR_CPUMODE_MASK)));
}

void near_free(struct frames *f) {
    for (size_t i = 0; i < NAME_FORMS; i++) {
        struct near_table *t = &f->near[i];
        mem_free(f->memory, t->slots, t->slots ? (size_t)1 << t->bits : 0, sizeof *t->slots);
        *t = (struct near_table){0};
    }
}

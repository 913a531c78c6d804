/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full: see offcpu_classes.h. Most intervals of a thread are of the same class as its
   last interval in the same state, so these classes are compared first. */
#include "view/offcpu/offcpu_classes.h"

#include "base/memory/sizes.h"
#include "base/tables/hash_seed.h"

#include <string.h>

void offcpu_classes_init(struct offcpu_classes *c, struct memory *memory) {
    *c = (struct offcpu_classes){.memory = memory};
}

void offcpu_classes_free(struct offcpu_classes *c) {
    mem_free(c->memory, c->at, c->room, sizeof *c->at);
    mem_free(c->memory, c->first, c->first_room, sizeof *c->first);
    mem_free(c->memory, c->slots, c->slot_count, sizeof *c->slots);
    mem_free(c->memory, c->recent, c->recent_room, sizeof *c->recent);
    offcpu_classes_init(c, c->memory);
}

/* --- Keys. */

static inline uint64_t pair(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

static inline uint64_t others_of(const struct thread_interval *i, unsigned waker_kind, uint32_t waker) {
    const bool is_ended = !i->open_start && !i->open_end;
    return pair(i->state | waker_kind << 8 | (unsigned)is_ended << 16, waker);
}

/* Only what matters in the state: the waker of a blocked thread, and the sample where a thread left its CPU. */
static inline struct offcpu_class_key key_of(const struct thread_interval *i) {
    if (i->state != THREAD_BLOCKED)
        return (struct offcpu_class_key){.syscall = NO_SYSCALL,
                                         .lives = i->life,
                                         .samples = i->sample,
                                         .others = others_of(i, WAKER_NONE, SCHED_NOBODY)};
    return (struct offcpu_class_key){.address = i->address,
                                     .syscall = i->syscall,
                                     .lives = pair(i->life, i->waker == SCHED_NOBODY ? 0 : i->waker_life),
                                     .samples = pair(i->sample, i->waker_sample),
                                     .others = others_of(i, i->waker_kind, i->waker)};
}

static inline bool keys_are_same(const struct offcpu_class_key *a, const struct offcpu_class_key *b) {
    return ((a->address ^ b->address) | (a->syscall ^ b->syscall) | (a->lives ^ b->lives) | (a->samples ^ b->samples) |
            (a->others ^ b->others)) == 0;
}

static inline uint64_t multiply_fold(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_of(const struct offcpu_classes *c, const struct offcpu_class_key *key) {
    const uint64_t seed = table_seed(c->slot_count);
    const uint64_t h =
        multiply_fold(key->lives ^ seed ^ 0x9e3779b97f4a7c15u, key->samples ^ 0xd6e8feb86659fd93u) ^
        multiply_fold(key->others ^ seed ^ 0xa0761d6478bd642fu, key->address ^ key->syscall ^ 0xe7037ed1a0b428dbu);
    return h ^ h >> 32;
}

/* --- The table. */

/* The slot of the key, or the empty slot where it belongs. */
static uint32_t *find_slot(const struct offcpu_classes *c, const struct offcpu_class_key *key) {
    const size_t mask = c->slot_count - 1;
    for (size_t i = hash_of(c, key) & mask;; i = (i + 1) & mask)
        if (!c->slots[i] || keys_are_same(&c->at[c->slots[i] - 1].key, key))
            return &c->slots[i];
}

static pfr_status grow_slots(struct offcpu_classes *c, pfr_error *err) {
    const size_t count = c->slot_count ? c->slot_count * 2 : sizes.table_slots;
    uint32_t *slots = mem_zeroed(c->memory, count, sizeof *slots);
    if (!slots)
        return mem_fail(c->memory, err, "waits");
    mem_free(c->memory, c->slots, c->slot_count, sizeof *c->slots);
    c->slots = slots;
    c->slot_count = count;
    for (uint32_t i = 0; i < c->count; i++)
        *find_slot(c, &c->at[i].key) = i + 1;
    return PFR_OK;
}

static pfr_status add_class(struct offcpu_classes *c, const struct offcpu_class_key *key,
                            const struct offcpu_first *first, pfr_error *err) {
    if (c->count >= UINT32_MAX / 2)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "waits", "more than 2^31 different waits");
    void *grown = mem_grow(c->memory, c->at, c->count, &c->room, 256, sizeof *c->at);
    if (!grown)
        return mem_fail(c->memory, err, "waits");
    c->at = grown;
    grown = mem_grow(c->memory, c->first, c->count, &c->first_room, 256, sizeof *c->first);
    if (!grown)
        return mem_fail(c->memory, err, "waits");
    c->first = grown;
    c->first[c->count] = *first;
    c->at[c->count++] = (struct offcpu_class){.key = *key};
    return PFR_OK;
}

static pfr_status find_class(struct offcpu_classes *c, const struct offcpu_class_key *key,
                             const struct offcpu_first *first, uint32_t *number, pfr_error *err) {
    if (c->count >= c->slot_count / 2)
        PFR_TRY(grow_slots(c, err));
    uint32_t *slot = find_slot(c, key);
    if (!*slot) {
        PFR_TRY(add_class(c, key, first, err));
        *slot = c->count;
    }
    *number = *slot;
    return PFR_OK;
}

static pfr_status recent_of(struct offcpu_classes *c, uint32_t life, struct offcpu_recent **recent, pfr_error *err) {
    if (life >= c->recent_room) {
        void *grown = mem_grow_zeroed(c->memory, c->recent, life, &c->recent_room, 64, sizeof *c->recent);
        if (!grown)
            return mem_fail(c->memory, err, "waits");
        c->recent = grown;
    }
    *recent = &c->recent[life];
    return PFR_OK;
}

pfr_status offcpu_classes_add(struct offcpu_classes *c, const struct thread_interval *interval,
                              const struct thread_interval *part, pfr_error *err) {
    const struct offcpu_class_key key = part ? key_of(part) : (struct offcpu_class_key){.lives = interval->life};
    struct offcpu_recent *recent = NULL;
    PFR_TRY(recent_of(c, interval->life, &recent, err));
    uint32_t *number = &recent->of_state[part ? part->state : THREAD_UNSEEN];
    if (!*number || !keys_are_same(&c->at[*number - 1].key, &key)) {
        const struct offcpu_first first = {interval->start, part ? part->end : 0, interval->tid};
        PFR_TRY(find_class(c, &key, &first, number, err));
    }
    struct offcpu_class *of = &c->at[*number - 1];
    const uint64_t ns = part ? part->end - part->start : 0;
    of->count++;
    of->ns += ns;
    of->max = ns > of->max ? ns : of->max;
    return PFR_OK;
}

struct thread_interval offcpu_classes_get(const struct offcpu_classes *c, uint32_t number) {
    const struct offcpu_class_key *key = &c->at[number].key;
    const struct offcpu_first *first = &c->first[number];
    return (struct thread_interval){.start = first->start,
                                    .end = first->end,
                                    .syscall = key->syscall,
                                    .address = key->address,
                                    .life = (uint32_t)key->lives,
                                    .tid = first->tid,
                                    .cpu = SCHED_NO_CPU,
                                    .sample = (uint32_t)key->samples,
                                    .waker = (uint32_t)(key->others >> 32),
                                    .waker_life = (uint32_t)(key->lives >> 32),
                                    .waker_sample = (uint32_t)(key->samples >> 32),
                                    .state = (uint8_t)key->others,
                                    .waker_kind = (uint8_t)(key->others >> 8),
                                    .open_start = !(key->others >> 16 & 1)};
}

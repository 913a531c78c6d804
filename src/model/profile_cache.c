/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's own memory of addresses in spaces, so that it seldom asks the state and the names, which all share. It grows
 * with what it is asked, to a bound; then what was met last takes the place of what was there.
 */
#include "model/profile_parts.h"

#define FIRST_SLOTS ((size_t)1024)
#define SLOTS_MOST ((size_t)1 << 17)
#define STEPS 4u /* slots that one address may be in */

void frame_cache_init(struct frame_cache *c, struct frames_of *frames, struct memory *memory) {
    *c = (struct frame_cache){.frames = frames, .memory = memory};
}

void frame_cache_free(struct frame_cache *c) {
    mem_free(c->memory, c->slots, c->slots ? c->slot_count + STEPS : 0, sizeof *c->slots);
    *c = (struct frame_cache){.frames = c->frames, .memory = c->memory};
}

#define SPACE_BITS ((1u << 30) - 1)
#define SPACES_MOST (SPACE_BITS - 15)

/* Spaces that are none of a process: one for each cpumode. There are fewer than 2^29 spaces (WHO_MOST). */
static inline uint32_t key_space(unsigned mode, uint32_t space) {
    return mode == CPUMODE_USER && space < SPACES_MOST ? space : SPACES_MOST + mode;
}

static inline struct cached_frame *first_slot(const struct frame_cache *c, uint32_t space, uint64_t address) {
    uint64_t h = (address ^ (uint64_t)(uintptr_t)c->slots) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ space) * 0xd6e8feb86659fd93u;
    return &c->slots[(size_t)(h >> 32) & (c->slot_count - 1)];
}

/* The slot of the address, or an empty one; NULL: there is neither. */
static inline struct cached_frame *find_slot(const struct frame_cache *c, uint32_t space, uint64_t address) {
    struct cached_frame *slot = first_slot(c, space, address);
    for (unsigned i = 0; i < STEPS; i++, slot++)
        if (!slot->frame || (slot->address == address && slot->space == space))
            return slot;
    return NULL;
}

void frame_cache_prefetch(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address) {
    if (c->slots)
        __builtin_prefetch(first_slot(c, key_space(mode, space), address));
}

static pfr_status grow(struct frame_cache *c, pfr_error *err) {
    struct frame_cache more = *c;
    more.slot_count = c->slots ? c->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(c->memory, more.slot_count + STEPS, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(c->memory, err, "frames");
    for (size_t i = 0; c->slots && i < c->slot_count + STEPS; i++) {
        struct cached_frame *to = c->slots[i].frame ? find_slot(&more, c->slots[i].space, c->slots[i].address) : NULL;
        if (to) /* what finds no place is looked up again */
            *to = c->slots[i];
    }
    frame_cache_free(c);
    *c = more;
    return PFR_OK;
}

/* Not there: the slot that it gets; NULL: there is no memory for it, and it does without. */
static pfr_status make_slot(struct frame_cache *c, uint32_t space, uint64_t address, struct cached_frame **slot,
                            pfr_error *err) {
    while (!*slot && c->slot_count < SLOTS_MOST) {
        const pfr_status st = grow(c, err);
        if (st == PFR_ERR_LIMIT)
            break;
        PFR_TRY(st);
        *slot = find_slot(c, space, address);
    }
    if (!*slot && c->slots)
        *slot = first_slot(c, space, address);
    return PFR_OK;
}

pfr_status frame_cache_find(struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                            struct frame_found *found, pfr_error *err) {
    const uint32_t own = key_space(mode, space);
    struct cached_frame *slot = c->slots ? find_slot(c, own, address) : NULL;
    if (slot && slot->frame) {
        *found = (struct frame_found){slot->since, slot->frame - 1, slot->too_deep, slot->two_names};
        return PFR_OK;
    }
    PFR_TRY(profile_frames_find(c->frames, mode, space, address, NULL, found, err));
    PFR_TRY(make_slot(c, own, address, &slot, err));
    if (!slot)
        return PFR_OK;
    *slot = (struct cached_frame){address,         found->since,     own & SPACE_BITS,
                                  found->too_deep, found->two_names, found->frame + 1};
    return PFR_OK;
}

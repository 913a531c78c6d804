/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's own memory of addresses in spaces, and of what stands in objects, so that it seldom asks the state and the
 * names, which all share. Either grows with what it is asked, to a bound; then what was met last takes the place of
 * what was there. Without chains an address in a space is asked for once, by its entry, and is not kept.
 */
#include "model/profile_parts.h"

#define FIRST_SLOTS ((size_t)1024)
#define SLOTS_MOST ((size_t)1 << 17)
#define STEPS 4u /* slots that one address may be in */
#define SPACE_BITS ((1u << 30) - 1)
#define SPACES_MOST (SPACE_BITS - 15)

void frame_cache_init(struct frame_cache *c, struct frames_of *frames, struct memory *memory) {
    *c = (struct frame_cache){.frames = frames, .spaces.memory = memory, .objects.memory = memory};
}

static void free_slots(struct frame_slots *s) {
    mem_free(s->memory, s->at, s->at ? s->count + STEPS : 0, sizeof *s->at);
    *s = (struct frame_slots){.memory = s->memory};
}

void frame_cache_free(struct frame_cache *c) {
    free_slots(&c->spaces);
    free_slots(&c->objects);
}

/* Spaces that are none of a process: one for each cpumode. There are fewer than 2^29 spaces (WHO_MOST). */
static inline uint32_t key_space(unsigned mode, uint32_t space) {
    return mode == CPUMODE_USER && space < SPACES_MOST ? space : SPACES_MOST + mode;
}

static inline struct cached_frame *first_slot(const struct frame_slots *s, uint32_t space, uint64_t address) {
    uint64_t h = (address ^ (uint64_t)(uintptr_t)s->at) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ space) * 0xd6e8feb86659fd93u;
    return &s->at[(size_t)(h >> 32) & (s->count - 1)];
}

/* The slot of the address, or an empty one; NULL: there is neither. */
static inline struct cached_frame *find_slot(const struct frame_slots *s, uint32_t space, uint64_t address) {
    struct cached_frame *slot = s->at ? first_slot(s, space, address) : NULL;
    for (unsigned i = 0; slot && i < STEPS; i++, slot++)
        if (!slot->frame || (slot->address == address && slot->space == space))
            return slot;
    return NULL;
}

void frame_cache_prefetch(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address) {
    if (c->spaces.at)
        __builtin_prefetch(first_slot(&c->spaces, key_space(mode, space), address));
}

static pfr_status grow(struct frame_slots *s, pfr_error *err) {
    struct frame_slots more = *s;
    more.count = s->at ? s->count * 2 : FIRST_SLOTS;
    more.at = mem_zeroed(s->memory, more.count + STEPS, sizeof *more.at);
    if (!more.at)
        return mem_fail(s->memory, err, "frames");
    for (size_t i = 0; s->at && i < s->count + STEPS; i++) {
        struct cached_frame *to = s->at[i].frame ? find_slot(&more, s->at[i].space, s->at[i].address) : NULL;
        if (to) /* what finds no place is looked up again */
            *to = s->at[i];
    }
    free_slots(s);
    *s = more;
    return PFR_OK;
}

/* At the limit of memory it does without. */
static pfr_status keep(struct frame_slots *s, uint32_t space, uint64_t address, const struct frame_found *found,
                       pfr_error *err) {
    struct cached_frame *slot = find_slot(s, space, address);
    while (!slot && s->count < SLOTS_MOST) {
        const pfr_status st = grow(s, err);
        if (st == PFR_ERR_LIMIT)
            break;
        PFR_TRY(st);
        slot = find_slot(s, space, address);
    }
    if (!slot && s->at)
        slot = first_slot(s, space, address);
    if (slot)
        *slot = (struct cached_frame){address,         found->since,     space & SPACE_BITS,
                                      found->too_deep, found->two_names, found->frame + 1};
    return PFR_OK;
}

/* What a place in an object is called depends on nothing else, if it has a name. */
static bool is_lasting(const struct frame_cache *c, const struct place *place) {
    return place->object < SPACES_MOST && !place->ksymbol && !c->frames->profile->wish.addresses;
}

static pfr_status find_named(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                             struct frame_found *found, pfr_error *err) {
    const bool lasting = is_lasting(c, place);
    const uint32_t object = place->object;
    const struct cached_frame *slot = lasting ? find_slot(&c->objects, object, place->offset) : NULL;
    bool named;
    if (slot && slot->frame)
        return found->frame = slot->frame - 1, PFR_OK;
    PFR_TRY(profile_frames_name(c->frames, place, mode, address, found, &named, err));
    return lasting && named ? keep(&c->objects, object, place->offset, found, err) : PFR_OK;
}

void frame_cache_place(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                       const struct key *key, struct place *place) {
    static const struct key end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    state_place_in(&c->frames->profile->state, mode, space, address, key ? *key : end, place);
    if (c->objects.at)
        __builtin_prefetch(first_slot(&c->objects, place->object, place->offset));
}

pfr_status frame_cache_at(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                          struct frame_found *found, pfr_error *err) {
    const uint64_t since = moment_of(&c->frames->profile->state, &place->since);
    *found = (struct frame_found){.since = since, .too_deep = place->too_deep};
    return find_named(c, place, mode, address, found, err);
}

pfr_status frame_cache_find(struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                            const struct key *key, struct frame_found *found, pfr_error *err) {
    const uint32_t own = key_space(mode, space);
    const bool lasting = !key && c->frames->profile->wish.chains;
    const struct cached_frame *slot = lasting ? find_slot(&c->spaces, own, address) : NULL;
    struct place place;
    if (slot && slot->frame) {
        *found = (struct frame_found){slot->since, slot->frame - 1, slot->too_deep, slot->two_names};
        return PFR_OK;
    }
    frame_cache_place(c, mode, space, address, key, &place);
    PFR_TRY(frame_cache_at(c, &place, mode, address, found, err));
    return lasting ? keep(&c->spaces, own, address, found, err) : PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's own caches of addresses in spaces, and of offsets in objects, which avoid most requests to the shared
 * state and names. A single worker has no cache of offsets in objects, because it owns the shared one. A cache grows
 * with its use up to a maximum; then new entries replace older ones. Without chains, an address in a space is looked up
 * only once, when its entry is new, so it is not cached.
 */
#include "model/profile/count/profile_cache.h"
#include "file/read/next.h"
#include "model/profile/count/profile_parts.h"

#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define FULL 3u /* grow when 1 / FULL of the slots are used, so that growth does not depend on the seed */

void frame_cache_init(struct frame_cache *c, struct frames_of *frames, struct memory *memory) {
    const uint64_t seed = table_seed(0);
    *c = (struct frame_cache){
        .frames = frames, .spaces = {.memory = memory, .seed = seed}, .objects = {.memory = memory, .seed = seed}};
}

static void free_slots(struct frame_slots *s) {
    mem_free(s->memory, s->at, s->at ? s->count + STEPS : 0, sizeof *s->at);
    s->at = NULL;
    s->count = 0;
}

void frame_cache_free(struct frame_cache *c) {
    free_slots(&c->spaces);
    free_slots(&c->objects);
}

static inline struct cached_frame *first_slot(const struct frame_slots *s, const struct cached_frame *key) {
    return &s->at[frame_cache_hash(s->seed, key->in, key->address) & (s->count - 2)];
}

/* The slot with this key, or else an empty slot; NULL: there is neither. */
static inline struct cached_frame *find_slot(const struct frame_slots *s, const struct cached_frame *key) {
    struct cached_frame *slot = s->at ? first_slot(s, key) : NULL;
    for (unsigned i = 0; slot && i < STEPS; i++, slot++)
        if (!slot->in || (slot->address == key->address && slot->in == key->in))
            return slot;
    return NULL;
}

static pfr_status grow(struct frame_slots *s, pfr_error *err) {
    struct frame_slots more = *s;
    more.count = s->at ? s->count * 2 : FIRST_SLOTS;
    more.at = mem_zeroed(s->memory, more.count + STEPS, sizeof *more.at);
    if (!more.at)
        return mem_fail(s->memory, err, "frames");
    for (size_t i = 0; s->at && i < s->count + STEPS; i++) {
        struct cached_frame *to = s->at[i].in ? find_slot(&more, &s->at[i]) : NULL;
        if (to) /* if there is no slot for an entry, the address is looked up again later */
            *to = s->at[i];
    }
    free_slots(s);
    *s = more;
    return PFR_OK;
}

/* Adds an entry to the cache, if there is memory. */
static pfr_status keep(struct frame_slots *s, const struct cached_frame *key, const struct frame_found *found,
                       pfr_error *err) {
    while (s->used >= s->count / FULL && s->count < sizes.count_cache) {
        const pfr_status st = grow(s, err);
        if (st == PFR_ERR_LIMIT)
            break;
        PFR_TRY(st);
    }
    struct cached_frame *slot = find_slot(s, key);
    if (!slot && s->at)
        slot = first_slot(s, key);
    if (!slot)
        return PFR_OK;
    s->used++;
    *slot = *key;
    slot->since = found->since;
    slot->frame = found->frame;
    slot->too_deep = found->too_deep;
    slot->two_names = found->two_names;
    return PFR_OK;
}

static struct cached_frame object_key(const struct place *place) {
    return (struct cached_frame){.address = place->offset, .in = frame_cache_in(0, place->object)};
}

/* Whether names may be cached by object and offset. A name depends on nothing else. Whether a name is missing may
   depend on more, so missing names are not cached. */
static bool is_lasting(const struct frame_cache *c, const struct place *place) {
    return !c->frames->one_worker && place->object != NO_OBJECT && !place->ksymbol &&
           !request_has_addresses(&c->frames->profile->request);
}

static pfr_status find_named(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                             struct frame_found *found, pfr_error *err) {
    const bool lasting = is_lasting(c, place);
    const struct cached_frame key = object_key(place);
    const struct cached_frame *slot = lasting ? find_slot(&c->objects, &key) : NULL;
    bool named;
    if (slot && slot->in)
        return found->frame = slot->frame, PFR_OK;
    PFR_TRY(profile_frames_name(c->frames, place, mode, address, found, &named, err));
    return lasting && named ? keep(&c->objects, &key, found, err) : PFR_OK;
}

void frame_cache_place(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                       const struct record_key *key, struct place *place) {
    static const struct record_key end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct frame_slots *s = &c->objects;
    state_place_in(&c->frames->profile->state, mode, space, address, key ? *key : end, place);
    const struct cached_frame of = object_key(place);
    if (c->frames->one_worker)
        profile_frames_expect(c->frames, place);
    else if (s->at)
        __builtin_prefetch(first_slot(s, &of));
}

pfr_status frame_cache_at(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                          struct frame_found *found, pfr_error *err) {
    const uint64_t since = moment_of(&c->frames->profile->state, &place->since);
    *found = (struct frame_found){.since = since, .too_deep = place->too_deep};
    return find_named(c, place, mode, address, found, err);
}

pfr_status frame_cache_find(struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                            const struct record_key *key, struct frame_found *found, pfr_error *err) {
    struct place place;
    if (!key && request_has_chains(&c->frames->profile->request))
        return frame_cache_find_in(c, frame_cache_in(mode, space), address, found, err);
    frame_cache_place(c, mode, space, address, key, &place);
    return frame_cache_at(c, &place, mode, address, found, err);
}

bool frame_cache_knows(const struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found) {
    const struct cached_frame key = {.address = address, .in = in};
    const struct cached_frame *slot = find_slot(&c->spaces, &key);
    if (!slot || !slot->in)
        return false;
    *found = (struct frame_found){slot->since, slot->frame, slot->too_deep, slot->two_names};
    return true;
}

static unsigned mode_in(uint64_t in) {
    return in >> 32 & 0xff;
}

void frame_cache_expect(const struct frame_cache *c, uint64_t in, uint64_t address, struct place *place) {
    frame_cache_place(c, mode_in(in), (uint32_t)in, address, NULL, place);
}

static pfr_status find_new(struct frame_cache *c, uint64_t in, uint64_t address, struct place *place,
                           struct frame_found *found, pfr_error *err) {
    const struct cached_frame key = {.address = address, .in = in};
    PFR_TRY(frame_cache_at(c, place, mode_in(in), address, found, err));
    return keep(&c->spaces, &key, found, err);
}

/* Resolves an address, unless an equal address was resolved after frame_cache_expect(). */
pfr_status frame_cache_settle(struct frame_cache *c, uint64_t in, uint64_t address, struct place *place,
                              struct frame_found *found, pfr_error *err) {
    return frame_cache_knows(c, in, address, found) ? PFR_OK : find_new(c, in, address, place, found, err);
}

pfr_status frame_cache_find_in(struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found,
                               pfr_error *err) {
    struct place place;
    if (frame_cache_knows(c, in, address, found))
        return PFR_OK;
    frame_cache_expect(c, in, address, &place);
    return find_new(c, in, address, &place, found, err);
}

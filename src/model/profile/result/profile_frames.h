/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_FRAMES_H
#define PFR_MODEL_PROFILE_FRAMES_H
/* Maps addresses to frames, and frames to names: a part of profile_parts.h. */
#include "model/profile/result/profile.h"

#include <pthread.h>

/* --- profile_frames.c */

struct object_place {
    uint64_t offset;
    uint32_t object;
    uint32_t frame; /* frame + 1; 0: empty */
};

struct frame_slot {
    uint32_t hash;
    uint32_t frame; /* frame + 1; 0: empty */
};

/* Hash table of numbers; `count` is a power of two. */
struct frame_hashes {
    struct frame_slot *at;
    size_t count;
    uint64_t seed; /* seed of the hashes, against crafted collisions */
};

/* Shared by all workers; its lock also protects the profile's frames, places, names and texts. */
struct frames_of {
    struct profile *profile;
    struct memory *memory;
    pthread_mutex_t lock;
    unsigned workers; /* number of workers */
    bool one_worker;  /* a single worker needs no lock and no cache of its own for places in objects */
    struct object_place *slots;
    size_t slot_count, used;
    struct frame_hashes index; /* frames by identity */
    struct frame_hashes alike; /* kinds of frames by likeness: see profile_frame_classes.c */
    struct u64_map places;     /* frame -> index of its place */
    uint32_t *kinds;           /* the first frame of each kind, from index 1 on */
    size_t kinds_room;
    uint32_t nr_kinds;
    struct unwind_objects unwinding;
    char arch[32]; /* architecture of the recorded machine; "": unknown */
};

struct frame_found {
    uint64_t since; /* timestamp key: the result is valid for samples after it */
    uint32_t frame;
    bool too_deep;
    bool two_names; /* the frame is unnamed, and its recorded address and its offset in the object differ, or it may
                       represent many addresses */
};

void profile_frames_init(struct frames_of *f, struct profile *p);
void profile_frames_free(struct frames_of *f);
/* Discards all frames of the profile, their texts and names. Callers must discard their frame numbers. */
void profile_frames_forget(struct frames_of *f);
/* Finds the frame of a place that the state found for the address. May change place->object. */
pfr_status profile_frames_name(struct frames_of *f, struct place *place, unsigned mode, uint64_t address,
                               struct frame_found *found, bool *named, pfr_error *err);
/* As profile_frames_name, for many places in ascending order. Only for callers that need nothing but the frame, while
   no other worker runs. Addresses inside the symbol found last need no lookup. Zero `near` before the first call. */
struct frame_near {
    struct address_near names;
    uint32_t frame; /* frame of that symbol, for this mode */
    unsigned mode;
};
pfr_status profile_frames_name_next(struct frames_of *f, struct frame_near *near, struct place *place, unsigned mode,
                                    uint64_t address, uint32_t *frame, pfr_error *err);
/* Prefetches the memory that the lookup of a place reads first. */
void profile_frames_expect(const struct frames_of *f, const struct place *place);
bool profile_frames_has_object(struct frames_of *f, uint32_t frame);
pfr_status profile_frames_put_text(struct frames_of *f, const void *bytes, size_t length, uint32_t *text,
                                   pfr_error *err);
pfr_status profile_frames_put_place(struct frames_of *f, uint32_t frame, uint64_t address, uint64_t *value,
                                    pfr_error *err);
/* The number of a frame, added if it is new. */
pfr_status profile_frames_put(struct frames_of *f, const struct profile_frame *frame, uint32_t *number, pfr_error *err);
/* Adds a frame that is only a text. */
pfr_status profile_frames_put_words(struct frames_of *f, const char *words, uint32_t *frame, pfr_error *err);
/* Makes room for one element more than `used`. The first call makes the seed: compute hashes only after this call. */
pfr_status profile_frames_grow(struct frames_of *f, struct frame_hashes *hashes, uint32_t used, pfr_error *err);

/* --- profile_names.c */

/* Placeholder for the text of a frame that gets its name at the end. */
#define NAMED_LAST (NO_TEXT - 1)

/* --- profile_cache.c */

struct cached_frame {
    uint64_t address, since;
    uint64_t in; /* container of the address: frame_cache_in of a space, or of mode 0 and an object; 0: empty slot */
    uint32_t frame;
    bool too_deep, two_names;
};

struct frame_slots {
    struct memory *memory;
    struct cached_frame *at;
    size_t count;  /* a power of two, plus STEPS */
    size_t used;   /* number of used slots; approximate, because replaced entries count twice */
    uint64_t seed; /* seed of the hashes, against crafted collisions */
};
#define STEPS 8u /* number of adjacent slots that one address may use */

struct frame_cache {
    struct frames_of *frames;
    struct frame_slots spaces;  /* by address in a space, with the final state */
    struct frame_slots objects; /* by offset in an object; only frames with a name */
};

/* Container of an address in a chain, as part of the key of the cache. Kernel addresses are the same in all spaces. */
static inline uint64_t frame_cache_in(unsigned mode, uint32_t space) {
    return (uint64_t)1 << 63 | (uint64_t)mode << 32 | (mode == PFR_CPUMODE_KERNEL ? NO_SPACE : space);
}
static inline uint32_t frame_cache_hash(uint64_t seed, uint64_t in, uint64_t address) {
    const uint64_t h = ((address ^ seed) * 0x9e3779b97f4a7c15u) ^ in;
    return (uint32_t)((h ^ h >> 29) * 0xd6e8feb86659fd93u >> 32);
}
/* A view of the cache for lookups without a function call, in the two slots of one cache line where an entry is stored
   first. Valid until the next call. A slot number stays valid longer, but the entry may then be in another slot. */
struct frame_cache_view {
    const struct cached_frame *at;
    size_t mask;
    uint64_t seed;
};
static inline struct frame_cache_view frame_cache_look(const struct frame_cache *c) {
    static const struct cached_frame nothing[2];
    return c->spaces.at ? (struct frame_cache_view){c->spaces.at, c->spaces.count - 2, c->spaces.seed}
                        : (struct frame_cache_view){nothing, 0, 0};
}
static inline uint32_t frame_cache_slot(struct frame_cache_view view, uint64_t in, uint64_t address) {
    return frame_cache_hash(view.seed, in, address) & (uint32_t)view.mask;
}
/* NULL: the address is not in these two slots; it may still be in others. */
static inline const struct cached_frame *frame_cache_peek(struct frame_cache_view view, uint32_t slot, uint64_t in,
                                                          uint64_t address) {
    const struct cached_frame *pair = &view.at[slot & view.mask];
    const bool first = pair[0].address == address && pair[0].in == in;
    const bool second = pair[1].address == address && pair[1].in == in;
    return (first | second) ? &pair[second] : NULL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_FRAMES_H
#define PFR_MODEL_PROFILE_FRAMES_H
/*
 * Addresses to frames, and frames to names: a part of how profiles are made (profile_parts.h).
 */
#include "model/profile/result/profile.h"

#include <pthread.h>

/* --- profile_frames.c */

struct object_place {
    uint64_t offset;
    uint32_t object;
    uint32_t frame; /* + 1; 0: empty */
};

struct frame_slot {
    uint32_t hash;
    uint32_t frame; /* + 1; 0: empty */
};

/* Numbers by hash; `count` is a power of two. */
struct frame_hashes {
    struct frame_slot *at;
    size_t count;
    uint64_t seed; /* of the hashes, so that a file cannot be made to collide */
};

/* What all lanes share; the profile's frames, places, names and texts are behind its lock. */
struct frames_of {
    struct profile *profile;
    struct memory *memory;
    pthread_mutex_t lock;
    unsigned workers; /* that ask */
    bool one_worker;  /* that alone asks, and needs no lock, and no memory of its own of what stands in objects */
    struct object_place *slots;
    size_t slot_count, used;
    struct frame_hashes index; /* frames by what makes two addresses one */
    struct frame_hashes alike; /* profile_frame_classes.c: kinds by what makes frames alike */
    struct u64_map places;     /* frame -> its place */
    uint32_t *kinds;           /* the first frame of each; from 1 on */
    size_t kinds_room;
    uint32_t nr_kinds;
    struct unwind_objects unwinding;
    char arch[32]; /* of the recorded machine; "": not told */
};

struct frame_found {
    uint64_t since; /* a moment; samples behind it were there, too */
    uint32_t frame;
    bool too_deep;
    bool two_names; /* it has no name, and is one thing as recorded and another in its object, or may be one of many */
};

void profile_frames_init(struct frames_of *f, struct profile *p);
void profile_frames_free(struct frames_of *f);
/* All frames of the profile, their texts and names, as if none had been asked for; and who keeps a number of one has
   to forget it. */
void profile_frames_forget(struct frames_of *f);
/* The frame of a place that the state gave for the address; place->object may change. */
pfr_status profile_frames_name(struct frames_of *f, struct place *place, unsigned mode, uint64_t address,
                               struct frame_found *found, bool *named, pfr_error *err);
/* The same while no other lane runs, for who asks no more than the frame, and for many places in order:
   what the symbol that was found last covers is not looked for again. `near` is all zero before the first. */
struct frame_near {
    struct address_near names;
    uint32_t frame; /* that the symbol is, of this mode */
    unsigned mode;
};
pfr_status profile_frames_name_next(struct frames_of *f, struct frame_near *near, struct place *place, unsigned mode,
                                    uint64_t address, uint32_t *frame, pfr_error *err);
/* Where it will look first is fetched meanwhile. */
void profile_frames_expect(const struct frames_of *f, const struct place *place);
bool profile_frames_has_object(struct frames_of *f, uint32_t frame);
pfr_status profile_frames_put_text(struct frames_of *f, const void *bytes, size_t length, uint32_t *text,
                                   pfr_error *err);
pfr_status profile_frames_put_place(struct frames_of *f, uint32_t frame, uint64_t address, uint64_t *value,
                                    pfr_error *err);
/* The number of a frame, made when it is new. */
pfr_status profile_frames_put(struct frames_of *f, const struct profile_frame *frame, uint32_t *number, pfr_error *err);
/* A frame that is only words. */
pfr_status profile_frames_put_words(struct frames_of *f, const char *words, uint32_t *frame, pfr_error *err);
/* Room for one more than the `used` that are there. The seed is made with the first: hash after that. */
pfr_status profile_frames_grow(struct frames_of *f, struct frame_hashes *hashes, uint32_t used, pfr_error *err);

/* --- profile_names.c */

/* Text of a frame that is named last, until then. */
#define NAMED_LAST (NO_TEXT - 1)

/* --- profile_cache.c */

struct cached_frame {
    uint64_t address, since;
    uint64_t in; /* frame_cache_in of a space, or of mode 0 and an object; 0: empty */
    uint32_t frame;
    bool too_deep, two_names;
};

struct frame_slots {
    struct memory *memory;
    struct cached_frame *at;
    size_t count;  /* a power of two, and STEPS more */
    size_t used;   /* about: what was replaced counts twice */
    uint64_t seed; /* so that a file cannot be made to collide */
};
#define STEPS 8u /* slots that one address may be in */

struct frame_cache {
    struct frames_of *frames;
    struct frame_slots spaces;  /* by address in a space, as of the end */
    struct frame_slots objects; /* by place in an object, those with a name */
};

/* What an address of a chain is in. Addresses of the kernel are the same in all spaces. */
static inline uint64_t frame_cache_in(unsigned mode, uint32_t space) {
    return (uint64_t)1 << 63 | (uint64_t)mode << 32 | (mode == PFR_CPUMODE_KERNEL ? NO_SPACE : space);
}
static inline uint32_t frame_cache_hash(uint64_t seed, uint64_t in, uint64_t address) {
    const uint64_t h = ((address ^ seed) * 0x9e3779b97f4a7c15u) ^ in;
    return (uint32_t)((h ^ h >> 29) * 0xd6e8feb86659fd93u >> 32);
}
/* The two slots of one line of the processor's cache where what is known stands first, to be looked at without a call.
   Until the next call. A slot's number is good for longer, but what is known may stand in another then. */
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
/* NULL: it may be known all the same. */
static inline const struct cached_frame *frame_cache_peek(struct frame_cache_view view, uint32_t slot, uint64_t in,
                                                          uint64_t address) {
    const struct cached_frame *pair = &view.at[slot & view.mask];
    const bool first = pair[0].address == address && pair[0].in == in;
    const bool second = pair[1].address == address && pair[1].in == in;
    return (first | second) ? &pair[second] : NULL;
}

#endif

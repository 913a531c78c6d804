/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes (kinds) of frames that the consumer treats as equal: frames of one kind have the same words, as computed by
 * profile_request.likeness. Kinds are numbered from 1, in the order in which they were met. For each kind only its
 * first frame is stored; the words of that frame are computed again when a hash matches.
 */
#include "model/profile/result/profile_frame_classes.h"
#include "file/read/next.h"
#include "model/profile/result/profile_frames.h"

#define FIRST_KINDS ((size_t)1024)

struct likeness {
    uint64_t words[PROFILE_LIKENESS_MOST];
    unsigned count;
    uint32_t hash;
};

static void learn(const struct frames_of *f, uint32_t frame, struct likeness *to) {
    const struct profile_request *w = &f->profile->request;
    uint64_t h = f->alike.seed;
    to->count = w->likeness(w->context, f->profile, frame, to->words);
    for (unsigned i = 0; i < to->count; i++) {
        h = (h ^ to->words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    to->hash = (uint32_t)(h * 0xd6e8feb86659fd93u >> 32);
}

static bool are_alike(const struct frames_of *f, const struct likeness *one, uint32_t frame) {
    struct likeness other;
    learn(f, frame, &other);
    return one->count == other.count && memcmp(one->words, other.words, one->count * sizeof *one->words) == 0;
}

/* The slot of the kind with these words, or an empty slot for it. */
static struct frame_slot *find_slot(const struct frames_of *f, const struct likeness *one) {
    for (size_t i = one->hash;; i++) {
        struct frame_slot *slot = &f->alike.at[i & (f->alike.count - 1)];
        if (!slot->frame || (slot->hash == one->hash && are_alike(f, one, f->kinds[slot->frame])))
            return slot;
    }
}

static pfr_status grow(struct frames_of *f, pfr_error *err) {
    uint32_t *kinds =
        mem_grow(f->memory, f->kinds, (size_t)f->nr_kinds + 1, &f->kinds_room, FIRST_KINDS, sizeof *kinds);
    if (!kinds)
        return mem_fail(f->memory, err, "frames");
    f->kinds = kinds;
    return profile_frames_grow(f, &f->alike, f->nr_kinds, err);
}

static pfr_status find_kind(struct frames_of *f, uint32_t frame, uint32_t *kind, pfr_error *err) {
    struct likeness one;
    PFR_TRY(grow(f, err));
    learn(f, frame, &one);
    struct frame_slot *slot = find_slot(f, &one);
    if (!slot->frame) {
        f->kinds[++f->nr_kinds] = frame;
        *slot = (struct frame_slot){one.hash, f->nr_kinds};
    }
    *kind = slot->frame;
    return PFR_OK;
}

pfr_status profile_frames_kind(struct frames_of *f, uint32_t frame, uint32_t *kind, pfr_error *err) {
    if (!f->one_worker)
        pthread_mutex_lock(&f->lock);
    const pfr_status st = find_kind(f, frame, kind, err);
    if (!f->one_worker)
        pthread_mutex_unlock(&f->lock);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to frames. What stands at an address of a space is found once, at the end of the recording, and kept with
 * the moment since when it has been so. A frame is made of
 *
 *     a symbol       object, start of the symbol, its name
 *     an address     object, address in it, address as recorded (where nothing names it)
 */
#include "model/profile_parts.h"

#define FIRST_SLOTS ((size_t)1024)

static const struct key at_the_end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

struct frame_key {
    uint64_t address, ip;
    uint32_t object, text;
};

void profile_frames_init(struct frames_of *f, struct profile *p) {
    *f = (struct frames_of){.profile = p, .memory = p->memory};
    intern_init(&f->keys, p->memory);
}

void profile_frames_forget(struct frames_of *f) {
    mem_free(f->memory, f->slots, f->slot_count, sizeof *f->slots);
    f->slots = NULL;
    f->slot_count = f->used = 0;
}

void profile_frames_free(struct frames_of *f) {
    profile_frames_forget(f);
    intern_free(&f->keys);
}

/* Room is made first: what has a number must have a frame, also where there is no more memory. */
static pfr_status make_room(struct frames_of *f, pfr_error *err) {
    struct profile *p = f->profile;
    if (p->nr_frames == NODE_APART)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^31 frames");
    void *more = mem_grow(f->memory, p->frames, p->nr_frames, &p->frames_room, 256, sizeof *p->frames);
    if (!more)
        return mem_fail(f->memory, err, "frames");
    p->frames = more;
    return PFR_OK;
}

static pfr_status put_frame(struct frames_of *f, const struct profile_frame *frame, uint32_t *number, pfr_error *err) {
    const bool named = frame->text != NO_TEXT;
    const struct frame_key key = {frame->address, named ? 0 : frame->ip, frame->object, frame->text};
    PFR_TRY(make_room(f, err));
    PFR_TRY(intern_put(&f->keys, &key, sizeof key, number, err));
    if (*number == f->profile->nr_frames)
        f->profile->frames[f->profile->nr_frames++] = *frame;
    return PFR_OK;
}

pfr_status profile_text_frame(struct frames_of *f, const char *text, uint32_t *number, pfr_error *err) {
    struct profile_frame frame = {.object = NO_OBJECT};
    PFR_TRY(intern_put(&f->profile->texts, text, strlen(text), &frame.text, err));
    return put_frame(f, &frame, number, err);
}

/* Addresses of the kernel that no map covers are named by its symbols all the same. */
static pfr_status find_place(struct frames_of *f, unsigned mode, uint32_t space, uint64_t address,
                             const struct key *key, struct place *place, pfr_error *err) {
    struct profile *p = f->profile;
    state_place_in(&p->state, mode, space, address, *key, place);
    if (place->map || mode != CPUMODE_KERNEL)
        return PFR_OK;
    return address_names_kernel(&p->names, address, &place->object, err);
}

static pfr_status name_place(struct frames_of *f, const struct place *place, unsigned mode, uint64_t address,
                             uint32_t *number, pfr_error *err) {
    struct profile *p = f->profile;
    struct address_name name;
    struct profile_frame frame = {
        .object = place->object, .text = NO_TEXT, .address = place->offset, .ip = address, .cpumode = (uint8_t)mode};
    PFR_TRY(address_names_at(&p->names, place, address, &name, err));
    if (name.text) {
        PFR_TRY(intern_put(&p->texts, name.text, name.length, &frame.text, err));
        frame.start = frame.address - name.ahead;
        frame.size = name.size;
        frame.address = p->wish.addresses ? frame.address : frame.start;
    }
    return put_frame(f, &frame, number, err);
}

pfr_status profile_frame_at(struct frames_of *f, unsigned mode, uint32_t space, uint64_t address, const struct key *key,
                            uint32_t *frame, bool *too_deep, pfr_error *err) {
    struct place place;
    PFR_TRY(find_place(f, mode, space, address, key, &place, err));
    *too_deep = place.too_deep;
    return name_place(f, &place, mode, address, frame, err);
}

static struct frame_place *find_slot(const struct frames_of *f, uint32_t space, uint64_t address) {
    uint64_t h = (address ^ (uint64_t)(uintptr_t)f->slots) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ space) * 0xd6e8feb86659fd93u;
    for (size_t i = (size_t)(h ^ h >> 32);; i++) {
        struct frame_place *slot = &f->slots[i & (f->slot_count - 1)];
        if (!slot->frame || (slot->address == address && slot->space == space))
            return slot;
    }
}

static bool grow(struct frames_of *f) {
    struct frames_of more = *f;
    more.slot_count = f->slots ? f->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(f->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].frame)
            *find_slot(&more, f->slots[i].space, f->slots[i].address) = f->slots[i];
    mem_free(f->memory, f->slots, f->slot_count, sizeof *f->slots);
    *f = more;
    return true;
}

/* Spaces that are none of a process: one for each cpumode. */
static uint32_t key_space(unsigned mode, uint32_t space) {
    return mode == CPUMODE_USER ? space : UINT32_MAX - 1 - mode;
}

pfr_status profile_frame(struct frames_of *f, unsigned mode, uint32_t space, uint64_t address,
                         const struct frame_place **found, pfr_error *err) {
    struct place place;
    uint32_t number;
    if (f->used >= f->slot_count / 4 * 3 && !grow(f))
        return mem_fail(f->memory, err, "frames");
    struct frame_place *slot = find_slot(f, key_space(mode, space), address);
    *found = slot;
    if (slot->frame)
        return PFR_OK;
    PFR_TRY(find_place(f, mode, space, address, &at_the_end, &place, err));
    PFR_TRY(name_place(f, &place, mode, address, &number, err));
    *slot = (struct frame_place){.address = address,
                                 .space = key_space(mode, space),
                                 .since = moment_of(&f->profile->state, &place.since),
                                 .frame = number + 1,
                                 .too_deep = place.too_deep};
    f->used++;
    return PFR_OK;
}

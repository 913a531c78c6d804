/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps addresses to frames, for all workers: the name of each place in an object is looked up once, by the first worker
 * that meets the place. A frame is identified by
 *
 *    a symbol       object, start of the symbol, its name
 *    an address     object, address in it, address as recorded (if unnamed)
 *
 * Frames are numbered in the order in which workers met them, which must not affect the output. So if several addresses
 * are one frame, members that differ between these addresses have the values of the smallest address.
 */
#include "model/profile/result/profile_names.h"
#include "file/read/next.h"
#include "base/threads/spin_wait.h"
#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"
#include "model/profile/result/profile_frames.h"

#define FIRST_SLOTS (sizes.table_slots < 1024 ? sizes.table_slots : (size_t)1024)
#define UNNAMED UINT32_MAX /* in place of a frame: there is no name; the frame depends on the recorded address */

void profile_frames_init(struct frames_of *f, struct profile *p) {
    *f = (struct frames_of){.profile = p, .memory = p->memory};
    pthread_mutex_init(&f->lock, NULL);
    u64_map_init(&f->places, p->memory);
    const struct unwind_options how = {
        .naming = p->request.names.naming, .release = p->request.names.release, .arch = f->arch};
    unwind_objects_init(&f->unwinding, &p->state, p->memory, &how);
}

void profile_frames_free(struct frames_of *f) {
    mem_free(f->memory, f->slots, f->slot_count, sizeof *f->slots);
    mem_free(f->memory, f->index.at, f->index.count, sizeof *f->index.at);
    mem_free(f->memory, f->alike.at, f->alike.count, sizeof *f->alike.at);
    mem_free(f->memory, f->kinds, f->kinds_room, sizeof *f->kinds);
    u64_map_free(&f->places);
    unwind_objects_free(&f->unwinding);
    pthread_mutex_destroy(&f->lock);
}

void profile_frames_forget(struct frames_of *f) {
    struct profile *p = f->profile;
    char arch[sizeof f->arch];
    memcpy(arch, f->arch, sizeof arch);
    profile_frames_free(f);
    mem_free(p->memory, p->frames, p->rooms.frames, sizeof *p->frames);
    mem_free(p->memory, p->places, p->rooms.places, sizeof *p->places);
    intern_free(&p->texts);
    address_names_free(&p->names);
    p->frames = NULL;
    p->places = NULL;
    p->rooms.frames = p->rooms.places = 0;
    p->nr_frames = p->nr_places = 0;
    intern_init(&p->texts, p->memory);
    address_names_init(&p->names, &p->state, p->memory, &p->request.names);
    profile_frames_init(f, p);
    memcpy(f->arch, arch, sizeof arch);
}

/* --- Frames. The caller holds the lock. */

/* Makes room before a frame is numbered: each number must have a frame, even if memory runs out. */
static pfr_status make_room(struct frames_of *f, pfr_error *err) {
    struct profile *p = f->profile;
    if (p->nr_frames == NODE_APART - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^31 frames");
    void *more = mem_grow(f->memory, p->frames, p->nr_frames, &p->rooms.frames, 256, sizeof *p->frames);
    if (!more)
        return mem_fail(f->memory, err, "frames");
    p->frames = more;
    return PFR_OK;
}

static void keep_least(struct profile_frame *kept, const struct profile_frame *frame) {
    if (frame->ip > kept->ip || (frame->ip == kept->ip && frame->cpumode >= kept->cpumode))
        return;
    kept->ip = frame->ip;
    kept->cpumode = frame->cpumode;
}

static uint32_t hash_frame(const struct frames_of *f, const struct profile_frame *frame) {
    uint64_t h = (frame->address ^ f->index.seed) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ ((uint64_t)frame->object << 32 | frame->text)) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 29 ^
         (f->profile->request.unit == PROFILE_ADDRESSES_APART || frame->text == NO_TEXT ? frame->ip : 0)) *
        0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static bool is_same_frame(const struct frames_of *f, const struct profile_frame *a, const struct profile_frame *b) {
    return a->address == b->address && a->object == b->object && a->text == b->text &&
           (a->ip == b->ip || (a->text != NO_TEXT && f->profile->request.unit != PROFILE_ADDRESSES_APART));
}

/* The slot of the frame, or an empty one for it. */
static struct frame_slot *find_frame(const struct frames_of *f, const struct profile_frame *frame, uint32_t hash) {
    const size_t mask = f->index.count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct frame_slot *slot = &f->index.at[i];
        if (!slot->frame || (slot->hash == hash && is_same_frame(f, &f->profile->frames[slot->frame - 1], frame)))
            return slot;
    }
}

static void move_slots(const struct frame_slot *from, size_t from_count, struct frame_slot *to, size_t count) {
    for (size_t i = 0; i < from_count; i++) {
        size_t at = from[i].hash & (count - 1);
        while (from[i].frame && to[at].frame)
            at = (at + 1) & (count - 1);
        if (from[i].frame)
            to[at] = from[i];
    }
}

pfr_status profile_frames_grow(struct frames_of *f, struct frame_hashes *h, uint32_t used, pfr_error *err) {
    const size_t count = h->at ? h->count * 2 : FIRST_SLOTS;
    if (used < h->count / 4 * 3)
        return PFR_OK;
    struct frame_slot *slots = mem_zeroed(f->memory, count, sizeof *slots);
    if (!slots)
        return mem_fail(f->memory, err, "frames");
    move_slots(h->at, h->count, slots, count);
    mem_free(f->memory, h->at, h->count, sizeof *slots);
    h->seed = h->at ? h->seed : table_seed(count);
    h->at = slots;
    h->count = count;
    return PFR_OK;
}

static pfr_status put_frame(struct frames_of *f, const struct profile_frame *frame, uint32_t *number, pfr_error *err) {
    PFR_TRY(make_room(f, err));
    PFR_TRY(profile_frames_grow(f, &f->index, f->profile->nr_frames, err));
    const uint32_t hash = hash_frame(f, frame);
    struct frame_slot *slot = find_frame(f, frame, hash);
    if (slot->frame) {
        keep_least(&f->profile->frames[slot->frame - 1], frame);
    } else {
        const uint32_t count = f->profile->nr_frames;
        f->profile->frames[count] = *frame;
        __atomic_store_n(&f->profile->nr_frames, count + 1,
                         __ATOMIC_RELAXED); /* other threads may read it without the lock */
        *slot = (struct frame_slot){hash, count + 1};
    }
    *number = slot->frame - 1;
    return PFR_OK;
}

static struct profile_frame unnamed(const struct frames_of *f, const struct place *place, unsigned mode,
                                    uint64_t address) {
    const bool together = f->profile->request.unnamed == PROFILE_UNNAMED_TOGETHER;
    const uint64_t of_mode = place->object == NO_OBJECT ? mode : 0;
    return (struct profile_frame){.object = place->object,
                                  .text = NO_TEXT,
                                  .mangled = NO_TEXT,
                                  .address = together ? 0 : place->offset,
                                  .ip = together ? of_mode : address,
                                  .cpumode = (uint8_t)mode};
}

/* Finds the name of a place. `near` NULL: the range of the name is not needed. */
static pfr_status find_name(struct frames_of *f, struct frame_near *near, const struct place *place, uint64_t address,
                            struct address_name *name, pfr_error *err) {
    struct address_names *names = &f->profile->names;
    if (!near || place->ksymbol)
        return address_names_at(names, place, address, name, err);
    return address_names_near(names, &near->names, place->object, address, place->offset, name, err);
}

static pfr_status name_place(struct frames_of *f, struct frame_near *near, const struct place *place, unsigned mode,
                             uint64_t address, uint32_t *number, pfr_error *err) {
    struct profile *p = f->profile;
    struct address_name name;
    struct profile_frame frame = unnamed(f, place, mode, address);
    PFR_TRY(find_name(f, near, place, address, &name, err));
    if (name.text) {
        PFR_TRY(profile_names_put(&p->texts, &name, &frame.text, err));
        if (p->request.mangled_names)
            PFR_TRY(intern_put(&p->texts, name.mangled, strlen(name.mangled), &frame.mangled, err));
        frame.start = place->offset - name.ahead;
        frame.size = name.size;
        frame.address = request_has_addresses(&p->request) ? place->offset : frame.start;
        frame.ip = request_has_addresses(&p->request) ? address : 0;
    }
    return put_frame(f, &frame, number, err);
}

/* Whether the symbol found last is one frame for all its addresses, and covers this address. */
static bool is_near(struct frames_of *f, const struct frame_near *near, const struct place *place, unsigned mode,
                    uint64_t address) {
    const struct profile_request *request = &f->profile->request;
    return near->names.name.text && near->mode == mode && !request_has_addresses(request) &&
           request->unit != PROFILE_ADDRESSES_APART && !place->ksymbol &&
           address_names_is_near(&f->profile->names, &near->names, place->object, address, place->offset);
}

/* --- Known places in objects. The caller holds the lock. */

static inline size_t place_hash(const struct frames_of *f, uint32_t object, uint64_t offset) {
    uint64_t h = (offset ^ table_seed(f->slot_count)) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ object) * 0xd6e8feb86659fd93u;
    return (size_t)(h ^ h >> 32);
}

static struct object_place *find_slot(const struct frames_of *f, uint32_t object, uint64_t offset) {
    for (size_t i = place_hash(f, object, offset);; i++) {
        struct object_place *slot = &f->slots[i & (f->slot_count - 1)];
        if (!slot->frame || (slot->offset == offset && slot->object == object))
            return slot;
    }
}

void profile_frames_expect(const struct frames_of *f, const struct place *place) {
    if (f->slots)
        __builtin_prefetch(&f->slots[place_hash(f, place->object, place->offset) & (f->slot_count - 1)]);
}

static pfr_status grow(struct frames_of *f, pfr_error *err) {
    struct frames_of more = *f;
    if (f->used < f->slot_count / 4 * 3)
        return PFR_OK;
    more.slot_count = f->slots ? f->slot_count * 2 : FIRST_SLOTS;
    more.slots = mem_zeroed(f->memory, more.slot_count, sizeof *more.slots);
    if (!more.slots)
        return mem_fail(f->memory, err, "frames");
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].frame)
            *find_slot(&more, f->slots[i].object, f->slots[i].offset) = f->slots[i];
    mem_free(f->memory, f->slots, f->slot_count, sizeof *f->slots);
    f->slots = more.slots;
    f->slot_count = more.slot_count;
    return PFR_OK;
}

/* Whether a missing name depends only on the offset in the file, not on the address. */
static bool names_go_by_offset(const struct frames_of *f, uint32_t object) {
    return f->profile->state.objects.at[object].kind == OBJECT_FILE;
}

/* Sets *slot to the slot of a place, or to an empty one for it. Makes room for one more place first. */
static pfr_status find_place(struct frames_of *f, const struct place *place, struct object_place **slot,
                             pfr_error *err) {
    PFR_TRY(grow(f, err));
    *slot = find_slot(f, place->object, place->offset);
    return PFR_OK;
}

static void keep_least_at(const struct frames_of *f, uint32_t frame, unsigned mode, uint64_t address) {
    const struct profile_frame seen = {.ip = address, .cpumode = (uint8_t)mode};
    keep_least(&f->profile->frames[frame], &seen);
}

/* Makes each place a frame of its own, whatever its name will be, because no other place can be an equal frame. Members
   that differ between addresses have the values of the first address met, because updating them would fetch every frame
   from memory. */
static pfr_status find_nameless(struct frames_of *f, const struct place *place, unsigned mode, uint64_t address,
                                uint32_t *number, pfr_error *err) {
    struct profile *p = f->profile;
    struct object_place *slot;
    PFR_TRY(find_place(f, place, &slot, err));
    if (slot->frame) {
        *number = slot->frame - 1;
        if (place->object == NO_OBJECT) /* frames without an object are distinguished only by mode */
            keep_least_at(f, *number, mode, address);
        return PFR_OK;
    }
    PFR_TRY(make_room(f, err));
    p->frames[p->nr_frames] = unnamed(f, place, mode, address);
    if (place->object != NO_OBJECT)
        p->frames[p->nr_frames].text = NAMED_LAST;
    *number = p->nr_frames;
    __atomic_store_n(&p->nr_frames, *number + 1, __ATOMIC_RELAXED); /* other threads may read it without the lock */
    f->used++;
    *slot = (struct object_place){place->offset, place->object, p->nr_frames};
    return PFR_OK;
}

/* Finds or adds the frame of a known place at another address: each address in memory is a separate frame. */
static pfr_status put_at_address(struct frames_of *f, uint32_t known, unsigned mode, uint64_t address, uint32_t *number,
                                 pfr_error *err) {
    struct profile_frame frame = f->profile->frames[known];
    frame.ip = address;
    frame.cpumode = (uint8_t)mode;
    return put_frame(f, &frame, number, err);
}

/* Finds the frame of a place by its name. The name may come from a map that is valid only at this timestamp; then the
   place is not stored. */
static pfr_status find_named(struct frames_of *f, struct frame_near *near, const struct place *place, unsigned mode,
                             uint64_t address, uint32_t *number, pfr_error *err) {
    struct object_place *slot;
    if (f->profile->request.unit == PROFILE_NAMED_LAST && profile_names_may_wait(f->profile, place))
        return find_nameless(f, place, mode, address, number, err);
    if (place->object == NO_OBJECT || place->ksymbol)
        return name_place(f, NULL, place, mode, address, number, err);
    PFR_TRY(find_place(f, place, &slot, err));
    if (slot->frame && slot->frame != UNNAMED && f->profile->request.unit == PROFILE_ADDRESSES_APART)
        return put_at_address(f, slot->frame - 1, mode, address, number, err);
    if (slot->frame && slot->frame != UNNAMED)
        return keep_least_at(f, *number = slot->frame - 1, mode, address), PFR_OK;
    if (slot->frame && names_go_by_offset(f, place->object)) {
        const struct profile_frame frame = unnamed(f, place, mode, address);
        return put_frame(f, &frame, number, err);
    }
    PFR_TRY(name_place(f, near, place, mode, address, number, err));
    const bool named = f->profile->frames[*number].text != NO_TEXT;
    f->used += !slot->frame;
    *slot = (struct object_place){place->offset, place->object, named ? *number + 1 : UNNAMED};
    return PFR_OK;
}

/* Sets place->object. Kernel addresses that are in no map still get a name from the symbols of the kernel. */
static pfr_status find_object(struct frames_of *f, struct place *place, unsigned mode, uint64_t address,
                              pfr_error *err) {
    if (place->map || mode != PFR_CPUMODE_KERNEL)
        return PFR_OK;
    return address_names_kernel(&f->profile->names, address, &place->object, err);
}

static pfr_status name_found(struct frames_of *f, struct place *place, unsigned mode, uint64_t address,
                             uint32_t *number, pfr_error *err) {
    PFR_TRY(find_object(f, place, mode, address, err));
    return find_named(f, NULL, place, mode, address, number, err);
}

/* --- Called by workers. */

static void look_at_name(const struct frames_of *f, struct frame_found *found, bool *named) {
    const struct profile_frame *frame = &f->profile->frames[found->frame];
    *named = frame->text != NO_TEXT;
    found->two_names =
        !*named && (f->profile->request.unnamed == PROFILE_UNNAMED_TOGETHER || frame->address != frame->ip);
}

/* If the place is already known, nothing is learnt about adjacent places. */
pfr_status profile_frames_name_next(struct frames_of *f, struct frame_near *near, struct place *place, unsigned mode,
                                    uint64_t address, uint32_t *frame, pfr_error *err) {
    PFR_TRY(find_object(f, place, mode, address, err));
    if (!is_near(f, near, place, mode, address)) {
        *near = (struct frame_near){.mode = mode};
        PFR_TRY(find_named(f, near, place, mode, address, &near->frame, err));
    }
    *frame = near->frame;
    return PFR_OK;
}

pfr_status profile_frames_name(struct frames_of *f, struct place *place, unsigned mode, uint64_t address,
                               struct frame_found *found, bool *named, pfr_error *err) {
    if (!f->one_worker)
        lock_awake(&f->lock);
    const pfr_status st = name_found(f, place, mode, address, &found->frame, err);
    *named = f->profile->request.unit == PROFILE_NAMED_LAST;
    if (st >= 0 && !*named)
        look_at_name(f, found, named);
    if (!f->one_worker)
        pthread_mutex_unlock(&f->lock);
    return st;
}

bool profile_frames_has_object(struct frames_of *f, uint32_t frame) {
    lock_awake(&f->lock);
    const bool has = f->profile->frames[frame].object != NO_OBJECT;
    pthread_mutex_unlock(&f->lock);
    return has;
}

pfr_status profile_frames_put_text(struct frames_of *f, const void *bytes, size_t length, uint32_t *text,
                                   pfr_error *err) {
    lock_awake(&f->lock);
    const pfr_status st = intern_put(&f->profile->texts, bytes, length, text, err);
    pthread_mutex_unlock(&f->lock);
    return st;
}

pfr_status profile_frames_put(struct frames_of *f, const struct profile_frame *frame, uint32_t *number,
                              pfr_error *err) {
    lock_awake(&f->lock);
    const pfr_status st = put_frame(f, frame, number, err);
    pthread_mutex_unlock(&f->lock);
    return st;
}

pfr_status profile_frames_put_words(struct frames_of *f, const char *words, uint32_t *number, pfr_error *err) {
    struct profile_frame frame = {.object = NO_OBJECT, .mangled = NO_TEXT};
    PFR_TRY(profile_frames_put_text(f, words, strlen(words), &frame.text, err));
    return profile_frames_put(f, &frame, number, err);
}

static pfr_status put_place(struct frames_of *f, uint32_t frame, uint64_t address, uint64_t *value, pfr_error *err) {
    struct profile *p = f->profile;
    void *places = mem_grow(f->memory, p->places, p->nr_places, &p->rooms.places, 64, sizeof *p->places);
    if (!places)
        return mem_fail(f->memory, err, "profile");
    p->places = places;
    const uint64_t *place = u64_map_at(&f->places, frame, p->nr_places, NULL);
    if (!place)
        return mem_fail(f->memory, err, "profile");
    if (*place == p->nr_places)
        p->places[p->nr_places++] = (struct profile_place){frame, address};
    else if (address < p->places[*place].address)
        p->places[*place].address = address;
    *value = *place;
    return PFR_OK;
}

pfr_status profile_frames_put_place(struct frames_of *f, uint32_t frame, uint64_t address, uint64_t *value,
                                    pfr_error *err) {
    lock_awake(&f->lock);
    const pfr_status st = put_place(f, frame, address, value, err);
    pthread_mutex_unlock(&f->lock);
    return st;
}

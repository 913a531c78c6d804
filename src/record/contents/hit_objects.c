/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the objects of samples; hit_objects.h has the overview. Samples whose members are at fixed offsets are read
 * directly; other samples are decoded. */
#include "record/contents/hit_objects.h"

#include "file/read/recording.h"
#include "file/read/header_walk.h"
#include "wire/fast_sample.h"
#include "wire/record_bits.h"

#define AT_ONCE 256u
#define PAGE_BITS 12

struct hit_slot {
    uint64_t ip, time;
    uint32_t pid, tid;
    uint16_t mode;
};

static const struct record_key key_of_end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

/* --- one sample --- */

static uint64_t page_of(const struct hit_slot *spot) {
    return spot->mode == PFR_CPUMODE_USER ? spot->ip >> PAGE_BITS : spot->ip;
}

static struct hit_page *slot_of(struct hit_walk *walk, uint64_t page, uint32_t tid) {
    const uint64_t mixed = (page ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15u;
    return &walk->pages[mixed >> 32 & (HIT_PAGES - 1)];
}

static void fill(const struct hit_walk *walk, const struct hit_slot *spot, struct hit_page *slot) {
    struct thread_view view = {.space = NO_SPACE};
    struct place place;
    if (spot->mode == PFR_CPUMODE_USER)
        thread_at(&walk->state->threads, spot->pid, spot->tid, key_of_end, &view);
    state_place_in(walk->state, spot->mode, view.space, spot->ip, key_of_end, &place);
    *slot = (struct hit_page){.page = page_of(spot),
                              .pid = spot->pid,
                              .tid = spot->tid,
                              .mode = spot->mode,
                              .object = place.object,
                              .used = true,
                              .from = key_before(&view.from, &place.since) ? place.since : view.from};
}

static bool is_of(const struct hit_page *slot, uint64_t page, const struct hit_slot *spot) {
    return slot->page == page && slot->tid == spot->tid && slot->pid == spot->pid && slot->mode == spot->mode &&
           slot->used;
}

/* The object that is mapped at the address at the time of the key. */
static uint32_t object_at(const struct hit_walk *walk, const struct hit_slot *spot, struct record_key key) {
    struct place place;
    const uint32_t space =
        spot->mode == PFR_CPUMODE_USER ? thread_space_at(&walk->state->threads, spot->pid, spot->tid, key) : NO_SPACE;
    state_place_in(walk->state, spot->mode, space, spot->ip, key, &place);
    return place.object;
}

static inline void note(struct hit_walk *walk, const struct hit_slot *spot, struct record_key key) {
    const uint64_t page = page_of(spot);
    struct hit_page *const slot = slot_of(walk, page, spot->tid);
    walk->samples++;
    if (spot->time) {
        walk->first = !walk->first || spot->time < walk->first ? spot->time : walk->first;
        walk->last = spot->time > walk->last ? spot->time : walk->last;
    }
    if (!is_of(slot, page, spot))
        fill(walk, spot, slot);
    const uint32_t object = key_before(&slot->from, &key) ? slot->object : object_at(walk, spot, key);
    if (object < walk->objects)
        walk->hit[object] = true;
}

/* --- records --- */

static void note_fixed(struct hit_walk *walk, const struct event *e, const uint8_t *bytes, uint64_t place,
                       uint64_t inner) {
    const bool swap = walk->reader->context.swap;
    const struct hit_slot spot = {.ip = load_u64(bytes + e->ip_at, swap),
                                  .pid = load_u32(bytes + e->ip_at + 8, swap),
                                  .tid = load_u32(bytes + e->ip_at + 12, swap),
                                  .time = e->time_at ? load_u64(bytes + e->time_at, swap) : 0,
                                  .mode = (uint16_t)cpumode_at(bytes, swap)};
    const uint64_t time = walk->state->timed && spot.time != UINT64_MAX ? spot.time : 0;
    note(walk, &spot, (struct record_key){time, place, inner});
}

static void note_decoded(struct hit_walk *walk, const pfr_record *rec) {
    struct pfr_rec_sample sample;
    if (pfr_decode(rec, &sample, sizeof sample, NULL) != PFR_OK)
        return;
    const struct hit_slot spot = {.ip = sample.ip,
                                  .pid = sample.pid,
                                  .tid = sample.tid,
                                  .time = sample.time,
                                  .mode = rec->misc & PFR_CPUMODE_MASK};
    note(walk, &spot, state_key(walk->state, rec, sample.time));
}

/* Handles the samples of the same event that follow in the read buffer. */
static void note_followers(struct hit_walk *walk, const struct event *e, const pfr_record *rec) {
    const uint8_t *at[AT_ONCE];
    uint64_t from;
    uint32_t count;
    while ((count = walk_collect(walk->reader, rec->event, at, AT_ONCE, &from)) > 0)
        for (uint32_t i = 0; i < count; i++)
            note_fixed(walk, e, at[i], ((uint64_t)rec->part << 48) + from + (uint64_t)(at[i] - at[0]), 0);
}

static void note_record(struct hit_walk *walk, const pfr_record *rec) {
    if (rec->type != PFR_RECORD_SAMPLE || rec->event < 0)
        return;
    const struct event *const e = &walk->reader->events.list[rec->event];
    if (walk->meanwhile)
        walk->meanwhile(walk->context, rec);
    if (!e->ip_at || rec->size < e->ip_at + 16u || rec->size < e->time_at + 8u) {
        note_decoded(walk, rec);
        return;
    }
    note_fixed(walk, e, rec->bytes, (uint64_t)rec->part << 48 | rec->offset, rec->inner);
    if (!rec->inside)
        note_followers(walk, e, rec);
}

pfr_status hit_walk_run(struct hit_walk *walk, const volatile int *stops, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    while ((status = pfr_next(walk->reader, &rec, err)) >= 0 && status != PFR_END && *stops < 2)
        if (status == PFR_OK)
            note_record(walk, &rec);
    return status < 0 ? status : PFR_OK;
}

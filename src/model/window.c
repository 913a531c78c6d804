/* SPDX-License-Identifier: Apache-2.0 */
/* Records that wait: see window.h. */
#include "model/window.h"

#include "base/fail.h"

#include <string.h>

#define BLOCK_SIZE ((uint32_t)1 << 20) /* many records of the largest size, 64 KB */
#define AHEAD 8u

void window_init(struct window *w, struct memory *memory) {
    *w = (struct window){.memory = memory};
}

static void free_orders(struct window_orders *o, struct memory *memory) {
    mem_free(memory, o->at, o->room, sizeof *o->at);
}

void window_free(struct window *w) {
    for (size_t i = 0; i < w->nr_blocks; i++)
        mem_free(w->memory, w->blocks[i].bytes, BLOCK_SIZE, 1);
    mem_free(w->memory, w->blocks, w->blocks_room, sizeof *w->blocks);
    free_orders(&w->sorted, w->memory);
    free_orders(&w->fresh, w->memory);
    free_orders(&w->spare, w->memory);
    *w = (struct window){.memory = w->memory};
}

/* --- Where records are kept. */

static pfr_status new_block(struct window *w, pfr_error *err) {
    if (w->nr_blocks == w->blocks_room) {
        void *more = mem_grow(w->memory, w->blocks, w->nr_blocks, &w->blocks_room, 8, sizeof *w->blocks);
        if (!more)
            return mem_fail(w->memory, err, "records in time order");
        w->blocks = more;
    }
    uint8_t *bytes = mem_alloc(w->memory, BLOCK_SIZE, 1);
    if (!bytes)
        return mem_fail(w->memory, err, "records in time order");
    w->block = (uint32_t)w->nr_blocks;
    w->blocks[w->nr_blocks++] = (struct window_block){.bytes = bytes};
    return PFR_OK;
}

/* A block of which all was taken, or a new one. */
static pfr_status choose_block(struct window *w, pfr_error *err) {
    for (uint32_t i = 0; i < w->nr_blocks; i++)
        if (w->blocks[i].live == 0) {
            w->blocks[i].used = 0;
            w->block = i;
            return PFR_OK;
        }
    return new_block(w, err);
}

static pfr_status push(struct window *w, struct window_orders *o, struct window_order one, pfr_error *err) {
    if (o->count == o->room) {
        void *more = mem_grow(w->memory, o->at, o->count, &o->room, 256, sizeof *o->at);
        if (!more)
            return mem_fail(w->memory, err, "records in time order");
        o->at = more;
    }
    o->at[o->count++] = one;
    return PFR_OK;
}

static uint64_t weight_of(uint32_t record_size) {
    return waiting_size(record_size) + 2 * sizeof(struct window_order);
}

/* Records are short, and whole words nearly always. */
static inline void copy_words(uint8_t *to, const uint8_t *from, uint32_t size) {
    if (size > 128) {
        memcpy(to, from, size);
        return;
    }
    for (; size >= 8; size -= 8, to += 8, from += 8)
        memcpy(to, from, 8);
    if (size)
        memcpy(to, from, size);
}

pfr_status window_put(struct window *w, const pfr_record *rec, uint64_t time, pfr_error *err) {
    const uint32_t size = (uint32_t)waiting_size(rec->size);
    if (w->nr_blocks == 0 || BLOCK_SIZE - w->blocks[w->block].used < size)
        PFR_TRY(choose_block(w, err));
    struct window_block *b = &w->blocks[w->block];
    struct waiting *at = (struct waiting *)(void *)(b->bytes + b->used);
    PFR_TRY(push(w, &w->fresh, (struct window_order){time, at}, err));
    *at = (struct waiting){.time = time,
                           .offset = rec->offset,
                           .inner = rec->inner,
                           .context = rec->context,
                           .part = rec->part & 0x7fffffffu,
                           .inside = rec->inside,
                           .block = w->block,
                           .event = rec->event,
                           .tail = rec->tail,
                           .size = rec->size};
    copy_words(at->bytes, rec->bytes, rec->size);
    b->used += size;
    b->live++;
    w->bytes += weight_of(rec->size);
    if (time > w->latest)
        w->latest = time;
    return PFR_OK;
}

/* --- Order. Buffers of cpus are written one after the other, each in order: runs, which are merged two by two. */

static size_t run_end(const struct window_orders *o, size_t from) {
    size_t i = from + 1;
    while (i < o->count && o->at[i - 1].time <= o->at[i].time)
        i++;
    return i < o->count ? i : o->count;
}

/* from[a..b) and from[b..c) into to[a..c); equal times keep their order. */
static void merge_two(const struct window_order *from, struct window_order *to, size_t a, size_t b, size_t c) {
    size_t left = a, right = b;
    for (size_t i = a; i < c; i++) {
        const bool takes_left = left < b && (right == c || from[left].time <= from[right].time);
        to[i] = from[takes_left ? left++ : right++];
    }
}

static pfr_status make_room(struct window *w, struct window_orders *o, size_t count, pfr_error *err) {
    if (o->room >= count)
        return PFR_OK;
    void *more = mem_resize(w->memory, o->at, o->room, count, sizeof *o->at);
    if (!more)
        return mem_fail(w->memory, err, "records in time order");
    o->at = more;
    o->room = count;
    return PFR_OK;
}

static void swap_orders(struct window_orders *a, struct window_orders *b) {
    const struct window_orders c = *a;
    *a = *b;
    *b = c;
}

/* One pass halves the number of runs. */
static pfr_status sort_fresh(struct window *w, pfr_error *err) {
    while (run_end(&w->fresh, 0) < w->fresh.count) {
        PFR_TRY(make_room(w, &w->spare, w->fresh.count, err));
        for (size_t a = 0; a < w->fresh.count;) {
            const size_t b = run_end(&w->fresh, a), c = b < w->fresh.count ? run_end(&w->fresh, b) : b;
            merge_two(w->fresh.at, w->spare.at, a, b, c);
            a = c;
        }
        w->spare.count = w->fresh.count;
        swap_orders(&w->fresh, &w->spare);
    }
    return PFR_OK;
}

/* What waited before stands before what came now. */
static pfr_status join_fresh(struct window *w, pfr_error *err) {
    const size_t waits = w->sorted.count - w->sorted.first, count = waits + w->fresh.count;
    if (w->fresh.count == 0)
        return PFR_OK;
    PFR_TRY(make_room(w, &w->spare, count, err));
    const struct window_order *old = waits ? w->sorted.at + w->sorted.first : NULL, *new = w->fresh.at;
    size_t a = 0, b = 0;
    for (size_t i = 0; i < count; i++) {
        const bool takes_old = a < waits && (b == w->fresh.count || old[a].time <= new[b].time);
        w->spare.at[i] = takes_old ? old[a++] : new[b++];
    }
    w->spare.first = 0;
    w->spare.count = count;
    swap_orders(&w->sorted, &w->spare);
    w->fresh.count = w->spare.count = w->spare.first = 0;
    return PFR_OK;
}

pfr_status window_release(struct window *w, uint64_t limit, pfr_error *err) {
    PFR_TRY(sort_fresh(w, err));
    PFR_TRY(join_fresh(w, err));
    w->limit = limit;
    return PFR_OK;
}

uint64_t window_middle(const struct window *w) {
    const struct window_orders *o = &w->sorted;
    return o->first < o->count ? o->at[o->first].time + (o->at[o->count - 1].time - o->at[o->first].time) / 2 : 0;
}

/* Records of other buffers than the last one's lie far away: they are asked for before they are needed. */
const struct waiting *window_take(struct window *w) {
    struct window_orders *o = &w->sorted;
    if (o->first == o->count || o->at[o->first].time > w->limit)
        return NULL;
    if (o->first + AHEAD < o->count) {
        __builtin_prefetch(o->at[o->first + AHEAD].at);
        __builtin_prefetch(o->at[o->first + AHEAD].at->bytes);
    }
    struct waiting *at = o->at[o->first++].at;
    w->bytes -= weight_of(at->size);
    w->blocks[at->block].live--;
    return at;
}

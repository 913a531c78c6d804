/* SPDX-License-Identifier: Apache-2.0 */
/* Reorders records by time: see reorder_buffer.h. */
#include "model/timeline/reorder_buffer.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"

#include <string.h>

#define BLOCK_SIZE ((uint32_t)sizes.order_block) /* holds many records of the largest size, 64 KB */
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

/* --- Blocks. */

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

/* Reuses a block whose records were all taken, or makes a new one. */
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

/* --- Putting. A chunk is a header and its records, each padded to a multiple of 8 bytes. */

static inline uint32_t words_of(uint64_t size) {
    return (uint32_t)((size + 7) / 8);
}

static inline uint64_t weight_of(uint32_t record_size) {
    return words_of(record_size) * 8ull + 2 * sizeof(struct window_order);
}

static struct record_chunk *chunk_at(const struct window *w, uint32_t block, uint32_t at) {
    return (struct record_chunk *)(void *)(w->blocks[block].bytes + at * 8ull);
}

/* Whether the record directly follows the last one in the file, and can directly follow it in the block, too. */
static bool goes_on(const struct window *w, const pfr_record *rec) {
    if (w->chunk_ends == 0 || BLOCK_SIZE - w->chunk_ends < rec->size + 7u)
        return false;
    const struct record_chunk *s = chunk_at(w, w->block, w->chunk);
    const uint64_t ahead = w->chunk_ends - w->chunk * 8ull - sizeof *s;
    return s->context == rec->context && s->event == rec->event && s->part == (rec->part & 0x7fffffffu) &&
           s->tail == rec->tail && s->inside == rec->inside && s->offset + (s->inside ? 0 : ahead) == rec->offset &&
           s->inner + (s->inside ? ahead : 0) == rec->inner;
}

static pfr_status begin_chunk(struct window *w, const pfr_record *rec, pfr_error *err) {
    const uint32_t needs = (uint32_t)sizeof(struct record_chunk) + words_of(rec->size) * 8;
    if (w->nr_blocks == 0 || BLOCK_SIZE - w->blocks[w->block].used < needs)
        PFR_TRY(choose_block(w, err));
    struct window_block *b = &w->blocks[w->block];
    w->chunk = b->used / 8;
    *chunk_at(w, w->block, w->chunk) = (struct record_chunk){.context = rec->context,
                                                             .offset = rec->offset,
                                                             .inner = rec->inner,
                                                             .part = rec->part & 0x7fffffffu,
                                                             .inside = rec->inside,
                                                             .event = rec->event,
                                                             .tail = rec->tail};
    b->used += (uint32_t)sizeof(struct record_chunk);
    w->chunk_ends = b->used;
    return PFR_OK;
}

/* Counts a record whose bytes were appended to the current block. */
static inline pfr_status count_put(struct window *w, uint32_t size, uint64_t time, pfr_error *err) {
    struct window_block *b = &w->blocks[w->block];
    const uint64_t place = (uint64_t)w->block << 2 * PLACE_BITS | (uint64_t)w->chunk << PLACE_BITS | b->used / 8;
    if (w->fresh.count < w->fresh.room)
        w->fresh.at[w->fresh.count++] = (struct window_order){time, place};
    else
        PFR_TRY(push(w, &w->fresh, (struct window_order){time, place}, err));
    b->used += words_of(size) * 8;
    b->live++;
    w->chunk_ends = size % 8 ? 0 : b->used;
    w->bytes += weight_of(size);
    if (time > w->latest)
        w->latest = time;
    return PFR_OK;
}

pfr_status window_put(struct window *w, const pfr_record *rec, uint64_t time, pfr_error *err) {
    if (!goes_on(w, rec))
        PFR_TRY(begin_chunk(w, rec, err));
    const struct window_block *b = &w->blocks[w->block];
    memcpy(b->bytes + b->used, rec->bytes, rec->size);
    return count_put(w, rec->size, time, err);
}

/* Puts as many of the run's records as fit in the block. */
static pfr_status put_part(struct window *w, const struct window_run *run, uint64_t most, uint64_t *used,
                           uint64_t *count, pfr_error *err) {
    const struct window_block *b = &w->blocks[w->block];
    const uint8_t *at = run->bytes + *used, *const from = at, *const end = run->bytes + run->length;
    uint8_t *const to = b->bytes + b->used;
    const uint64_t room = BLOCK_SIZE - b->used;
    while (at < end && w->bytes <= most && w->chunk_ends != 0) {
        const uint32_t size = load_u16(at + 6, run->swap);
        if ((uint64_t)(at - from) + size + 7 > room)
            break;
        PFR_TRY(count_put(w, size, load_u64(at + run->time_at, run->swap), err));
        at += size;
        ++*count;
    }
    memcpy(to, from, (size_t)(at - from));
    *used += (uint64_t)(at - from);
    return PFR_OK;
}

pfr_status window_put_run(struct window *w, const pfr_record *rec, const struct window_run *run, uint64_t most,
                          uint64_t *used, uint64_t *count, pfr_error *err) {
    pfr_record next = *rec;
    *used = *count = 0;
    while (*used < run->length && w->bytes <= most) {
        next.offset = rec->offset + rec->size + *used;
        next.bytes = run->bytes + *used;
        next.size = load_u16(next.bytes + 6, run->swap);
        if (w->chunk_ends == 0 || BLOCK_SIZE - w->chunk_ends < next.size + 7u)
            PFR_TRY(begin_chunk(w, &next, err));
        PFR_TRY(put_part(w, run, most, used, count, err));
    }
    return PFR_OK;
}

/* --- Sorting. Ring buffers are written one after the other, each in order: their runs are merged in pairs. */

static size_t run_end(const struct window_orders *o, size_t from) {
    size_t i = from + 1;
    while (i < o->count && o->at[i - 1].time <= o->at[i].time)
        i++;
    return i < o->count ? i : o->count;
}

/* Merges two sorted lists; at equal times the left one goes first. Branch-free, because the comparison is
   unpredictable. */
static void merge(const struct window_order *left, size_t lefts, const struct window_order *right, size_t rights,
                  struct window_order *to) {
    while (lefts > 0 && rights > 0) {
        const bool takes_right = right->time < left->time;
        const struct window_order *const next = takes_right ? right : left;
        *to++ = *next;
        right += takes_right;
        rights -= takes_right;
        left += !takes_right;
        lefts -= !takes_right;
    }
    if (lefts)
        memcpy(to, left, lefts * sizeof *to);
    if (rights)
        memcpy(to, right, rights * sizeof *to);
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

/* Merges runs in pairs until one is left: each pass halves their number. */
static pfr_status sort_fresh(struct window *w, pfr_error *err) {
    while (run_end(&w->fresh, 0) < w->fresh.count) {
        PFR_TRY(make_room(w, &w->spare, w->fresh.count, err));
        for (size_t a = 0; a < w->fresh.count;) {
            const size_t b = run_end(&w->fresh, a), c = b < w->fresh.count ? run_end(&w->fresh, b) : b;
            merge(w->fresh.at + a, b - a, w->fresh.at + b, c - b, w->spare.at + a);
            a = c;
        }
        w->spare.count = w->fresh.count;
        swap_orders(&w->fresh, &w->spare);
    }
    return PFR_OK;
}

/* Merges the new records into the records already held. At equal times, those already held go first. */
static pfr_status join_fresh(struct window *w, pfr_error *err) {
    const size_t waits = w->sorted.count - w->sorted.first, count = waits + w->fresh.count;
    if (w->fresh.count == 0)
        return PFR_OK;
    PFR_TRY(make_room(w, &w->spare, count, err));
    merge(waits ? w->sorted.at + w->sorted.first : NULL, waits, w->fresh.at, w->fresh.count, w->spare.at);
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

static inline const uint8_t *bytes_of(const struct window *w, const struct window_order *one) {
    const uint64_t at = one->place & ((1u << PLACE_BITS) - 1);
    return w->blocks[one->place >> 2 * PLACE_BITS].bytes + at * 8;
}

static inline void fill_record(const struct record_chunk *of, const uint8_t *bytes, bool swap, pfr_record *rec) {
    const uint64_t ahead = (uint64_t)(bytes - (const uint8_t *)(of + 1));
    rec->offset = of->offset + (of->inside ? 0 : ahead);
    rec->inner = of->inner + (of->inside ? ahead : 0);
    rec->part = of->part;
    rec->type = load_u32(bytes, swap);
    rec->misc = load_u16(bytes + 4, swap);
    rec->size = load_u16(bytes + 6, swap);
    rec->tail = (uint16_t)of->tail;
    rec->inside = of->inside;
    rec->event = of->event;
    rec->payload = 0;
    rec->bytes = bytes;
    rec->context = of->context;
}

/* Successive records come from different ring buffers and are far apart, so data of later records are prefetched. */
bool window_take(struct window *w, bool swap, pfr_record *rec, uint64_t *time) {
    struct window_orders *o = &w->sorted;
    if (o->first == o->count || o->at[o->first].time > w->limit)
        return false;
    if (o->first + AHEAD < o->count)
        __builtin_prefetch(bytes_of(w, &o->at[o->first + AHEAD]));
    const struct window_order *one = &o->at[o->first++];
    const uint32_t block = (uint32_t)(one->place >> 2 * PLACE_BITS);
    const uint32_t chunk = (uint32_t)(one->place >> PLACE_BITS) & ((1u << PLACE_BITS) - 1);
    fill_record(chunk_at(w, block, chunk), bytes_of(w, one), swap, rec);
    *time = one->time;
    w->bytes -= weight_of(rec->size);
    w->blocks[block].live--;
    return true;
}

uint32_t window_next_type(const struct window *w, bool swap) {
    const struct window_orders *o = &w->sorted;
    const bool none = o->first == o->count || o->at[o->first].time > w->limit;
    return none ? UINT32_MAX : load_u32(bytes_of(w, &o->at[o->first]), swap);
}

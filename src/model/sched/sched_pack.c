/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event is a byte of kind, `left`, HAS_MORE and SAME_CPU, a byte of flags, and numbers of 7 bits per byte: the time
 * since the event before it, differences of `sample` and `tid` from it, the difference of `other` from `tid`, then the
 * CPU unless it is the same, and value and own with HAS_MORE.
 */
#include "model/sched/sched_pack.h"

#include <string.h>

#define LEFT_AT 4u
#define HAS_MORE 0x40u
#define SAME_CPU 0x80u
#define EVENT_MOST 64u /* bytes */

void sched_packed_init(struct sched_packed *p, struct memory *memory) {
    *p = (struct sched_packed){.memory = memory};
}

static void free_block(struct sched_packed *p, struct packed_block *block) {
    mem_free(p->memory, block->bytes, block->length, 1);
    block->bytes = NULL;
}

static void free_blocks(struct sched_packed *p) {
    for (size_t i = 0; i < p->nr_blocks; i++)
        free_block(p, &p->blocks[i]);
    p->nr_blocks = 0;
}

void sched_packed_free(struct sched_packed *p) {
    free_blocks(p);
    mem_free(p->memory, p->runs, p->runs_room, sizeof *p->runs);
    mem_free(p->memory, p->blocks, p->blocks_room, sizeof *p->blocks);
    mem_free(p->memory, p->batch, p->batch_room, 1);
    sched_packed_init(p, p->memory);
}

/* --- Packing. */

static inline uint8_t *put(uint8_t *at, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* Small differences of both signs are small numbers. */
static inline uint8_t *put_change(uint8_t *at, uint32_t from, uint32_t to) {
    const uint32_t change = to - from;
    return put(at, change << 1 ^ (change >> 31 ? UINT32_MAX : 0));
}

static uint8_t *put_event(uint8_t *at, const struct sched_event *last, const struct sched_event *e) {
    const bool is_wide = sched_event_is_wide(e), is_same = e->cpu == last->cpu;
    *at++ = (uint8_t)(e->kind | (unsigned)e->left << LEFT_AT | (is_wide ? HAS_MORE : 0) | (is_same ? SAME_CPU : 0));
    *at++ = e->flags;
    at = put(at, e->time - last->time);
    at = put_change(at, last->sample, e->sample);
    at = put_change(at, last->tid, e->tid);
    at = put_change(at, e->tid, e->other);
    if (!is_same)
        at = put(at, e->cpu);
    return is_wide ? put(put(at, e->value), e->own) : at;
}

static pfr_status begin_run(struct sched_packed *p, const struct sched_event *event, pfr_error *err) {
    void *grown = mem_grow(p->memory, p->runs, p->nr_runs, &p->runs_room, 64, sizeof *p->runs);
    if (!grown)
        return mem_fail(p->memory, err, "scheduler events");
    p->runs = grown;
    p->runs[p->nr_runs] =
        (struct packed_run){.event = *event, .at = p->length, .end = p->length, .block = (uint32_t)p->nr_blocks};
    if (!sched_event_is_wide(event))
        p->runs[p->nr_runs].event.own = event->tid;
    p->nr_runs++;
    p->batch_runs++;
    return PFR_OK;
}

pfr_status sched_pack(struct sched_packed *p, const struct sched_event *event, pfr_error *err) {
    const bool is_first = p->batch_runs == 0 || event->time < p->last.time;
    void *grown = mem_grow(p->memory, p->batch, p->length + EVENT_MOST, &p->batch_room, 4096, 1);
    if (!grown)
        return mem_fail(p->memory, err, "scheduler events");
    p->batch = grown;
    if (is_first)
        PFR_TRY(begin_run(p, event, err));
    else
        p->length = (size_t)(put_event(p->batch + p->length, &p->last, event) - p->batch);
    p->runs[p->nr_runs - 1].end = p->length;
    p->last = *event;
    return PFR_OK;
}

pfr_status sched_pack_end_batch(struct sched_packed *p, pfr_error *err) {
    if (!p->batch_runs)
        return PFR_OK;
    void *grown = mem_grow(p->memory, p->blocks, p->nr_blocks, &p->blocks_room, 16, sizeof *p->blocks);
    uint8_t *bytes = grown ? mem_alloc(p->memory, p->length ? p->length : 1, 1) : NULL;
    p->blocks = grown ? grown : p->blocks;
    if (!bytes)
        return mem_fail(p->memory, err, "scheduler events");
    memcpy(bytes, p->batch, p->length);
    p->blocks[p->nr_blocks++] = (struct packed_block){bytes, p->length ? p->length : 1, p->batch_runs};
    p->length = p->batch_runs = 0;
    return PFR_OK;
}

/* --- Unpacking. */

static inline uint64_t get(const uint8_t **at) {
    uint64_t number = *(*at)++;
    if (number < 0x80)
        return number;
    number &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        const uint64_t byte = *(*at)++;
        number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
}

static inline uint32_t get_change(const uint8_t **at, uint32_t from) {
    const uint32_t number = (uint32_t)get(at);
    return from + (number >> 1 ^ (number & 1 ? UINT32_MAX : 0));
}

/* Changes the event to the next one of its run. */
static void get_event(const uint8_t **at, struct sched_event *e) {
    const uint8_t head = *(*at)++;
    e->kind = head & 0xf;
    e->left = head >> LEFT_AT & 3;
    e->flags = *(*at)++;
    e->time += get(at);
    e->sample = get_change(at, e->sample);
    e->tid = get_change(at, e->tid);
    e->other = get_change(at, e->tid);
    if (!(head & SAME_CPU))
        e->cpu = (uint32_t)get(at);
    e->value = head & HAS_MORE ? get(at) : 0;
    e->own = head & HAS_MORE ? (uint32_t)get(at) : e->tid;
}
_Static_assert(SCHED_KINDS <= 16, "a kind takes four bits");

/* --- Merging. */

/* A run in the heap, with the time of its event. */
struct heap_item {
    uint64_t time;
    uint32_t run;
};

static bool comes_first(const struct heap_item *a, const struct heap_item *b) {
    return a->time != b->time ? a->time < b->time : a->run < b->run;
}

/* Moves heap[i] down to its place. */
static void sink(struct heap_item *heap, size_t count, size_t i) {
    const struct heap_item item = heap[i];
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && comes_first(&heap[child + 1], &heap[child]);
        if (!comes_first(&heap[child], &item))
            break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

/* Moves on to the next event of the run; false: there is none. The last run of a block frees it. */
static bool turn(struct sched_packed *p, struct packed_run *run) {
    struct packed_block *block = &p->blocks[run->block];
    const uint8_t *at = block->bytes + run->at;
    if (run->at < run->end) {
        get_event(&at, &run->event);
        run->at = (size_t)(at - block->bytes);
        return true;
    }
    run->at = SIZE_MAX;
    if (--block->runs == 0)
        free_block(p, block);
    return false;
}

/* Removes runs without events. */
static void drop_runs(struct sched_packed *p) {
    size_t kept = 0;
    for (size_t i = 0; i < p->nr_runs; i++)
        if (p->runs[i].at != SIZE_MAX)
            p->runs[kept++] = p->runs[i];
    p->nr_runs = kept;
    if (!kept)
        free_blocks(p);
}

static pfr_status merge(struct sched_packed *p, struct heap_item *heap, size_t count, uint64_t until,
                        pfr_status (*take)(void *context, const struct sched_event *event, pfr_error *err),
                        void *context, uint64_t *given, pfr_error *err) {
    while (count && heap->time <= until) {
        struct packed_run *run = &p->runs[heap->run];
        PFR_TRY(take(context, &run->event, err));
        *given = heap->time;
        if (turn(p, run))
            heap->time = run->event.time;
        else
            *heap = heap[--count];
        if (count)
            sink(heap, count, 0);
    }
    return PFR_OK;
}

pfr_status sched_packed_give(struct sched_packed *p, uint64_t until,
                             pfr_status (*take)(void *context, const struct sched_event *event, pfr_error *err),
                             void *context, uint64_t *given, pfr_error *err) {
    const size_t count = p->nr_runs;
    struct heap_item *heap = mem_alloc(p->memory, count, sizeof *heap);
    if (!heap)
        return mem_fail(p->memory, err, "scheduler events");
    for (size_t i = 0; i < count; i++)
        heap[i] = (struct heap_item){p->runs[i].event.time, (uint32_t)i};
    for (size_t i = count / 2; i-- > 0;)
        sink(heap, count, i);
    const pfr_status st = merge(p, heap, count, until, take, context, given, err);
    mem_free(p->memory, heap, count, sizeof *heap);
    drop_runs(p);
    return st;
}

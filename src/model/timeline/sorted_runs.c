/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs in a temporary file: see sorted_runs.h. The same process writes and reads the file, so it holds raw
   structs. */
#include "model/timeline/sorted_runs.h"

#include "base/memory/fail.h"
#include "base/io/scratch.h"
#include "base/memory/sizes.h"

#include <string.h>
#include <unistd.h>

#define BUFFER sizes.order_file /* bytes of a buffer: enough for the largest record with its struct */
void runs_init(struct runs *runs, struct memory *memory) {
    *runs = (struct runs){.memory = memory, .fd = -1, .last = NO_RUN};
}

void runs_free(struct runs *runs) {
    for (size_t i = 0; i < runs->count; i++)
        mem_free(runs->memory, runs->at[i].buffer, runs->at[i].buffer ? BUFFER : 0, 1);
    mem_free(runs->memory, runs->at, runs->room, sizeof *runs->at);
    mem_free(runs->memory, runs->heap, runs->heap ? runs->count : 0, sizeof *runs->heap);
    if (runs->fd >= 0)
        close(runs->fd);
    runs_init(runs, runs->memory);
}

/* --- Writing. */

struct run_writing {
    struct runs *runs;
    uint8_t *buffer;
    size_t used;
};

static pfr_status flush(struct run_writing *w, pfr_error *err) {
    const size_t used = w->used;
    w->used = 0;
    w->runs->size += used;
    return used ? scratch_write(w->runs->fd, w->buffer, used, err) : PFR_OK;
}

/* Size of a struct kept with the bytes of its record, padded to a multiple of 8. */
static size_t kept_size(uint32_t record_size) {
    return sizeof(struct kept) + ((record_size + 7u) & ~7u);
}

static pfr_status put(struct run_writing *w, const pfr_record *rec, uint64_t time, pfr_error *err) {
    const size_t size = kept_size(rec->size);
    if (BUFFER - w->used < size)
        PFR_TRY(flush(w, err));
    struct kept *one = (struct kept *)(void *)(w->buffer + w->used);
    memset(w->buffer + w->used + size - 8, 0, 8);
    one->time = time;
    one->rec = *rec;
    memcpy(one->bytes, rec->bytes, rec->size);
    w->used += size;
    return PFR_OK;
}

static pfr_status put_all(struct run_writing *w, struct window *window, bool swap, pfr_error *err) {
    pfr_record rec;
    uint64_t time;
    PFR_TRY(window_release(window, UINT64_MAX, err));
    while (window_take(window, swap, &rec, &time))
        PFR_TRY(put(w, &rec, time, err));
    return flush(w, err);
}

pfr_status runs_keep(struct runs *runs, struct window *window, bool swap, pfr_error *err) {
    struct run_writing w = {.runs = runs};
    if (runs->fd < 0)
        PFR_TRY(scratch_open(&runs->fd, err));
    if (runs->count == runs->room) {
        void *more = mem_grow(runs->memory, runs->at, runs->count, &runs->room, 8, sizeof *runs->at);
        if (!more)
            return mem_fail(runs->memory, err, "records in time order");
        runs->at = more;
    }
    const uint64_t from = runs->size;
    w.buffer = mem_alloc(runs->memory, BUFFER, 1);
    if (!w.buffer)
        return mem_fail(runs->memory, err, "records in time order");
    const pfr_status st = put_all(&w, window, swap, err);
    mem_free(runs->memory, w.buffer, BUFFER, 1);
    runs->at[runs->count++] = (struct sorted_run){.from = from, .end = runs->size};
    return st;
}

/* --- Merging. */

/* Fills the run's buffer to at least `wanted` bytes; at the end of the run, there may be fewer. */
static pfr_status fill(struct runs *runs, struct sorted_run *run, size_t wanted, pfr_error *err) {
    size_t got;
    const uint64_t left = run->end - run->from;
    if (run->length - run->at >= wanted || left == 0)
        return PFR_OK;
    memmove(run->buffer, run->buffer + run->at, run->length - run->at);
    run->length -= run->at;
    run->at = 0;
    const size_t room = BUFFER - run->length;
    PFR_TRY(
        scratch_read_at(runs->fd, run->from, run->buffer + run->length, left < room ? (size_t)left : room, &got, err));
    run->from += got;
    run->length += got;
    return PFR_OK;
}

/* Reads the run's next record into run->next. PFR_END: no more records. */
static pfr_status step(struct runs *runs, struct sorted_run *run, pfr_error *err) {
    const struct kept *next;
    PFR_TRY(fill(runs, run, sizeof *next, err));
    if (run->length - run->at < sizeof *next)
        return PFR_END;
    next = (const struct kept *)(const void *)(run->buffer + run->at);
    const size_t size = kept_size(next->rec.size);
    PFR_TRY(fill(runs, run, size, err));
    if (run->length - run->at < size)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "temporary file", "a temporary file became shorter");
    run->next = (const struct kept *)(const void *)(run->buffer + run->at);
    run->at += size;
    return PFR_OK;
}

static bool comes_first(const struct runs *runs, uint32_t a, uint32_t b) {
    const uint64_t x = runs->at[a].next->time, y = runs->at[b].next->time;
    return x != y ? x < y : a < b;
}

static void sift_down(struct runs *runs, size_t at) {
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < runs->in_heap; child++)
            if (comes_first(runs, runs->heap[child], runs->heap[least]))
                least = child;
        if (least == at)
            return;
        const uint32_t one = runs->heap[at];
        runs->heap[at] = runs->heap[least];
        runs->heap[least] = one;
        at = least;
    }
}

pfr_status runs_merge(struct runs *runs, pfr_error *err) {
    runs->heap = mem_alloc(runs->memory, runs->count, sizeof *runs->heap);
    if (!runs->heap)
        return mem_fail(runs->memory, err, "records in time order");
    for (uint32_t i = 0; i < runs->count; i++) {
        runs->at[i].buffer = mem_alloc(runs->memory, BUFFER, 1);
        if (!runs->at[i].buffer)
            return mem_fail(runs->memory, err, "records in time order");
        const pfr_status st = step(runs, &runs->at[i], err);
        if (st < 0)
            return st;
        if (st == PFR_OK)
            runs->heap[runs->in_heap++] = i;
    }
    for (size_t i = runs->in_heap / 2; i-- > 0;)
        sift_down(runs, i);
    return PFR_OK;
}

/* Moves past the record returned last. Until now it had to stay in the buffer of its run. */
static pfr_status leave_last(struct runs *runs, pfr_error *err) {
    if (runs->last == NO_RUN)
        return PFR_OK;
    const pfr_status st = step(runs, &runs->at[runs->last], err);
    runs->last = NO_RUN;
    if (st < 0)
        return st;
    if (st == PFR_END)
        runs->heap[0] = runs->heap[--runs->in_heap];
    sift_down(runs, 0);
    return PFR_OK;
}

pfr_status runs_take(struct runs *runs, pfr_record *rec, uint64_t *time, pfr_error *err) {
    PFR_TRY(leave_last(runs, err));
    if (runs->in_heap == 0)
        return PFR_END;
    runs->last = runs->heap[0];
    const struct kept *next = runs->at[runs->last].next;
    *rec = next->rec;
    rec->bytes = next->bytes;
    *time = next->time;
    return PFR_OK;
}

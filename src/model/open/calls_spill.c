/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of calls in memory, and in a temporary file: see calls_spill.h. */
#include "model/open/calls_spill.h"

#include "base/io/scratch.h"
#include "base/memory/sizes.h"

#include <unistd.h>

/* Consecutive rows of a thread in the file. */
struct call_extent {
    size_t first, count;
    uint64_t offset;
};

static pfr_status move_rows(struct memory *memory, struct model_calls *c, struct call_thread *t, pfr_error *err) {
    const size_t count = t->count - t->spilled, bytes = count * sizeof *t->rows;
    void *grown = mem_grow(memory, t->extents, t->nr_extents, &t->extents_room, 4, sizeof *t->extents);
    if (!grown)
        return mem_fail(memory, err, "calls");
    t->extents = grown;
    PFR_TRY(scratch_write(c->file, t->rows, bytes, err));
    t->extents[t->nr_extents++] = (struct call_extent){.first = t->spilled, .count = count, .offset = c->file_size};
    c->file_size += bytes;
    t->spilled = t->count;
    mem_free(memory, t->rows, t->room, sizeof *t->rows);
    t->rows = NULL;
    t->room = 0;
    return PFR_OK;
}

static pfr_status move_all(struct memory *memory, struct model_calls *c, pfr_error *err) {
    if (!c->has_file)
        PFR_TRY(scratch_open(&c->file, err));
    c->has_file = true;
    for (size_t i = 0; i < c->nr_threads; i++)
        if (c->threads[i].count > c->threads[i].spilled)
            PFR_TRY(move_rows(memory, c, &c->threads[i], err));
    c->resident = 0;
    return PFR_OK;
}

/* With many threads, waits for more rows: each move adds an extent per thread, and extents stay in memory. */
static bool is_full(const struct model_calls *c) {
    return c->resident >= sizes.call_rows && c->resident >= c->nr_threads * (sizes.call_rows / 512);
}

pfr_status call_rows_add(struct memory *memory, struct model_calls *c, struct call_thread *t,
                         const struct call_row *row, pfr_error *err) {
    const size_t at = t->count - t->spilled;
    void *grown = mem_grow(memory, t->rows, at, &t->room, 256, sizeof *t->rows);
    if (!grown)
        return mem_fail(memory, err, "calls");
    t->rows = grown;
    t->rows[at] = *row;
    t->count++;
    c->count++;
    c->resident++;
    return is_full(c) ? move_all(memory, c, err) : PFR_OK;
}

static pfr_status read_window(struct call_reader *r, const struct model_calls *c, const struct call_thread *t,
                              size_t number, pfr_error *err) {
    if (r->thread != t || number < r->first)
        r->extent = 0;
    while (number >= t->extents[r->extent].first + t->extents[r->extent].count)
        r->extent++;
    const struct call_extent *e = &t->extents[r->extent];
    const size_t skipped = number - e->first, left = e->count - skipped;
    const size_t count = left < CALL_WINDOW ? left : CALL_WINDOW;
    size_t got;
    *r = (struct call_reader){.thread = t, .extent = r->extent, .first = number};
    PFR_TRY(scratch_read_at(c->file, e->offset + skipped * sizeof *r->window, r->window, count * sizeof *r->window,
                            &got, err));
    if (got < count * sizeof *r->window)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "calls", "the temporary file of calls became shorter");
    r->count = count;
    return PFR_OK;
}

pfr_status call_row_get(struct call_reader *r, const struct model_calls *c, const struct call_thread *t, size_t number,
                        const struct call_row **row, pfr_error *err) {
    if (number >= t->spilled)
        return *row = &t->rows[number - t->spilled], PFR_OK;
    if (r->thread != t || number < r->first || number - r->first >= r->count)
        PFR_TRY(read_window(r, c, t, number, err));
    *row = &r->window[number - r->first];
    return PFR_OK;
}

void call_rows_free(struct memory *memory, struct call_thread *t) {
    mem_free(memory, t->rows, t->room, sizeof *t->rows);
    mem_free(memory, t->extents, t->extents_room, sizeof *t->extents);
}

void call_file_close(struct model_calls *c) {
    if (c->has_file)
        close(c->file);
    c->has_file = false;
    c->file_size = c->resident = 0;
}

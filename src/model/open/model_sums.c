/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by symbol, and by comm and symbol: the flat table. */
#include "model/open/model_parts.h"

#include "base/tables/hashmap.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- By symbol. */

static void add_symbols(const pfr_model *m, const uint64_t *own, const uint64_t *all, uint64_t *self, uint64_t *total) {
    const pfr_stack *stacks = pfr_model_stacks(m);
    for (uint32_t id = 0; id <= m->stacks.count; id++) {
        if (self)
            self[stacks[id].symbol] += own[id];
        if (total && stacks[id].is_outer)
            total[stacks[id].symbol] += all[id];
    }
}

pfr_status pfr_model_symbol_weights(const pfr_model *m, uint32_t event, uint64_t *self, uint64_t *total,
                                    pfr_error *err) {
    struct memory memory;
    memory_share(&memory, m->memory);
    const size_t stacks = (size_t)m->stacks.count + 1, bytes = ((size_t)m->symbols.count + 1) * sizeof *self;
    uint64_t *own = mem_alloc(&memory, stacks, 2 * sizeof *own);
    if (!own)
        return mem_fail(&memory, err, "weights");
    const pfr_status st = pfr_model_weights(m, event, own, own + stacks, err);
    if (st >= 0) {
        if (self)
            memset(self, 0, bytes);
        if (total)
            memset(total, 0, bytes);
        add_symbols(m, own, own + stacks, self, total);
    }
    mem_free(&memory, own, stacks, 2 * sizeof *own);
    return st;
}

/* --- By comm, symbol and mode. */

struct flat {
    const pfr_model *model;
    struct memory memory;
    struct u64_map places; /* symbol << 3 | mode: a number */
    struct u64_map cells;  /* comm << 32 | number: a row */
    pfr_flat_row *rows;
    size_t count, room;
};

#define MODES_MOST 8u /* number of values of PFR_CPUMODE_MASK */

static uint64_t place_of(const pfr_model *m, uint32_t stack) {
    const pfr_stack *s = pfr_model_stacks(m) + stack;
    const pfr_model_frame *frame = pfr_model_get_frame(m, s->frame);
    return (uint64_t)s->symbol * MODES_MOST + (frame ? frame->mode % MODES_MOST : 0);
}

static pfr_status new_row(struct flat *f, uint32_t comm, uint64_t place, pfr_error *err) {
    pfr_flat_row *grown = mem_grow(&f->memory, f->rows, f->count, &f->room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(&f->memory, err, "rows");
    f->rows = grown;
    f->rows[f->count++] =
        (pfr_flat_row){.comm = comm, .symbol = (uint32_t)(place / MODES_MOST), .mode = (uint8_t)(place % MODES_MOST)};
    return PFR_OK;
}

static pfr_status add_sample(struct flat *f, uint32_t comm, uint32_t stack, uint64_t weight, pfr_error *err) {
    const uint64_t place = place_of(f->model, stack);
    const uint64_t *number = u64_map_at(&f->places, place, u64_map_count(&f->places), NULL);
    bool is_new = false;
    const uint64_t *row =
        number ? u64_map_at(&f->cells, (uint64_t)comm << 32 | (uint32_t)*number, f->count, &is_new) : NULL;
    if (!row)
        return mem_fail(&f->memory, err, "rows");
    if (is_new)
        PFR_TRY(new_row(f, comm, place, err));
    f->rows[*row].weight += weight;
    f->rows[*row].samples++;
    return PFR_OK;
}

static pfr_status add_samples(struct flat *f, uint32_t event, pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .event = event};
    pfr_samples *cursor = pfr_samples_open(f->model, &options, err);
    const pfr_sample_batch *b;
    pfr_status st = cursor ? PFR_OK : err->status;
    while (st >= 0 && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count && st >= 0; i++)
            st = add_sample(f, b->comm[i], b->stack[i], b->weight[i], err);
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static int by_weight(const void *a, const void *b) {
    const pfr_flat_row *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    if (x->comm != y->comm)
        return x->comm > y->comm ? 1 : -1;
    return x->symbol != y->symbol ? (x->symbol > y->symbol ? 1 : -1) : (x->mode > y->mode) - (x->mode < y->mode);
}

static void give(const struct flat *f, pfr_flat_each *each, void *context) {
    if (f->count)
        qsort(f->rows, f->count, sizeof *f->rows, by_weight);
    for (size_t i = 0; i < f->count; i++)
        if (!each(context, &f->rows[i]))
            return;
}

pfr_status pfr_model_flat(const pfr_model *m, uint32_t event, pfr_flat_each *each, void *context, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct flat f = {.model = m};
    if (!event || event > m->events.count || (m->traced && event == m->traced_event))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "there are no samples of event %" PRIu32, event);
    memory_share(&f.memory, m->memory);
    u64_map_init(&f.places, &f.memory);
    u64_map_init(&f.cells, &f.memory);
    const pfr_status st = add_samples(&f, event, err);
    if (st >= 0)
        give(&f, each, context);
    u64_map_free(&f.places);
    u64_map_free(&f.cells);
    mem_free(&f.memory, f.rows, f.room, sizeof *f.rows);
    return st;
}

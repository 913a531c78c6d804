/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording as sums of each row in slots of time. Samples are read in file order, in which times rarely go back.
 * The sums of the current slot are stored as cells when a sample of another slot comes. A row may therefore have
 * several cells for one slot, which are added up later.
 *
 * The time of a file is divided evenly into slots. Samples of a store have only the time of their slot in the store
 * (10 s), so the series has one slot for each slot of the store that has samples. An even division would leave most
 * slots empty, and an empty slot would count as time in which the program did nothing.
 */
#include "model/diff/diff_series.h"
#include "model/diff/diff_covariance.h"
#include "model/diff/diff_names.h"
#include "model/diff/diff_paths.h"
#include "model/open/model_parts.h"

#include <stdlib.h>

#define SAMPLES_OF_SLOT 4u /* minimum average number of samples per slot */

/* Weight and its square are added in one step. */
typedef double weight_and_square __attribute__((vector_size(2 * sizeof(double))));

/* Sums of one row in the current slot. They do not cross a cache line. */
struct open_sums {
    weight_and_square sums;
    uint64_t samples;
    uint64_t seen; /* number of the last path that had the row, so that recursion counts once */
};

struct series_collector {
    pfr_diff *d;
    struct diff_series *s;
    struct open_sums *open[2];   /* by part, by row */
    struct open_sums *blocks[2]; /* the memory of `open`, with room for alignment */
    uint32_t *touched;           /* rows with sums in the current slot */
    uint32_t nr_touched, slot;
    const pfr_stack *stacks;
    struct diff_paths *paths; /* NULL: rows are not functions or lines, so callers are of the same row */
    uint64_t serial;
    pfr_error *err;
};

/* Moves the sums of a row to the sums of all slots. */
static void close_row(struct series_collector *c, uint32_t row, struct diff_cell *cell) {
    struct diff_sums *to = &c->s->sums[row];
    *cell = (struct diff_cell){.row = row, .slot = c->slot};
    for (unsigned part = 0; part < 2; part++) {
        struct open_sums *open = &c->open[part][row];
        cell->weight[part] = open->sums[0];
        to->weight[part] += open->sums[0];
        to->squares[part] += open->sums[1];
        to->samples[part] += open->samples;
        *open = (struct open_sums){.seen = open->seen};
    }
}

static pfr_status collect_flush(struct series_collector *c) {
    struct diff_series *s = c->s;
    for (uint32_t i = 0; i < c->nr_touched; i++) {
        struct diff_cell *grown = mem_grow(&c->d->memory, s->cells, s->nr_cells, &s->room, 4096, sizeof *s->cells);
        if (!grown)
            return mem_fail(&c->d->memory, c->err, "cells");
        s->cells = grown;
        close_row(c, c->touched[i], &s->cells[s->nr_cells]);
        s->nr_cells += s->cells[s->nr_cells].weight[0] > 0 || s->cells[s->nr_cells].weight[1] > 0;
    }
    c->nr_touched = 0;
    return PFR_OK;
}

static inline void collect_add(struct series_collector *c, uint32_t row, enum diff_part part, double weight) {
    struct open_sums *open = &c->open[part][row];
    if (!open->samples && !c->open[!part][row].samples)
        c->touched[c->nr_touched++] = row;
    open->sums += (weight_and_square){weight, weight * weight};
    open->samples++;
}

static pfr_status collect_go_to(struct series_collector *c, uint32_t slot) {
    if (slot != c->slot)
        PFR_TRY(collect_flush(c));
    c->slot = slot;
    return PFR_OK;
}

/* Adds a sample to the totals and to the norm of its slot. */
static void collect_whole(struct series_collector *c, double weight) {
    c->s->weights[c->slot] += weight;
    c->s->counts[c->slot] += 1;
    c->s->weight += weight;
    c->s->squares += weight * weight;
    c->s->samples++;
}

/* --- Slots of a store. */

static pfr_status add_time(pfr_diff *d, struct diff_series *s, uint64_t time, pfr_error *err) {
    uint64_t *grown = mem_grow(&d->memory, s->times, s->nr_times, &s->times_room, 64, sizeof *s->times);
    if (!grown)
        return mem_fail(&d->memory, err, "slots");
    s->times = grown;
    s->times[s->nr_times++] = time;
    return PFR_OK;
}

/* Collects the begin of each slot. A begin may be collected several times. */
static pfr_status collect_times(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .event = s->event};
    pfr_samples *cursor = pfr_samples_open(s->run.model, &options, err);
    const pfr_sample_batch *b;
    pfr_status st = cursor ? PFR_OK : err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count && st == PFR_OK; i++)
            if (!s->nr_times || s->times[s->nr_times - 1] != b->time[i])
                st = add_time(d, s, b->time[i], err);
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static int compare_times(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void order_times(struct diff_series *s) {
    size_t kept = 0;
    if (s->nr_times)
        qsort(s->times, s->nr_times, sizeof *s->times, compare_times);
    for (size_t i = 0; i < s->nr_times; i++)
        if (!kept || s->times[kept - 1] != s->times[i])
            s->times[kept++] = s->times[i];
    s->nr_times = kept;
}

/* If there are more than DIFF_SLOTS_MOST slots, neighbours are merged. */
static uint32_t stored_slot_of(const struct diff_series *s, uint64_t time) {
    size_t low = 0, high = s->nr_times;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        *(s->times[middle] > time ? &high : &low) = middle;
    }
    return (uint32_t)(low * s->slots / s->nr_times);
}

/* --- Slots. */

static uint32_t slot_of(const struct diff_series *s, uint64_t time, uint32_t before) {
    if (s->has_slots)
        return stored_slot_of(s, time);
    if (time == PFR_NO_TIME || s->begin == PFR_NO_TIME)
        return before;
    const uint64_t span = s->end - s->begin + 1;
    const uint64_t at = time < s->begin ? 0 : time > s->end ? span - 1 : time - s->begin;
    return (uint32_t)((unsigned __int128)at * s->slots / span);
}

static uint32_t slots_for(uint64_t samples) {
    const uint64_t slots = samples / SAMPLES_OF_SLOT;
    return slots < DIFF_SLOTS_LEAST ? DIFF_SLOTS_LEAST : slots > DIFF_SLOTS_MOST ? DIFF_SLOTS_MOST : (uint32_t)slots;
}

static void find_bounds(struct diff_series *s, uint64_t *samples) {
    const pfr_model *m = s->run.model;
    s->begin = PFR_NO_TIME;
    *samples = s->end = 0;
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *e = pfr_model_get_event(m, id);
        if (s->event && s->event != id)
            continue;
        *samples += e->samples;
        if (e->first == PFR_NO_TIME)
            continue;
        s->begin = s->begin == PFR_NO_TIME || e->first < s->begin ? e->first : s->begin;
        s->end = e->last > s->end ? e->last : s->end;
    }
}

static pfr_status choose_slots(pfr_diff *d, struct diff_series *s, uint64_t samples, uint32_t *slots, pfr_error *err) {
    s->has_slots = s->run.model->has_slots;
    *slots = slots_for(samples);
    if (s->has_slots) {
        PFR_TRY(collect_times(d, s, err));
        order_times(s);
        *slots = s->nr_times > DIFF_SLOTS_MOST ? DIFF_SLOTS_MOST : (uint32_t)s->nr_times;
        *slots += !*slots;
    }
    s->has_interval = *slots >= DIFF_SLOTS_LEAST;
    return PFR_OK;
}

/* --- Samples. */

static uint32_t id_for_row(const struct series_collector *c, const pfr_sample_batch *b, uint32_t i) {
    const pfr_diff_by by = c->d->options.by;
    const pfr_stack *stack = &c->stacks[b->stack[i]];
    return by == PFR_DIFF_BY_THREAD  ? b->comm[i]
           : by == PFR_DIFF_BY_EVENT ? b->event[i]
           : by == PFR_DIFF_BY_LINE  ? stack->frame
                                     : stack->symbol;
}

static void add_callers(struct series_collector *c, uint32_t path, double weight) {
    struct diff_path at = diff_path_begin(c->paths, path);
    c->serial++;
    for (uint32_t row; diff_path_next(c->paths, &at, &row);) {
        struct open_sums *open = &c->open[DIFF_TOTAL][row];
        if (open->seen != c->serial)
            collect_add(c, row, DIFF_TOTAL, weight);
        open->seen = c->serial;
    }
}

static pfr_status add_sample(struct series_collector *c, const pfr_sample_batch *b, uint32_t i, uint64_t index,
                             uint64_t count) {
    struct diff_series *s = c->s;
    const double weight = (double)b->weight[i];
    const uint32_t by_order = (uint32_t)((unsigned __int128)index * s->slots / count);
    PFR_TRY(collect_go_to(c, slot_of(s, b->time[i], s->begin == PFR_NO_TIME ? by_order : c->slot)));
    const uint32_t row = s->row_of[id_for_row(c, b, i)];
    collect_whole(c, c->d->options.by == PFR_DIFF_BY_EVENT ? 1 : weight);
    collect_add(c, row, DIFF_SELF, weight);
    if (c->paths && b->stack[i])
        add_callers(c, i % DIFF_PATHS_AT_ONCE, weight);
    else
        collect_add(c, row, DIFF_TOTAL, weight);
    return PFR_OK;
}

/* Adds the samples of a batch; the first of them is number `index` of `count`. */
static pfr_status add_batch(struct series_collector *c, const pfr_sample_batch *b, uint64_t index, uint64_t count) {
    for (uint32_t i = 0; i < b->count; i++, index++) {
        if (c->paths && i % DIFF_PATHS_AT_ONCE == 0)
            diff_paths_read(c->paths, b->stack + i, b->count - i);
        PFR_TRY(add_sample(c, b, i, index < count ? index : count - 1, count));
    }
    return PFR_OK;
}

static pfr_status read_batches(struct series_collector *c, uint64_t count) {
    const pfr_samples_options options = {.size = sizeof options, .event = c->s->event};
    pfr_samples *cursor = pfr_samples_open(c->s->run.model, &options, c->err);
    const pfr_sample_batch *b;
    pfr_status st = cursor ? PFR_OK : c->err->status;
    for (uint64_t index = 0; st == PFR_OK && (st = pfr_samples_next(cursor, &b, c->err)) == PFR_OK; index += b->count)
        st = add_batch(c, b, index, count);
    pfr_samples_close(cursor);
    return st < 0 ? st : collect_flush(c);
}

static pfr_status read_samples(struct series_collector *c, uint64_t count) {
    struct diff_paths paths;
    if (c->d->options.by > PFR_DIFF_BY_LINE)
        return read_batches(c, count);
    PFR_TRY(diff_paths_init(&paths, c->d, c->s, c->err));
    c->paths = &paths;
    const pfr_status st = read_batches(c, count);
    diff_paths_free(&paths);
    return st;
}

/* --- Calls: the weight is the self time. A call that is not inside another call of the same function adds its whole
   time to the value with callees. */

static uint32_t call_id(const struct series_collector *c, const pfr_call_batch *b, uint32_t i) {
    const pfr_diff_by by = c->d->options.by;
    const pfr_model_thread *thread = pfr_model_get_thread(c->s->run.model, b->thread[i]);
    return by == PFR_DIFF_BY_THREAD  ? (thread ? thread->comm : 0)
           : by == PFR_DIFF_BY_EVENT ? c->s->event
           : by == PFR_DIFF_BY_LINE  ? c->stacks[b->stack[i]].frame
                                     : b->symbol[i];
}

static pfr_status add_call(struct series_collector *c, const pfr_call_batch *b, uint32_t i) {
    const uint32_t row = c->s->row_of[call_id(c, b, i)];
    const double self = b->self[i] > 0 ? (double)b->self[i] : 0;
    const bool is_outer = c->d->options.by <= PFR_DIFF_BY_LINE ? c->stacks[b->stack[i]].is_outer : false;
    if (b->flags[i] & PFR_CALL_OPEN)
        return PFR_OK;
    PFR_TRY(collect_go_to(c, slot_of(c->s, b->start[i] + b->duration[i], c->slot)));
    collect_whole(c, self);
    collect_add(c, row, DIFF_SELF, self);
    if (is_outer)
        collect_add(c, row, DIFF_TOTAL, (double)b->duration[i]);
    else if (c->d->options.by > PFR_DIFF_BY_LINE)
        collect_add(c, row, DIFF_TOTAL, self);
    return PFR_OK;
}

static pfr_status read_calls(struct series_collector *c) {
    const pfr_calls_options options = {.size = sizeof options};
    pfr_calls *cursor = pfr_calls_open(c->s->run.model, &options, c->err);
    const pfr_call_batch *b;
    pfr_status st = cursor ? PFR_OK : c->err->status;
    while (st == PFR_OK && (st = pfr_calls_next(cursor, &b, c->err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count && st == PFR_OK; i++)
            st = add_call(c, b, i);
    pfr_calls_close(cursor);
    return st < 0 ? st : collect_flush(c);
}

/* --- Divisors of values. */

static bool event_named(const pfr_model *m, const char *name, uint32_t *id) {
    for (*id = 1; *id <= pfr_model_count(m, PFR_TABLE_EVENT); ++*id)
        if (strcmp(pfr_model_get_event(m, *id)->name, name) == 0)
            return true;
    return false;
}

static pfr_status norm_by_event(const pfr_diff *d, struct diff_series *s, pfr_error *err) {
    pfr_samples_options options = {.size = sizeof options};
    const pfr_sample_batch *b;
    pfr_status st = PFR_OK;
    if (!event_named(s->run.model, d->options.per_name, &options.event))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "per", "--per event: %s has no event %s", s->run.name,
                        d->options.per_name);
    pfr_samples *cursor = pfr_samples_open(s->run.model, &options, err);
    while (cursor && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            s->norms[slot_of(s, b->time[i], 0)] += (double)b->weight[i];
    pfr_samples_close(cursor);
    return cursor ? (st < 0 ? st : PFR_OK) : err->status;
}

static pfr_status norm_by_calls(const pfr_diff *d, struct diff_series *s, pfr_error *err) {
    const pfr_calls_options options = {.size = sizeof options};
    char plain[512];
    const pfr_call_batch *b;
    pfr_status st = PFR_OK;
    pfr_calls *cursor = pfr_calls_open(s->run.model, &options, err);
    while (cursor && (st = pfr_calls_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            const char *name = pfr_model_get_symbol(s->run.model, b->symbol[i])->name;
            diff_plain_name(name ? name : "", plain, sizeof plain);
            if (strcmp(plain, d->options.per_name) == 0)
                s->norms[slot_of(s, b->start[i], 0)] += 1;
        }
    pfr_calls_close(cursor);
    return cursor ? (st < 0 ? st : PFR_OK) : err->status;
}

static pfr_status find_norm(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    const pfr_diff_per per = d->options.per;
    s->norms = mem_zeroed(&d->memory, s->slots, sizeof *s->norms);
    if (per == PFR_DIFF_PER_SECOND && s->has_slots)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "per",
                        "--per second: a store has slots of time, not how much of a slot was recorded; compare files, "
                        "or use --per total or sample");
    if (!s->norms)
        return mem_fail(&d->memory, err, "slots");
    if (per == PFR_DIFF_PER_EVENT)
        PFR_TRY(norm_by_event(d, s, err));
    if (per == PFR_DIFF_PER_CALL)
        PFR_TRY(norm_by_calls(d, s, err));
    for (uint32_t i = 0; i < s->slots; i++) {
        if (per == PFR_DIFF_PER_RUN || per == PFR_DIFF_PER_SECOND)
            s->norms[i] = per == PFR_DIFF_PER_RUN ? 1.0 / s->slots : (double)(s->end - s->begin) * 1e-9 / s->slots;
        else if (per == PFR_DIFF_PER_TOTAL || per == PFR_DIFF_PER_SAMPLE)
            s->norms[i] = per == PFR_DIFF_PER_TOTAL ? s->weights[i] / 100 : s->counts[i];
        s->norm += s->norms[i];
    }
    if (s->norm > 0 || (s->samples == 0 && per != PFR_DIFF_PER_EVENT && per != PFR_DIFF_PER_CALL))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "per", "--per: %s has no %s to divide by", s->run.name,
                    per == PFR_DIFF_PER_SECOND ? "times"
                    : per == PFR_DIFF_PER_CALL ? "call of that function (only traces have calls)"
                                               : "weight");
}

/* --- Cells by row. */

static pfr_status sort_cells(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    struct memory *memory = &d->memory;
    struct diff_cell *sorted = mem_alloc(memory, s->nr_cells, sizeof *sorted);
    s->first_cell = mem_zeroed(memory, (size_t)d->nr_names + 2, sizeof *s->first_cell);
    if (!sorted || !s->first_cell) {
        mem_free(memory, sorted, s->nr_cells, sizeof *sorted);
        return mem_fail(memory, err, "cells");
    }
    size_t *next =
        s->first_cell + 1; /* next[r]: index for the next cell of row r; in the end, the begin of row r + 1 */
    for (size_t i = 0; i < s->nr_cells; i++)
        next[s->cells[i].row + 1]++;
    for (uint32_t row = 1; row <= d->nr_names; row++)
        next[row] += next[row - 1];
    for (size_t i = 0; i < s->nr_cells; i++)
        sorted[next[s->cells[i].row]++] = s->cells[i];
    mem_free(memory, s->cells, s->room, sizeof *s->cells);
    s->cells = sorted;
    s->room = s->nr_cells;
    return PFR_OK;
}

/* --- The whole series. */

/* The first address in the block, or NULL, at which no element crosses a cache line. */
static struct open_sums *aligned(struct open_sums *block) {
    const size_t skip = (size_t)(-(uintptr_t)block & (sizeof *block - 1));
    return (struct open_sums *)(void *)((uint8_t *)block + (block ? skip : 0));
}

static pfr_status make_room(struct series_collector *c, uint32_t slots) {
    struct memory *memory = &c->d->memory;
    struct diff_series *s = c->s;
    const uint32_t rows = c->d->nr_names;
    s->slots = slots;
    s->weights = mem_zeroed(memory, slots, sizeof *s->weights);
    s->counts = mem_zeroed(memory, slots, sizeof *s->counts);
    s->sums = mem_zeroed(memory, rows, sizeof *s->sums);
    for (unsigned part = 0; part < 2; part++) {
        c->blocks[part] = mem_zeroed(memory, (size_t)rows + 1, sizeof *c->blocks[part]);
        c->open[part] = aligned(c->blocks[part]);
    }
    c->touched = mem_alloc(memory, rows, sizeof *c->touched);
    return s->weights && s->counts && s->sums && c->open[0] && c->open[1] && c->touched
               ? PFR_OK
               : mem_fail(memory, c->err, "rows");
}

static void free_room(struct series_collector *c) {
    struct memory *memory = &c->d->memory;
    const uint32_t rows = c->d->nr_names;
    for (unsigned part = 0; part < 2; part++)
        mem_free(memory, c->blocks[part], (size_t)rows + 1, sizeof *c->blocks[part]);
    mem_free(memory, c->touched, rows, sizeof *c->touched);
}

pfr_status diff_series_read(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    struct series_collector c = {.d = d, .s = s, .stacks = pfr_model_stacks(s->run.model), .err = err};
    uint64_t samples;
    uint32_t slots;
    find_bounds(s, &samples);
    PFR_TRY(choose_slots(d, s, samples, &slots, err));
    pfr_status st = make_room(&c, slots);
    const pfr_model_event *e = s->event ? pfr_model_get_event(s->run.model, s->event) : NULL;
    if (st >= 0 && samples)
        st = e && e->is_traced ? read_calls(&c) : read_samples(&c, samples);
    free_room(&c);
    PFR_TRY(st);
    PFR_TRY(find_norm(d, s, err));
    return sort_cells(d, s, err);
}

void diff_series_free(pfr_diff *d, struct diff_series *s) {
    struct memory *memory = &d->memory;
    mem_free(memory, s->times, s->times_room, sizeof *s->times);
    mem_free(memory, s->weights, s->slots, sizeof *s->weights);
    mem_free(memory, s->counts, s->slots, sizeof *s->counts);
    mem_free(memory, s->norms, s->slots, sizeof *s->norms);
    mem_free(memory, s->sums, d->nr_names, sizeof *s->sums);
    mem_free(memory, s->cells, s->room, sizeof *s->cells);
    mem_free(memory, s->first_cell, (size_t)d->nr_names + 2, sizeof *s->first_cell);
    mem_free(memory, s->row_of, (size_t)s->nr_ids + 1, sizeof *s->row_of);
    mem_free(memory, s->draws, (size_t)s->slots * d->options.rounds, sizeof *s->draws);
    mem_free(memory, s->drawn_norm, d->options.rounds, sizeof *s->drawn_norm);
    diff_covariance_free(d, s);
}

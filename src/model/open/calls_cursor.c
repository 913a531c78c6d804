/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a model in batches, with the ids described in calls_rows.h. */
#include "model/open/calls_spill.h"

#include <inttypes.h>

#define CALL_BATCH 512u

struct call_columns {
    uint64_t id[CALL_BATCH], start[CALL_BATCH], duration[CALL_BATCH], parent[CALL_BATCH], argument[CALL_BATCH];
    int64_t self[CALL_BATCH];
    uint32_t thread[CALL_BATCH], symbol[CALL_BATCH], stack[CALL_BATCH], depth[CALL_BATCH], flags[CALL_BATCH];
    uint32_t count;
};

struct pfr_calls {
    const struct pfr_model *model;
    struct memory memory;
    pfr_calls_options options;
    struct call_columns rows;
    struct call_reader reader;
    pfr_call_batch batch;
    size_t thread, next;   /* next: row of the thread */
    uint64_t *left_before; /* by depth of an open call: number of calls that were left before it was entered */
    size_t room;
    uint32_t known; /* number of depths for which left_before is known */
};

static void point_batch(struct pfr_calls *c) {
    const struct call_columns *r = &c->rows;
    c->batch = (pfr_call_batch){.id = r->id,
                                .start = r->start,
                                .duration = r->duration,
                                .self = r->self,
                                .parent = r->parent,
                                .argument = r->argument,
                                .thread = r->thread,
                                .symbol = r->symbol,
                                .stack = r->stack,
                                .depth = r->depth,
                                .flags = r->flags};
}

static pfr_status check(const pfr_model *m, const pfr_calls_options *o, pfr_error *err) {
    if (o->thread > m->threads.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "thread", "there is no thread %" PRIu32, o->thread);
    if (o->symbol > m->symbols.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "symbol", "there is no symbol %" PRIu32, o->symbol);
    return PFR_OK;
}

pfr_calls *pfr_calls_open(const pfr_model *m, const pfr_calls_options *options, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    pfr_calls_options o = {.size = sizeof o};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (check(m, &o, err) < 0)
        return NULL;
    struct pfr_calls *c = mem_zeroed(m->memory, 1, sizeof *c);
    if (!c) {
        mem_fail(m->memory, err, "calls");
        return NULL;
    }
    c->model = m;
    c->options = o;
    memory_share(&c->memory, m->memory);
    point_batch(c);
    return c;
}

void pfr_calls_close(pfr_calls *c) {
    if (!c)
        return;
    mem_free(&c->memory, c->left_before, c->room, sizeof *c->left_before);
    mem_free(c->model->memory, c, 1, sizeof *c);
}

pfr_status pfr_calls_rewind(pfr_calls *c, pfr_error *err) {
    (void)err;
    c->thread = c->next = 0;
    c->known = 0;
    return PFR_OK;
}

uint64_t pfr_model_call_count(const pfr_model *m) {
    return m->traced ? m->traced->count : m->calls.count;
}

/* --- One call. */

static bool is_wanted(const struct pfr_calls *c, const pfr_call *call) {
    const pfr_calls_options *o = &c->options;
    const bool open = call->flags & PFR_CALL_OPEN;
    const bool overlaps =
        (!o->last || call->start <= o->last) && (open || !o->first || call->start + call->duration >= o->first);
    return overlaps && (!o->thread || o->thread == call->thread) && (!o->symbol || o->symbol == call->symbol) &&
           (!o->min_duration || (!open && call->duration >= o->min_duration));
}

static void give(struct pfr_calls *c, uint64_t id, const pfr_call *call) {
    struct call_columns *r = &c->rows;
    if (!is_wanted(c, call))
        return;
    const uint32_t at = r->count++;
    r->id[at] = id;
    r->start[at] = call->start;
    r->duration[at] = call->duration;
    r->self[at] = call->self;
    r->parent[at] = call->parent;
    r->argument[at] = call->argument;
    r->thread[at] = call->thread;
    r->symbol[at] = call->symbol;
    r->stack[at] = call->stack;
    r->depth[at] = call->depth;
    r->flags[at] = call->flags;
}

/* Notes the calls that were entered since the last exit: `left` calls had been left before. */
static pfr_status note_entered(struct pfr_calls *c, uint32_t depth, uint64_t left, pfr_error *err) {
    void *grown = mem_grow(&c->memory, c->left_before, depth, &c->room, 64, sizeof *c->left_before);
    if (!grown)
        return mem_fail(&c->memory, err, "calls");
    c->left_before = grown;
    for (; c->known <= depth; c->known++)
        c->left_before[c->known] = left;
    c->known = depth;
    return PFR_OK;
}

static int64_t signed_ns(int64_t ticks, uint64_t frequency) {
    const uint64_t size = calls_ns(ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks, frequency);
    const uint64_t most = size <= INT64_MAX ? size : INT64_MAX;
    return ticks < 0 ? -(int64_t)most : (int64_t)most;
}

static pfr_status take_row(struct pfr_calls *c, const struct call_thread *t, size_t number, pfr_error *err) {
    const struct model_calls *calls = c->model->traced;
    const struct call_row *row;
    PFR_TRY(call_row_get(&c->reader, calls, t, number, &row, err));
    const struct call_path_row *path = &calls->paths[row->path];
    const uint64_t frequency = calls->clock.frequency;
    pfr_call call = {.start = xray_clock_ns(&calls->clock, row->exit - row->latency),
                     .duration = calls_ns(row->latency, frequency),
                     .self = signed_ns(row->self, frequency),
                     .thread = t->thread,
                     .symbol = path->symbol,
                     .stack = path->stack,
                     .depth = path->depth,
                     .flags = row->flags};
    uint64_t id = t->first + number + 1;
    if (!t->limited) {
        PFR_TRY(note_entered(c, path->depth, number, err));
        id = t->first + c->left_before[path->depth] + path->depth + 1;
        if (path->depth)
            call.parent = t->first + c->left_before[path->depth - 1] + path->depth;
        if (call_argument_find(t, id - t->first - 1, row, &call.argument))
            call.flags |= PFR_CALL_ARGUMENT;
    }
    give(c, id, &call);
    return PFR_OK;
}

static pfr_status fill(struct pfr_calls *c, pfr_error *err) {
    const struct model_calls *calls = c->model->traced;
    while (c->thread < calls->nr_threads && c->rows.count < CALL_BATCH) {
        const struct call_thread *t = &calls->threads[c->thread];
        const bool skipped = c->options.thread && c->options.thread != t->thread;
        while (!skipped && c->next < t->count && c->rows.count < CALL_BATCH)
            PFR_TRY(take_row(c, t, c->next++, err));
        if (!skipped && c->next < t->count)
            break;
        c->thread++;
        c->next = 0;
        c->known = 0;
    }
    return PFR_OK;
}

static void fill_built(struct pfr_calls *c) {
    const struct pfr_model *m = c->model;
    for (; c->next < m->calls.count && c->rows.count < CALL_BATCH; c->next++)
        give(c, c->next + 1, (const pfr_call *)m->calls.at + c->next + 1);
}

pfr_status pfr_calls_next(pfr_calls *c, const pfr_call_batch **batch, pfr_error *err) {
    *batch = NULL;
    c->rows.count = 0;
    if (c->model->traced)
        PFR_TRY(fill(c, err));
    else
        fill_built(c);
    if (!c->rows.count)
        return PFR_END;
    c->batch.count = c->rows.count;
    *batch = &c->batch;
    return PFR_OK;
}

/* --- Sums. */

pfr_status calls_add_self(const struct pfr_model *m, uint64_t *self, pfr_error *err) {
    const struct model_calls *c = m->traced;
    struct call_reader reader = {0};
    for (size_t t = 0; t < c->nr_threads; t++)
        for (size_t i = 0; i < c->threads[t].count; i++) {
            const struct call_row *row;
            PFR_TRY(call_row_get(&reader, c, &c->threads[t], i, &row, err));
            self[c->paths[row->path].stack] += (uint64_t)row->self;
        }
    for (uint32_t id = 0; id <= m->stacks.count; id++)
        self[id] = (int64_t)self[id] < 0 ? 0 : self[id];
    return PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Combines two models into one: see page_pair.h. */
#include "export/page/page_pair.h"

#include "base/memory/fail.h"
#include "base/memory/memory.h"
#include "model/diff/diff_names.h"

#include <perfray/samples.h>
#include <perfray/spans.h>
#include <string.h>

#define NAME_ROOM 65536u /* longer names are cut, as in a comparison */

enum map { MAP_EVENT, MAP_PROCESS, MAP_THREAD, MAP_COMM, MAP_OBJECT, MAP_SYMBOL, MAP_FRAME, MAP_STACK, NR_MAPS };

struct copy {
    pfr_build *to;
    const pfr_model *from;
    enum page_side side;
    struct memory memory;
    uint32_t *map[NR_MAPS]; /* for each table: by id in `from`, the id in `to` */
    uint64_t begin;         /* time of the first sample or call of `from` */
    uint64_t new_begin;     /* time to which `begin` is moved */
};

/* --- Rows, copied parents first. */

static uint32_t copy_event(struct copy *c, uint32_t id) {
    return pfr_build_event(c->to, pfr_model_get_event(c->from, id));
}

static uint32_t copy_comm(struct copy *c, uint32_t id) {
    return pfr_build_comm(c->to, pfr_model_get_comm(c->from, id));
}

static uint32_t copy_process(struct copy *c, uint32_t id) {
    const pfr_model_process *p = pfr_model_get_process(c->from, id);
    return pfr_build_process(c->to, &(pfr_model_process){.pid = p->pid, .comm = c->map[MAP_COMM][p->comm]});
}

/* Moves the start or end of a thread, or the time of a mark. These may be before the first
   sample. */
static uint64_t moved_life(const struct copy *c, uint64_t time) {
    if (time == PFR_NO_TIME || c->begin == PFR_NO_TIME)
        return PFR_NO_TIME;
    if (time >= c->begin)
        return time - c->begin + c->new_begin;
    return c->begin - time < c->new_begin ? c->new_begin - (c->begin - time) : 0;
}

static uint32_t copy_thread(struct copy *c, uint32_t id) {
    const pfr_model_thread *t = pfr_model_get_thread(c->from, id);
    return pfr_build_thread(c->to, &(pfr_model_thread){.process = c->map[MAP_PROCESS][t->process],
                                                       .tid = t->tid,
                                                       .comm = c->map[MAP_COMM][t->comm],
                                                       .start = moved_life(c, t->start),
                                                       .end = moved_life(c, t->end)});
}

/* Copies no path and no build id, so that different builds count as the same object. */
static uint32_t copy_object(struct copy *c, uint32_t id) {
    const pfr_model_object *o = pfr_model_get_object(c->from, id);
    return pfr_build_object(c->to, &(pfr_model_object){.path = o->name, .name = o->name, .kind = o->kind});
}

/* Names of compiler clones and Rust hashes are reduced to the function's plain name, as in the rows of a comparison. */
static uint32_t copy_symbol(struct copy *c, uint32_t id) {
    char plain[NAME_ROOM];
    const pfr_model_symbol *s = pfr_model_get_symbol(c->from, id);
    if (s->name)
        diff_plain_name(s->name, plain, sizeof plain);
    return pfr_build_symbol(
        c->to, &(pfr_model_symbol){.name = s->name ? plain : NULL, .object = c->map[MAP_OBJECT][s->object]});
}

static uint32_t copy_frame(struct copy *c, uint32_t id) {
    const pfr_model_frame *f = pfr_model_get_frame(c->from, id);
    return pfr_build_frame(c->to, &(pfr_model_frame){.symbol = c->map[MAP_SYMBOL][f->symbol],
                                                     .object = c->map[MAP_OBJECT][f->object],
                                                     .mode = f->mode,
                                                     .inlined = f->inlined});
}

static uint32_t copy_stack(struct copy *c, uint32_t id) {
    const pfr_stack *s = pfr_model_get_stack(c->from, id);
    return pfr_build_stack(c->to, c->map[MAP_STACK][s->parent], c->map[MAP_FRAME][s->frame]);
}

static const struct copied_table {
    enum map map;
    pfr_table table;
    uint32_t (*copy)(struct copy *c, uint32_t id);
} tables[] = {
    {MAP_EVENT, PFR_TABLE_EVENT, copy_event},       {MAP_COMM, PFR_TABLE_COMM, copy_comm},
    {MAP_PROCESS, PFR_TABLE_PROCESS, copy_process}, {MAP_THREAD, PFR_TABLE_THREAD, copy_thread},
    {MAP_OBJECT, PFR_TABLE_OBJECT, copy_object},    {MAP_SYMBOL, PFR_TABLE_SYMBOL, copy_symbol},
    {MAP_FRAME, PFR_TABLE_FRAME, copy_frame},       {MAP_STACK, PFR_TABLE_STACK, copy_stack},
};
#define NR_TABLES (sizeof tables / sizeof *tables)

static pfr_status copy_tables(struct copy *c, pfr_error *err) {
    for (size_t i = 0; i < NR_TABLES; i++) {
        const uint32_t count = pfr_model_count(c->from, tables[i].table);
        uint32_t *map = mem_zeroed(&c->memory, (size_t)count + 1, sizeof *map);
        if (!map)
            return mem_fail(&c->memory, err, "tables");
        c->map[tables[i].map] = map;
        for (uint32_t id = 1; id <= count; id++)
            map[id] = tables[i].copy(c, id);
    }
    return PFR_OK;
}

static void free_maps(struct copy *c) {
    for (size_t i = 0; i < NR_TABLES; i++)
        if (c->map[tables[i].map])
            mem_free(&c->memory, c->map[tables[i].map], (size_t)pfr_model_count(c->from, tables[i].table) + 1,
                     sizeof(uint32_t));
}

/* --- Rows with times. */

static uint64_t moved(const struct copy *c, uint64_t time) {
    return time == PFR_NO_TIME || time < c->begin ? time : time - c->begin + c->new_begin;
}

static pfr_status copy_samples(struct copy *c, pfr_error *err) {
    const pfr_sample_batch *b;
    pfr_status st;
    pfr_samples *cursor = pfr_samples_open(c->from, NULL, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            pfr_build_sample(c->to, &(pfr_sample){.time = moved(c, b->time[i]),
                                                  .weight = b->weight[i],
                                                  .period = b->period[i],
                                                  .thread = c->map[MAP_THREAD][b->thread[i]],
                                                  .comm = c->map[MAP_COMM][b->comm[i]],
                                                  .cpu = b->cpu[i],
                                                  .event = c->map[MAP_EVENT][b->event[i]],
                                                  .stack = c->map[MAP_STACK][b->stack[i]],
                                                  .mode = b->mode[i]});
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

/* Callers are not copied: the page derives them from the order and the depth of calls. Calls of the
   baseline get self time 0, because the headline of the page describes only the newer model. */
static pfr_call copied_call(const struct copy *c, const pfr_call_batch *b, uint32_t i) {
    return (pfr_call){.start = moved(c, b->start[i]),
                      .duration = b->duration[i],
                      .self = c->side == PAGE_NEWER ? b->self[i] : 0,
                      .thread = c->map[MAP_THREAD][b->thread[i]],
                      .symbol = c->map[MAP_SYMBOL][b->symbol[i]],
                      .stack = c->map[MAP_STACK][b->stack[i]],
                      .depth = b->depth[i],
                      .flags = b->flags[i]};
}

static pfr_status read_calls(struct copy *c, pfr_call *calls, uint64_t count, pfr_error *err) {
    const pfr_call_batch *b;
    pfr_status st;
    pfr_calls *cursor = pfr_calls_open(c->from, NULL, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_calls_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            if (b->id[i] <= count)
                calls[b->id[i] - 1] = copied_call(c, b, i);
    pfr_calls_close(cursor);
    return st < 0 ? st : PFR_OK;
}

/* Copies calls in the order of their ids, in which a caller comes before its callees; the cursor
   returns it after them. */
static pfr_status copy_calls(struct copy *c, pfr_error *err) {
    const uint64_t count = pfr_model_call_count(c->from);
    pfr_call *calls = mem_zeroed(&c->memory, (size_t)count + 1, sizeof *calls);
    if (!calls)
        return mem_fail(&c->memory, err, "calls");
    const pfr_status st = read_calls(c, calls, count, err);
    for (uint64_t i = 0; i < count && st >= 0; i++)
        if (calls[i].thread)
            pfr_build_call(c->to, &calls[i]);
    mem_free(&c->memory, calls, (size_t)count + 1, sizeof *calls);
    return st;
}

static void copy_marks(struct copy *c) {
    const pfr_mark *mark;
    for (uint64_t i = 0; (mark = pfr_model_mark(c->from, i)); i++) {
        pfr_mark row = *mark;
        row.time = moved_life(c, mark->time);
        row.thread = c->map[MAP_THREAD][mark->thread];
        row.event = c->map[MAP_EVENT][mark->event];
        pfr_build_mark(c->to, &row);
    }
}

static void copy_intervals(struct copy *c) {
    const pfr_interval *interval;
    for (uint64_t i = 0; (interval = pfr_model_interval(c->from, i)); i++) {
        pfr_interval row = *interval;
        row.thread = c->map[MAP_THREAD][row.thread];
        row.stack = c->map[MAP_STACK][row.stack];
        row.waker = c->map[MAP_THREAD][row.waker];
        row.waker_stack = c->map[MAP_STACK][row.waker_stack];
        pfr_build_interval(c->to, &row);
    }
}

static uint64_t first_of(const pfr_model *model) {
    uint64_t first = PFR_NO_TIME;
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_EVENT); id++)
        if (pfr_model_get_event(model, id)->first < first)
            first = pfr_model_get_event(model, id)->first;
    return first;
}

static pfr_status keep_symbols(const struct copy *c, struct page_pair *pair, pfr_error *err) {
    const enum page_side side = c->side;
    const size_t count = (size_t)pfr_model_count(c->from, PFR_TABLE_SYMBOL) + 1;
    pair->symbols[side] = mem_alloc(pair->memory, count, sizeof *pair->symbols[side]);
    if (!pair->symbols[side])
        return mem_fail(pair->memory, err, "tables");
    pair->room[side] = count;
    memcpy(pair->symbols[side], c->map[MAP_SYMBOL], count * sizeof *pair->symbols[side]);
    return PFR_OK;
}

static pfr_status copy_model(pfr_build *to, const pfr_model *from, enum page_side side, struct page_pair *pair,
                             uint64_t new_begin, pfr_error *err) {
    struct copy c = {.to = to, .from = from, .side = side, .begin = first_of(from), .new_begin = new_begin};
    memory_init(&c.memory, &pair->memory->alloc, 0);
    if (new_begin == PFR_NO_TIME)
        c.new_begin = c.begin;
    pfr_status st = copy_tables(&c, err);
    if (st >= 0)
        st = keep_symbols(&c, pair, err);
    if (st >= 0)
        st = copy_samples(&c, err);
    if (st >= 0)
        st = copy_calls(&c, err);
    if (st >= 0)
        copy_marks(&c);
    if (st >= 0 && side == PAGE_NEWER)
        copy_intervals(&c);
    free_maps(&c);
    return st;
}

pfr_status page_pair_make(struct page_pair *pair, const pfr_model *newer, const pfr_model *baseline,
                          struct memory *memory, pfr_error *err) {
    *pair = (struct page_pair){.memory = memory};
    pfr_build *build = pfr_model_build(&memory->alloc, NULL, err);
    if (!build)
        return err->status;
    pfr_status st = copy_model(build, newer, PAGE_NEWER, pair, first_of(newer), err);
    if (st >= 0)
        st = copy_model(build, baseline, PAGE_BASELINE, pair, first_of(newer), err);
    if (st < 0) {
        pfr_build_free(build);
        return st;
    }
    pair->model = pfr_build_finish(build, err);
    return pair->model ? PFR_OK : err->status;
}

void page_pair_free(struct page_pair *pair) {
    for (unsigned side = 0; side < PAGE_SIDES; side++)
        mem_free(pair->memory, pair->symbols[side], pair->room[side], sizeof *pair->symbols[side]);
    pfr_model_close(pair->model);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of the selected rows, in the form in which call_costs_load returns the latencies of a recording. */
#include "store/stored_rows.h"

#include "model/latency/call_costs.h"
#include "model/names/function_names.h"

#include <string.h>

struct costing {
    const struct stored *stored;
    struct call_costs *costs;
    struct function_names *names;
    struct u64_map function_of; /* frame -> id of its function in this result */
};

static pfr_status check(const struct stored *s, const struct costs_request *r, pfr_error *err) {
    if (s->timeless)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, STORED_SUMS,
                        "this selection reads sums, which have no latencies");
    const char *const what = r->by == COSTS_BY_THREAD         ? "latencies by thread"
                             : r->wants_thread || s->no_costs ? "latencies by thread or event"
                             : r->wants_time || r->least      ? "single calls to filter"
                             : r->deduce                      ? "calls without exits"
                                                              : NULL;
    return what ? pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "a store does not have %s", what) : PFR_OK;
}

/* --- Names. A function keeps its id from the trace, unless another trace uses this id for another function. */

static pfr_status name_function(struct costing *c, uint32_t frame, uint32_t id, pfr_error *err) {
    const struct stored_frame *from = &c->stored->frames[frame];
    const struct stored_object *object = from->object ? &c->stored->objects[from->object] : NULL;
    struct arena *arena = &c->names->texts.arena;
    struct function_name *name = arena_zeroed(arena, 1, sizeof *name);
    const char *const text = arena_text(arena, from->name.bytes, from->name.length);
    const char *const path = object ? arena_text(arena, object->path.bytes, object->path.length) : NULL;
    if (!name || !text || (object && !path))
        return mem_fail(c->names->memory, err, "functions");
    *name = (struct function_name){.text = text,
                                   .length = (uint32_t)from->name.length,
                                   .id = id,
                                   .path = path,
                                   .address = from->address,
                                   .mapped = object != NULL,
                                   .named = from->named && text[0] != '#'};
    return u64_map_put(&c->names->by_id, id, (uint64_t)(uintptr_t)name, err);
}

static pfr_status function_of(struct costing *c, uint32_t frame, uint32_t number, uint32_t *id, pfr_error *err) {
    uint64_t known;
    if (u64_map_get(&c->function_of, frame, &known))
        return *id = (uint32_t)known, PFR_OK;
    *id = number;
    while (u64_map_get(&c->names->by_id, *id, &known))
        ++*id;
    PFR_TRY(name_function(c, frame, *id, err));
    return u64_map_put(&c->function_of, frame, *id, err);
}

/* --- Sums. */

static uint64_t convert(const struct costing *c, const struct stored_cost *from, uint64_t ticks) {
    const struct stored *s = c->stored;
    return s->mixed ? calls_ns(ticks, s->uploads.at[from->upload].frequency) : ticks;
}

static void add_sums(const struct costing *c, const struct stored_cost *from, struct call_cost *to) {
    const uint64_t size = (uint64_t)(from->self < 0 ? -from->self : from->self);
    const __int128 self = convert(c, from, size);
    to->sum += convert(c, from, from->sum);
    to->self += from->self < 0 ? -self : self;
    to->count += from->n;
    to->backward += from->backward;
    to->deduced += from->deduced;
    to->open += from->open;
    to->lone += from->lone;
}

/* The least and the greatest value are exact, even if the list has the middles of buckets. */
static pfr_status add_distribution(struct costing *c, const struct stored_cost *from, uint32_t row, pfr_error *err) {
    struct distributions *all = &c->costs->distributions;
    for (uint32_t i = 0; i < from->nr_values; i++)
        PFR_TRY(distributions_add_times(all, row, convert(c, from, from->values[i]), from->counts[i], err));
    struct distribution *d = &all->at[row];
    if (from->nr_values && convert(c, from, from->low) < d->low)
        d->low = convert(c, from, from->low);
    if (from->nr_values && convert(c, from, from->high) > d->high)
        d->high = convert(c, from, from->high);
    return PFR_OK;
}

static pfr_status add_cost(struct costing *c, const struct stored_cost *from, pfr_error *err) {
    struct cost_key key;
    uint32_t row;
    memset(&key, 0, sizeof key);
    key.is_limit = from->function == 0;
    if (!key.is_limit)
        PFR_TRY(function_of(c, from->function, from->number, &key.function, err));
    if (from->caller && c->costs->request->by == COSTS_BY_CALLER) {
        key.has_caller = true;
        PFR_TRY(function_of(c, from->caller, from->caller_number, &key.caller, err));
    }
    PFR_TRY(call_costs_row(c->costs, &key, &row, err));
    add_sums(c, from, &c->costs->at[row]);
    return add_distribution(c, from, row, err);
}

static void add_totals(const struct stored *s, struct calls_totals *t) {
    t->frequency = s->frequency;
    t->first = 1; /* first > last: not known */
    t->last = 0;
    t->shortest = UINT64_MAX;
    for (size_t i = 0; i < s->nr_costs; i++) {
        t->calls += s->costs[i].n;
        t->open += s->costs[i].open;
        t->lone += s->costs[i].lone;
        t->backward += s->costs[i].backward;
    }
    for (size_t i = 0; i < s->uploads.count; i++)
        t->lossy = t->lossy || s->uploads.at[i].holes;
}

pfr_status stored_costs(const struct stored_source *source, struct call_costs *costs, struct function_names *names,
                        pfr_error *err) {
    struct costing c = {.stored = (const struct stored *)(const void *)source, .costs = costs, .names = names};
    pfr_status st = check(c.stored, costs->request, err);
    u64_map_init(&c.function_of, c.costs->memory);
    for (size_t i = 0; st >= 0 && i < c.stored->nr_costs; i++)
        st = add_cost(&c, &c.stored->costs[i], err);
    add_totals(c.stored, &costs->totals);
    u64_map_free(&c.function_of);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies of a trace, by caller and function. */
#include "model/latency/call_costs.h"
#include "model/names/function_names.h"
#include "store/store_push.h"

#include <string.h>

/* Columns of the table `latency`, in the order of store_tables.def. */
enum {
    L_DAY,
    L_UPLOAD,
    L_TIME,
    L_FUNCTION,
    L_CALLER,
    L_NUMBER,
    L_CALLER_NUMBER,
    L_N,
    L_SUM,
    L_SELF,
    L_LOW,
    L_HIGH,
    L_BACKWARD,
    L_DEDUCED,
    L_OPEN,
    L_LONE,
    L_VALUE,
    L_COUNT
};

struct call_push {
    struct push *push;
    struct function_names names;
    struct call_costs costs;
    uint64_t *values, *counts; /* values of one distribution and how often each occurs */
    size_t values_room, counts_room;
};

/* Makes the frame of a function in the same way as profile_calls.c, so that samples and latencies refer to the same
   row. */
static pfr_status frame_of(struct call_push *c, uint32_t function, uint64_t *hash, pfr_error *err) {
    struct push *p = c->push;
    const struct function_name *name;
    uint32_t object = NO_OBJECT;
    PFR_TRY(function_names_find(&c->names, function, &name, err));
    const pfr_text path = {.at = name->path, .length = name->path ? (uint32_t)strlen(name->path) : 0};
    if (name->path)
        PFR_TRY(objects_of_map(&p->profile->state.objects, &path, 0, MAP_OF_CODE, NULL, 0, &object, err));
    const struct push_frame frame = {.object = object,
                                     .name = name->text,
                                     .length = name->length,
                                     .address = name->mapped ? name->address : function,
                                     .mode = PFR_CPUMODE_USER,
                                     .named = true};
    return push_frame(p, &frame, hash, err);
}

static pfr_status put_distribution(struct call_push *c, uint32_t number, pfr_error *err) {
    struct store_columns *to = &c->push->columns[STORE_TABLE_latency];
    struct memory *memory = c->push->memory;
    struct distribution_list list;
    PFR_TRY(distribution_list(&c->costs.distributions, number, &list, err));
    pfr_status st = PFR_OK;
    for (size_t i = 0; i < list.count && st >= 0; i++) {
        void *values = mem_grow(memory, c->values, i, &c->values_room, 256, sizeof *c->values);
        c->values = values ? values : c->values;
        void *counts = mem_grow(memory, c->counts, i, &c->counts_room, 256, sizeof *c->counts);
        c->counts = counts ? counts : c->counts;
        if (!values || !counts) {
            st = mem_fail(memory, err, "store");
            break;
        }
        c->values[i] = list.at[i].what;
        c->counts[i] = list.at[i].count;
    }
    if (st >= 0)
        st = store_columns_list(to, L_VALUE, c->values, list.count, err);
    if (st >= 0)
        st = store_columns_list(to, L_COUNT, c->counts, list.count, err);
    distribution_list_free(&c->costs.distributions, &list);
    return st;
}

static uint64_t capped(unsigned __int128 sum) {
    return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

static pfr_status put_cost(struct call_push *c, uint32_t number, pfr_error *err) {
    struct push *p = c->push;
    struct store_columns *to = &p->columns[STORE_TABLE_latency];
    const struct call_cost *cost = &c->costs.at[number];
    const struct distribution *d = &c->costs.distributions.at[number];
    const struct cost_key key = call_cost_key(&c->costs, number);
    uint64_t function = 0, caller = 0;
    if (!key.is_limit)
        PFR_TRY(frame_of(c, key.function, &function, err));
    if (key.has_caller)
        PFR_TRY(frame_of(c, key.caller, &caller, err));
    const bool timed = d->low <= d->high;
    const uint64_t numbers[] = {[L_DAY] = p->upload.first / DAY_NS,
                                [L_UPLOAD] = p->upload.id,
                                [L_TIME] = p->upload.first,
                                [L_FUNCTION] = function,
                                [L_CALLER] = caller,
                                [L_NUMBER] = key.function,
                                [L_CALLER_NUMBER] = key.caller,
                                [L_N] = cost->count,
                                [L_SUM] = capped(cost->sum),
                                [L_SELF] = (uint64_t)(int64_t)cost->self,
                                [L_LOW] = timed ? d->low : 0,
                                [L_HIGH] = timed ? d->high : 0,
                                [L_BACKWARD] = cost->backward,
                                [L_DEDUCED] = cost->deduced,
                                [L_OPEN] = cost->open,
                                [L_LONE] = cost->lone};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        store_columns_number(to, i, numbers[i]);
    PFR_TRY(put_distribution(c, number, err));
    return push_next(p, STORE_TABLE_latency, err);
}

static pfr_status load_and_put(struct call_push *c, pfr_error *err) {
    const pfr_push_options *o = c->push->options;
    const struct function_names_options names = {.naming = naming_of(o->naming), .trace = c->push->reader};
    const struct costs_request request = {.by = COSTS_BY_CALLER, .jobs = o->jobs};
    PFR_TRY(function_names_open(&c->names, c->push->memory, &names, err));
    PFR_TRY(call_costs_load(&c->costs, c->push->reader, &request, err));
    for (uint32_t i = 0; i < c->costs.rows.count; i++)
        PFR_TRY(put_cost(c, i, err));
    return PFR_OK;
}

pfr_status push_calls(struct push *p, pfr_error *err) {
    struct call_push c = {.push = p};
    call_costs_init(&c.costs, p->memory);
    const pfr_status st = load_and_put(&c, err);
    if (c.names.memory)
        function_names_close(&c.names);
    call_costs_free(&c.costs);
    mem_free(p->memory, c.values, c.values_room, sizeof *c.values);
    mem_free(p->memory, c.counts, c.counts_room, sizeof *c.counts);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that adds up calls: see call_costs.h and calls.h. The row of a call follows from its path, and if rows are
   grouped by thread also from the current thread. A worker looks up the row once per path (and thread). */
#include "model/latency/call_costs.h"

#include "base/memory/fail.h"

#include <string.h>

#define NO_ROW UINT32_MAX

/* The row of a path; valid if the stamp is the worker's current stamp. */
struct path_row {
    uint32_t stamp, row;
};

struct cost_worker {
    struct memory memory; /* share of the memory of the costs */
    struct call_costs costs;
    struct path_row *row_of; /* by path */
    size_t room;
    uint32_t stamp;
    struct calls_thread thread;
    bool thread_wanted;
};

/* --- Rows. */

void call_costs_init(struct call_costs *c, struct memory *memory) {
    *c = (struct call_costs){.memory = memory};
    intern_init(&c->rows, memory);
    distributions_init(&c->distributions, memory);
}

static void free_rows(struct call_costs *c) {
    mem_free(c->memory, c->at, c->room, sizeof *c->at);
    c->at = NULL;
    c->room = 0;
    intern_free(&c->rows);
    distributions_free(&c->distributions);
}

struct cost_key call_cost_key(const struct call_costs *c, uint32_t number) {
    struct cost_key key;
    memcpy(&key, intern_get(&c->rows, number).bytes, sizeof key);
    return key;
}

static pfr_status add_row(struct call_costs *c, uint32_t number, pfr_error *err) {
    struct call_cost *more = mem_grow(c->memory, c->at, number, &c->room, 64, sizeof *more);
    if (!more)
        return mem_fail(c->memory, err, "latencies");
    c->at = more;
    c->at[number] = (struct call_cost){0};
    return distributions_new(&c->distributions, err);
}

pfr_status call_costs_row(struct call_costs *c, const struct cost_key *key, uint32_t *row, pfr_error *err) {
    PFR_TRY(intern_put(&c->rows, key, sizeof *key, row, err));
    return *row == c->distributions.count ? add_row(c, *row, err) : PFR_OK;
}

/* Equal keys must have equal bytes. */
static void fill_key(const struct cost_worker *l, enum costs_by by, struct cost_key *key) {
    memset(key, 0, sizeof *key);
    if (by != COSTS_BY_THREAD)
        return;
    key->thread.pid = l->thread.pid;
    key->thread.tid = l->thread.tid;
    key->thread.has_pid = l->thread.has_pid;
    key->thread.has_tid = l->thread.has_tid;
}

static bool has_function(uint32_t node) {
    return node != PATH_ROOT && node != PATH_LIMIT;
}

static void fill_caller(const struct calls_worker *worker, uint32_t parent, struct cost_key *key) {
    key->has_caller = has_function(parent);
    key->caller = key->has_caller ? worker->paths->at[parent].function : 0;
}

static pfr_status look_up(struct cost_worker *l, const struct calls_worker *worker, uint32_t node, uint32_t *row,
                          pfr_error *err) {
    const enum costs_by by = l->costs.request->by;
    struct cost_key key;
    fill_key(l, by, &key);
    key.is_limit = node == PATH_LIMIT;
    if (!key.is_limit)
        key.function = worker->paths->at[node].function;
    if (by == COSTS_BY_CALLER && !key.is_limit)
        fill_caller(worker, worker->paths->at[node].parent, &key);
    PFR_TRY(call_costs_row(&l->costs, &key, row, err));
    l->row_of[node] = (struct path_row){l->stamp, *row};
    return PFR_OK;
}

/* Makes room for all paths of the worker. */
static pfr_status make_room(struct cost_worker *l, uint32_t paths, pfr_error *err) {
    if (paths <= l->room)
        return PFR_OK;
    const size_t room = (size_t)paths + paths / 2 + 64;
    struct path_row *more = mem_resize(&l->memory, l->row_of, l->room, room, sizeof *more);
    if (!more)
        return mem_fail(&l->memory, err, "latencies");
    memset(more + l->room, 0, (room - l->room) * sizeof *more);
    l->row_of = more;
    l->room = room;
    return PFR_OK;
}

static inline pfr_status row_of(struct cost_worker *l, const struct calls_worker *worker, uint32_t node, uint32_t *row,
                                pfr_error *err) {
    const struct path_row *known = &l->row_of[node];
    *row = known->row;
    return __builtin_expect(known->stamp == l->stamp, 1) ? PFR_OK : look_up(l, worker, node, row, err);
}

/* --- Calls. */

static bool is_wanted(const struct cost_worker *l, uint64_t ticks) {
    const struct costs_request *request = l->costs.request;
    return l->thread_wanted && (!request->wants_time || request->wants_time(request->context, ticks));
}

static pfr_status add_call(struct cost_worker *l, const struct calls_worker *worker, const struct call *call,
                           pfr_error *err) {
    uint32_t row;
    PFR_TRY(row_of(l, worker, call->node, &row, err));
    struct call_cost *cost = &l->costs.at[row];
    cost->count++;
    cost->sum += call->latency;
    cost->self += call->self;
    cost->backward += (call->flags & CALL_BACKWARD) != 0;
    cost->deduced += (call->flags & CALL_DEDUCED) != 0;
    return distributions_add(&l->costs.distributions, row, call->latency, err);
}

static pfr_status on_calls(void *context, const struct calls_worker *worker, const struct call *calls, size_t count,
                           pfr_error *err) {
    struct cost_worker *l = &((struct call_costs *)context)->workers[worker->number];
    const uint64_t least = l->costs.request->least;
    PFR_TRY(make_room(l, worker->paths->count, err));
    for (size_t i = 0; i < count; i++)
        if (calls[i].latency >= least && is_wanted(l, calls[i].exit))
            PFR_TRY(add_call(l, worker, &calls[i], err));
        else
            l->costs.left_out++;
    return PFR_OK;
}

/* Counts every call: calls that the request may leave out are always delivered singly. */
static pfr_status on_many(void *context, const struct calls_worker *worker, const struct call_many *many,
                          pfr_error *err) {
    struct cost_worker *l = &((struct call_costs *)context)->workers[worker->number];
    uint32_t row;
    PFR_TRY(make_room(l, worker->paths->count, err));
    PFR_TRY(row_of(l, worker, many->node, &row, err));
    struct call_cost *cost = &l->costs.at[row];
    cost->count += many->count;
    cost->sum += many->latency;
    cost->self += many->self;
    const struct distribution_many values = {many->latencies, many->count, many->shortest, many->longest};
    return distributions_add_many(&l->costs.distributions, row, &values, err);
}

static pfr_status on_open(void *context, const struct calls_worker *worker, uint32_t node, uint64_t enter,
                          pfr_error *err) {
    struct cost_worker *l = &((struct call_costs *)context)->workers[worker->number];
    uint32_t row;
    if (!is_wanted(l, enter))
        return PFR_OK;
    PFR_TRY(make_room(l, worker->paths->count, err));
    PFR_TRY(row_of(l, worker, node, &row, err));
    l->costs.at[row].open++;
    return PFR_OK;
}

static pfr_status on_lone(void *context, const struct calls_worker *worker, uint32_t node, uint32_t function,
                          uint64_t exit, pfr_error *err) {
    struct cost_worker *l = &((struct call_costs *)context)->workers[worker->number];
    struct cost_key key;
    uint32_t row;
    if (!is_wanted(l, exit))
        return PFR_OK;
    fill_key(l, l->costs.request->by, &key);
    key.function = function;
    if (l->costs.request->by == COSTS_BY_CALLER)
        fill_caller(worker, node, &key);
    PFR_TRY(call_costs_row(&l->costs, &key, &row, err));
    l->costs.at[row].lone++;
    return PFR_OK;
}

/* A profile file has no single latencies and no times. If the request depends on them, all calls of the file are left
   out. */
static pfr_status on_sum(void *context, const struct calls_worker *worker, const struct call_sum *sum, pfr_error *err) {
    struct cost_worker *l = &((struct call_costs *)context)->workers[worker->number];
    uint32_t row;
    if (l->costs.request->least || !is_wanted(l, UINT64_MAX)) {
        l->costs.left_out += sum->count;
        return PFR_OK;
    }
    PFR_TRY(make_room(l, worker->paths->count, err));
    PFR_TRY(row_of(l, worker, sum->node, &row, err));
    l->costs.at[row].count += sum->count;
    l->costs.at[row].sum += sum->latency;
    l->costs.at[row].self += sum->self;
    return PFR_OK;
}

static pfr_status on_thread(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                            pfr_error *err) {
    struct call_costs *all = context;
    struct cost_worker *l = &all->workers[worker->number];
    (void)err;
    l->thread = *thread;
    l->thread_wanted = !all->request->wants_thread || all->request->wants_thread(all->request->context, thread);
    if (all->request->by == COSTS_BY_THREAD && ++l->stamp == 0) { /* stamps wrapped around: invalidate all */
        if (l->room)
            memset(l->row_of, 0, l->room * sizeof *l->row_of);
        l->stamp = 1;
    }
    return PFR_OK;
}

/* --- Workers. */

static void free_worker(struct cost_worker *l) {
    free_rows(&l->costs);
    mem_free(&l->memory, l->row_of, l->room, sizeof *l->row_of);
    l->row_of = NULL;
    l->room = 0;
}

static void free_workers(struct call_costs *c) {
    for (unsigned i = 0; i < c->nr_workers; i++)
        free_worker(&c->workers[i]);
    mem_free(c->memory, c->workers, c->nr_workers, sizeof *c->workers);
    c->workers = NULL;
    c->nr_workers = 0;
}

void call_costs_free(struct call_costs *c) {
    free_workers(c);
    free_rows(c);
}

static pfr_status on_begin(void *context, unsigned workers, pfr_error *err) {
    struct call_costs *c = context;
    free_workers(c);
    c->left_out = 0;
    c->workers = mem_zeroed(c->memory, workers, sizeof *c->workers);
    if (!c->workers)
        return mem_fail(c->memory, err, "latencies");
    for (; c->nr_workers < workers; c->nr_workers++) {
        struct cost_worker *l = &c->workers[c->nr_workers];
        memory_share(&l->memory, c->memory);
        call_costs_init(&l->costs, c->nr_workers == 0 ? c->memory : &l->memory);
        l->costs.request = c->request;
        l->stamp = 1;
        l->thread_wanted = true;
    }
    return PFR_OK;
}

static void add_cost(struct call_cost *to, const struct call_cost *from) {
    to->sum += from->sum;
    to->self += from->self;
    to->count += from->count;
    to->backward += from->backward;
    to->deduced += from->deduced;
    to->open += from->open;
    to->lone += from->lone;
}

static pfr_status merge(struct call_costs *c, const struct call_costs *from, pfr_error *err) {
    c->left_out += from->left_out;
    PFR_TRY(distributions_merge_begin(&c->distributions, &from->distributions, err));
    for (uint32_t i = 0; i < from->distributions.count; i++) {
        struct cost_key key;
        uint32_t row;
        memcpy(&key, intern_get(&from->rows, i).bytes, sizeof key);
        PFR_TRY(call_costs_row(c, &key, &row, err));
        add_cost(&c->at[row], &from->at[i]);
        PFR_TRY(distributions_merge(&c->distributions, row, &from->distributions, i, err));
    }
    return PFR_OK;
}

/* Takes over the results of the first worker. */
static void take_over(struct call_costs *c, struct call_costs *from) {
    free_rows(c);
    c->rows = from->rows;
    c->at = from->at;
    c->room = from->room;
    c->distributions = from->distributions;
    c->left_out = from->left_out;
    call_costs_init(from, c->memory);
}

static pfr_status on_end(void *context, const struct calls_worker *worker, pfr_error *err) {
    struct call_costs *c = context;
    struct cost_worker *l = &c->workers[worker->number];
    pfr_status st = PFR_OK;
    if (worker->number == 0)
        take_over(c, &l->costs);
    else
        st = merge(c, &l->costs, err);
    free_worker(l);
    return st;
}

static const struct calls_sink sink = {.begin = on_begin,
                                       .thread = on_thread,
                                       .calls = on_calls,
                                       .sum = on_sum,
                                       .many = on_many,
                                       .open = on_open,
                                       .lone = on_lone,
                                       .end = on_end};

static void report_hole(void *context, const pfr_error *hole) {
    const struct call_costs *c = context;
    if (c->request->hole)
        c->request->hole(c->request->context, hole);
}

pfr_status call_costs_load(struct call_costs *c, pfr_reader *reader, const struct costs_request *request,
                           pfr_error *err) {
    const bool all = !request->wants_thread && !request->wants_time && !request->least;
    const struct calls_request calls = {.sink = &sink,
                                        .gather = all ? CALLS_MEASURED : CALLS_SINGLY,
                                        .reach = request->by == COSTS_BY_CALLER ? 2 : 1,
                                        .jobs = request->jobs,
                                        .mixed = all && request->by != COSTS_BY_THREAD,
                                        .deduce = request->deduce,
                                        .hole = report_hole,
                                        .context = c};
    c->request = request;
    const pfr_status st = calls_read(reader, &calls, &c->totals, err);
    free_workers(c);
    return st;
}

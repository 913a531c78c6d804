/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALL_COSTS_H
#define PFR_MODEL_CALL_COSTS_H
/*
 * Costs of a trace's calls: counts, sums and latencies by function, by caller and function, or by thread and function.
 *
 *    struct call_costs costs;
 *    call_costs_init(&costs, memory);
 *    const struct costs_request request = {.by = COSTS_BY_CALLER};
 *    pfr_status st = call_costs_load(&costs, reader, &request, &err);
 *    for (uint32_t i = 0; i < costs.rows.count; i++)
 *        use(call_cost_key(&costs, i), &costs.at[i]);         // percentiles: see distributions.h
 *    call_costs_free(&costs);
 *
 * Each worker adds up its calls; the results are merged when workers end. The number of workers affects the order of
 * the rows, but not their numbers.
 */
#include "base/tables/intern.h"
#include "model/calls/calls.h"
#include "model/latency/distributions.h"

enum costs_by { COSTS_BY_FUNCTION, COSTS_BY_CALLER, COSTS_BY_THREAD };

/* Key of a row; members that are not used for grouping are 0. */
struct cost_key {
    struct calls_thread thread;
    uint32_t function, caller;
    bool has_caller; /* false: the caller is unknown */
    bool is_limit;   /* calls whose paths had no memory: their function is unknown */
};

struct call_cost {
    unsigned __int128 sum; /* ticks */
    __int128 self;
    uint64_t count;    /* finished calls; `sum` and `self` are sums over these calls */
    uint64_t backward; /* those of `count` with latency 0 because the clock stepped back */
    uint64_t deduced;  /* those of `count` that were ended by the exit of an enclosing call */
    uint64_t open;     /* calls that never ended */
    uint64_t lone;     /* unmatched exits */
};

/* Calls for which wants_thread or wants_time returns false are counted in left_out. A function may be NULL: all calls
   are wanted. */
struct costs_request {
    enum costs_by by;
    unsigned jobs; /* see calls_request */
    bool deduce;
    uint64_t least; /* ticks: shorter calls are left out */
    bool (*wants_thread)(void *context, const struct calls_thread *thread);
    bool (*wants_time)(void *context, uint64_t ticks);  /* `ticks`: exit of the call, or enter of an open call */
    void (*hole)(void *context, const pfr_error *hole); /* see calls_request */
    void *context;
};

struct call_costs {
    struct memory *memory;
    const struct costs_request *request;
    struct intern_table rows; /* struct cost_key -> number */
    struct call_cost *at;     /* by number */
    size_t room;
    struct distributions distributions; /* by number: latencies of finished calls; empty for a profile file */
    uint64_t left_out;                  /* number of calls that the request did not want */
    struct calls_totals totals;
    struct cost_worker *workers;
    unsigned nr_workers;
};

void call_costs_init(struct call_costs *costs, struct memory *memory);
void call_costs_free(struct call_costs *costs);

/* See calls_read. */
pfr_status call_costs_load(struct call_costs *costs, pfr_reader *reader, const struct costs_request *request,
                           pfr_error *err);

/* The row of a key, whose bytes must all be set; a new row also gets a distribution. */
pfr_status call_costs_row(struct call_costs *costs, const struct cost_key *key, uint32_t *row, pfr_error *err);

struct cost_key call_cost_key(const struct call_costs *costs, uint32_t number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALL_COSTS_H
#define PFR_MODEL_CALL_COSTS_H
/*
 * What the calls of a trace cost: counts, sums and latencies by function, by caller and function, or by thread and
 * function.
 *
 *     struct call_costs costs;
 *     call_costs_init(&costs, memory);
 *     const struct costs_request wish = {.by = COSTS_BY_CALLER};
 *     pfr_status st = call_costs_load(&costs, reader, &wish, &err);
 *     for (uint32_t i = 0; i < costs.rows.count; i++)
 *         use(call_cost_key(&costs, i), &costs.at[i]);         distribution_list(&costs.spreads, i, ...): percentiles
 *     call_costs_free(&costs);
 *
 * Each lane adds up for itself; what lanes have is merged when they end. The numbers do not depend on how many there
 * are; the order of the rows does.
 */
#include "base/tables/intern.h"
#include "model/calls/calls.h"
#include "model/latency/distributions.h"

enum costs_by { COSTS_BY_FUNCTION, COSTS_BY_CALLER, COSTS_BY_THREAD };

/* What tells rows apart; what does not is 0. */
struct cost_key {
    struct calls_thread thread;
    uint32_t function, caller;
    bool has_caller; /* not called by nobody that is known */
    bool is_limit;   /* calls whose paths had no room: their function is not known */
};

struct call_cost {
    unsigned __int128 sum; /* ticks */
    __int128 self;
    uint64_t count;    /* finished calls; `sum` and `self` are theirs */
    uint64_t backward; /* of these, of latency 0 because the clock stepped back */
    uint64_t deduced;  /* of these, ended by the exit of a call around them */
    uint64_t open;     /* calls that never ended */
    uint64_t lone;     /* exits of calls that were not open */
};

/* A function that says no: what it is asked for counts as left out. NULL: all. */
struct costs_request {
    enum costs_by by;
    unsigned jobs; /* see calls_request */
    bool deduce;
    uint64_t least; /* ticks: shorter calls are left out */
    bool (*wants_thread)(void *context, const struct calls_thread *thread);
    bool (*wants_time)(void *context, uint64_t ticks);  /* when a call was left; when one that never was, was entered */
    void (*hole)(void *context, const pfr_error *hole); /* see calls_request */
    void *context;
};

struct call_costs {
    struct memory *memory;
    const struct costs_request *request;
    struct intern_table rows; /* struct cost_key -> number */
    struct call_cost *at;     /* by number */
    size_t room;
    struct distributions distributions; /* by number: latencies of finished calls; none of a profile file */
    uint64_t left_out;                  /* calls */
    struct calls_totals totals;
    struct cost_worker *workers;
    unsigned nr_workers;
};

void call_costs_init(struct call_costs *costs, struct memory *memory);
void call_costs_free(struct call_costs *costs);

/* See calls_read. */
pfr_status call_costs_load(struct call_costs *costs, pfr_reader *reader, const struct costs_request *request,
                           pfr_error *err);

/* The row of a key, whose bytes are all set; made with a distribution where it is new. */
pfr_status call_costs_row(struct call_costs *costs, const struct cost_key *key, uint32_t *row, pfr_error *err);

struct cost_key call_cost_key(const struct call_costs *costs, uint32_t number);

#endif

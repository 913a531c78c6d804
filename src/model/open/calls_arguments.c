/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First arguments of the calls of a trace: see calls_rows.h. Enters and exits are paired without
 * arguments, so a trace that has arguments is read again. The calls of a thread are numbered in the
 * order of their enters; this file numbers the enters in the same way. The tick of the enter must
 * match as well, because a wrong number would find the argument of another call.
 */
#include "model/open/calls_rows.h"

#include "file/read/recording.h"
#include "model/calls/xray_order.h"

#include <stdlib.h>

int call_threads_compare(const void *a, const void *b) {
    const struct call_thread *x = a, *y = b;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : (x->tid > y->tid) - (x->tid < y->tid);
}

static struct call_thread *thread_of(const struct model_calls *c, const struct xray_event *e) {
    const struct call_thread key = {.pid = e->pid, .tid = e->tid};
    return c->nr_threads ? bsearch(&key, c->threads, c->nr_threads, sizeof key, call_threads_compare) : NULL;
}

static pfr_status keep(struct memory *memory, struct call_thread *t, const struct xray_event *e, pfr_error *err) {
    void *grown = mem_grow(memory, t->arguments, t->nr_arguments, &t->arguments_room, 64, sizeof *t->arguments);
    if (!grown)
        return mem_fail(memory, err, "arguments");
    t->arguments = grown;
    t->arguments[t->nr_arguments++] = (struct call_argument){t->entered, e->tsc, e->argument};
    return PFR_OK;
}

static pfr_status read_all(struct pfr_model *m, struct xray_order *order, pfr_error *err) {
    const struct xray_event *e;
    pfr_status st;
    while ((st = xray_order_next(order, &e, err)) == PFR_OK) {
        struct call_thread *t =
            e->kind == TRACE_ENTER || e->kind == TRACE_ENTER_ARGUMENT ? thread_of(m->traced, e) : NULL;
        if (!t)
            continue;
        if (e->count)
            PFR_TRY(keep(m->memory, t, e, err));
        t->entered++;
    }
    return st < 0 ? st : PFR_OK;
}

pfr_status model_load_arguments(struct pfr_model *m, pfr_reader *trace, pfr_error *err) {
    const struct xray_order_watch watch = {.hole = NULL}; /* the pass that read the calls has reported the holes */
    const pfr_quality quality = trace->damage.quality;
    struct xray_order *order;
    PFR_TRY(pfr_rewind(trace, err));
    pfr_status st = xray_order_open(&order, trace, m->memory, &watch, err);
    if (st >= 0)
        st = read_all(m, order, err);
    xray_order_close(order);
    trace->damage.quality = quality;
    return st;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = ((const struct call_argument *)b)->number;
    return (x > y) - (x < y);
}

bool call_argument_find(const struct call_thread *t, uint64_t number, const struct call_row *row, uint64_t *value) {
    const struct call_argument *a =
        t->nr_arguments ? bsearch(&number, t->arguments, t->nr_arguments, sizeof *a, by_number) : NULL;
    if (!a || (a->tick != row->exit - row->latency && !(row->flags & PFR_CALL_BACKWARD)))
        return false;
    *value = a->value;
    return true;
}

void model_free_arguments(struct pfr_model *m, struct call_thread *t) {
    mem_free(m->memory, t->arguments, t->arguments_room, sizeof *t->arguments);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Basic logs and profile files, read by one worker in file order. Threads of a basic log are interleaved, so the open
   calls of each are kept until the end. */
#include "model/calls/calls_log.h"
#include "model/calls/calls_fast_path.h"
#include "model/calls/calls_gather.h"
#include "model/calls/calls_pair.h"
#include "model/calls/calls_totals.h"

#include "wire/any_layout.h"

#include <string.h>

#include "base/memory/sizes.h"

struct log {
    pfr_reader *reader;
    const struct calls_request *request;
    struct calls_totals *totals; /* totals of holes; the other totals are in the worker */
    const pfr_trace_point *point;
    struct calls_worker_state worker;
    struct intern_table threads; /* struct calls_thread */
    struct thread_calls *at;     /* by thread */
    size_t room;
    uint32_t *path; /* functions of the current record of a profile */
    size_t path_room;
    uint32_t now; /* current thread; INTERN_NONE: no thread */
    struct calls_thread now_is;
};

static bool is_now(const struct log *g) {
    const pfr_trace_point *p = g->point;
    const struct calls_thread *t = &g->now_is;
    return g->now != INTERN_NONE && t->tid == p->tid && t->pid == p->pid && t->has_pid == p->has_pid;
}

static pfr_status add_thread(struct log *g, pfr_error *err) {
    const size_t count = g->threads.count - 1; /* threads before this one */
    void *more = mem_grow(&g->worker.memory, g->at, count, &g->room, 16, sizeof *g->at);
    if (!more)
        return mem_fail(&g->worker.memory, err, "threads");
    g->at = more;
    g->worker.totals.threads++;
    return thread_calls_init(&g->at[count], &g->worker.memory, err);
}

/* Sets the thread of the current record, and reports it to the sink if it changed. */
static pfr_status turn(struct log *g, pfr_error *err) {
    const pfr_trace_point *p = g->point;
    if (is_now(g))
        return PFR_OK;
    memset(&g->now_is, 0, sizeof g->now_is);
    g->now_is.pid = p->pid;
    g->now_is.tid = p->tid;
    g->now_is.has_pid = p->has_pid;
    g->now_is.has_tid = true;
    const uint32_t known = g->threads.count;
    PFR_TRY(intern_put(&g->threads, &g->now_is, sizeof g->now_is, &g->now, err));
    if (g->threads.count > known)
        PFR_TRY(add_thread(g, err));
    return worker_thread(&g->worker, &g->now_is, err);
}

static pfr_status begin(struct log *g, pfr_reader *reader, const struct calls_request *request,
                        struct calls_totals *totals, pfr_error *err) {
    g->reader = reader;
    g->request = request;
    g->totals = totals;
    g->now = INTERN_NONE;
    g->point = pfr_get_trace_point(reader);
    intern_init(&g->threads, &reader->memory);
    PFR_TRY(worker_init(&g->worker, 0, 1, request, &reader->memory, err));
    g->worker.gathered.as = CALLS_SINGLY; /* threads are interleaved */
    PFR_TRY(request->sink->begin(request->context, 1, err));
    return pfr_rewind(reader, err);
}

static void end(struct log *g) {
    for (uint32_t i = 0; i < g->threads.count && i < g->room; i++)
        thread_calls_free(&g->at[i]);
    mem_free(&g->worker.memory, g->at, g->room, sizeof *g->at);
    mem_free(&g->worker.memory, g->path, g->path_room, sizeof *g->path);
    intern_free(&g->threads);
    worker_free(&g->worker);
}

static pfr_status finish(struct log *g, pfr_error *err) {
    calls_totals_add(g->totals, &g->worker.totals);
    return g->request->sink->end ? g->request->sink->end(g->request->context, &g->worker.public, err) : PFR_OK;
}

typedef pfr_status record_fn(struct log *g, const pfr_record *rec, pfr_error *err);

static pfr_status read_records(struct log *g, record_fn *on_record, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(g->reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_HOLE)
            calls_report_hole(g->request, g->totals, err);
        else
            PFR_TRY(on_record(g, &rec, err));
    return st < 0 ? st : PFR_OK;
}

/* --- Basic logs. */

static pfr_status take_run(struct log *g, pfr_error *err) {
    struct xray_call calls[CALLS_BATCH];
    size_t count;
    while ((count = xray_take_calls(g->reader, calls, sizes.calls_batch)) > 0) {
        for (size_t i = 0; i < count; i++)
            calls_note_time(&g->worker.totals, calls[i].tsc);
        PFR_TRY(pair_calls(&g->worker, &g->at[g->now], calls, count, err));
    }
    return PFR_OK;
}

static pfr_status on_basic(struct log *g, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_basic_function body;
    g->worker.totals.arguments += rec->type == PFR_TRACE_BASIC_ARGUMENT;
    if (rec->type != PFR_TRACE_BASIC_FUNCTION || pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    const struct xray_call call = {body.tsc, body.function, body.action};
    PFR_TRY(turn(g, err));
    calls_note_time(&g->worker.totals, call.tsc);
    PFR_TRY(pair_calls(&g->worker, &g->at[g->now], &call, 1, err));
    return take_run(g, err);
}

static pfr_status end_threads(struct log *g, pfr_error *err) {
    for (uint32_t i = 0; i < g->threads.count; i++) {
        const struct calls_thread thread = calls_thread_at(&g->threads, i);
        if (g->at[i].depth > 0 && i != g->now)
            PFR_TRY(worker_thread(&g->worker, &thread, err));
        g->now = g->at[i].depth > 0 ? i : g->now;
        PFR_TRY(pair_end(&g->worker, &g->at[i], err));
    }
    return gather_end(&g->worker, err);
}

/* Allocated, because struct log is too large for the stack of a small thread. */
static pfr_status read_log(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                           record_fn *on_record, pfr_error *err) {
    struct log *g = mem_zeroed(&reader->memory, 1, sizeof *g);
    if (!g)
        return mem_fail(&reader->memory, err, "calls");
    pfr_status st = begin(g, reader, request, totals, err);
    if (st >= 0)
        st = read_records(g, on_record, err);
    if (st >= 0)
        st = end_threads(g, err);
    if (st >= 0)
        st = finish(g, err);
    end(g);
    mem_free(&reader->memory, g, 1, sizeof *g);
    return st;
}

pfr_status calls_of_basic_log(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                              pfr_error *err) {
    return read_log(reader, request, totals, on_basic, err);
}

/* --- Profile files: each path once, with a time that includes callees. */

static pfr_status give_sum(struct log *g, const struct call_sum *sum, pfr_error *err) {
    return g->request->sink->sum ? g->request->sink->sum(g->request->context, &g->worker.public, sum, err) : PFR_OK;
}

static pfr_status make_path_room(struct log *g, uint64_t length, pfr_error *err) {
    if (length <= g->path_room)
        return PFR_OK;
    uint32_t *more = mem_resize(&g->worker.memory, g->path, g->path_room, (size_t)length, sizeof *more);
    if (!more)
        return mem_fail(&g->worker.memory, err, "paths");
    g->path = more;
    g->path_room = (size_t)length;
    return PFR_OK;
}

/* The functions of the path are stored leaf first. */
static pfr_status find_path(struct log *g, const pfr_items *path, uint32_t *node, pfr_error *err) {
    pfr_items_iter it = pfr_items_begin(path);
    struct pfr_rec_profile_function function;
    size_t count = 0;
    PFR_TRY(make_path_room(g, path->count, err));
    while (pfr_items_next(&it, &function, sizeof function, NULL) == PFR_OK)
        g->path[count++] = function.id;
    *node = PATH_ROOT;
    while (count-- > 0)
        PFR_TRY(worker_child(&g->worker, *node, g->path[count], node, err));
    return PFR_OK;
}

/* The path's time is subtracted from its caller's self time. */
static pfr_status on_path(struct log *g, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_profile_path path;
    uint32_t node;
    if (rec->type != PFR_TRACE_PROFILE_PATH || pfr_decode(rec, &path, sizeof path, NULL) != PFR_OK)
        return PFR_OK;
    PFR_TRY(turn(g, err));
    PFR_TRY(find_path(g, &path.path, &node, err));
    if (node == PATH_ROOT)
        return PFR_OK;
    const struct call_sum own = {path.count, path.time, (int64_t)path.time, node};
    const struct call_sum callers = {0, 0, (int64_t)(0 - path.time), g->worker.paths.at[node].parent};
    g->worker.totals.calls += path.count;
    PFR_TRY(give_sum(g, &own, err));
    return callers.node == PATH_ROOT ? PFR_OK : give_sum(g, &callers, err);
}

pfr_status calls_of_profile(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                            pfr_error *err) {
    totals->sums = true;
    return read_log(reader, request, totals, on_path, err);
}

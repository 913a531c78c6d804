/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_CALL_LOG_H
#define PFR_TESTS_CALL_LOG_H
/*
 * Builds traces from short texts, and returns the result of calls_read as text: a line per finished call, unfinished
 * call and unmatched exit.
 *
 *     put_steps(&b, "+1 +2 -2 -1");  enters and exits 10 ticks apart; ~2: a tail exit; !2: an invalid action
 *     "7 call 1;2 10 10\n"           thread, path, latency, self; then "tail", "back", "deduced" if they apply
 *     "7 open 1;2\n"                 path of an unfinished call
 *     "7 lone 2 at 1\n"              unmatched exit of function 2, and the path of the open calls
 *
 * "*1 =35" enters with the first argument 35. Lines of a thread are in order; threads are ordered by number.
 */
#include "../file/xray_files.h"
#include "model/calls/calls.h"

#include <inttypes.h>
#include <stdlib.h>

#define STEP_TICKS 10u

/* Calls per buffer. */
static inline void put_steps(struct builder *b, const char *text) {
    static const char signs[] = "+-~*!=";
    char *end;
    for (const char *at = text; *at; at = end + (*end == ' ')) {
        const unsigned action = (unsigned)(strchr(signs, *at) - signs);
        const uint32_t function = (uint32_t)strtoul(at + 1, &end, 10);
        if (action == 5)
            put_metadata(b, 6, function, 8, 0);
        else
            put_call(b, action == 4 ? 7 : action, function, STEP_TICKS);
    }
}

static inline void put_buffer(struct builder *b, uint32_t tid, uint64_t tsc, const char *text) {
    const size_t begin = b->length;
    put_extents(b, 0);
    put_preamble(b, tid, tsc);
    put_steps(b, text);
    set_number(b, b->bytes + begin + 1, b->length - begin - 16, 8);
}

struct line {
    int32_t pid, tid;
    unsigned worker;
    size_t order;
    char *text;
};

struct call_log {
    struct line *lines;
    size_t count, room;
    struct calls_thread of_worker[64];
    unsigned begins, ends, workers, holes;
    uint64_t last_hole;
    bool out_of_order; /* holes */
    struct calls_totals totals;
    unsigned lock;
    uint64_t fail_at; /* the sink fails at its n-th line; 0: never */
    unsigned reach;   /* as in the request */
    bool deduce;
};

static inline void call_log_clear(struct call_log *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->lines[i].text);
    t->count = 0;
}

/* Returns the new length. Does not use snprintf, which took half the time of these tests on an emulated machine. */
static inline size_t append_function(char *to, size_t used, uint32_t function) {
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + function % 10);
    while ((function /= 10) > 0);
    if (used > 0)
        to[used++] = ';';
    while (count > 0)
        to[used++] = digits[--count];
    to[used] = '\0';
    return used;
}

/* `room` is at least 170: a path ends after its 150th byte. */
static inline size_t write_path(const struct calls_worker *worker, uint32_t node, char *to, size_t room) {
    if (node == PATH_ROOT)
        return 0;
    if (node == PATH_LIMIT)
        return (size_t)snprintf(to, room, "[limit]");
    const struct call_path *path = &worker->paths->at[node];
    assert_true(path->parent < node);
    size_t used = write_path(worker, path->parent, to, room);
    if (used > 150)
        return used;
    return append_function(to, used, path->function);
}

static inline pfr_status log_line(struct call_log *t, const struct calls_worker *worker, const char *what,
                                  uint32_t node, const char *more, pfr_error *err) {
    char path[200] = "", text[300];
    const struct calls_thread *who = &t->of_worker[worker->number];
    write_path(worker, node, path, sizeof path);
    snprintf(text, sizeof text, "%d %s %s%s\n", who->tid, what, path, more);
    while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
        ;
    if (t->count == t->room) {
        t->room = t->room * 2 + 64;
        t->lines = realloc(t->lines, t->room * sizeof *t->lines);
        assert_non_null(t->lines);
    }
    t->lines[t->count] = (struct line){who->pid, who->tid, worker->number, t->count, strdup(text)};
    const bool fails = ++t->count == t->fail_at;
    __atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
    if (fails && err)
        *err = (pfr_error){.status = PFR_ERR_IO, .text = "the sink's own"};
    return fails ? PFR_ERR_IO : PFR_OK;
}

static inline pfr_status log_begin(void *context, unsigned workers, pfr_error *err) {
    struct call_log *t = context;
    (void)err;
    assert_true(workers <= sizeof t->of_worker / sizeof *t->of_worker);
    call_log_clear(t);
    t->begins++;
    t->workers = workers;
    return PFR_OK;
}

static inline pfr_status log_thread(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                                    pfr_error *err) {
    struct call_log *t = context;
    (void)err;
    assert_true(worker->number < t->workers);
    t->of_worker[worker->number] = *thread;
    return PFR_OK;
}

static inline pfr_status log_calls(void *context, const struct calls_worker *worker, const struct call *calls,
                                   size_t count, pfr_error *err) {
    char text[80];
    for (size_t i = 0; i < count; i++) {
        const struct call *c = &calls[i];
        snprintf(text, sizeof text, " %" PRIu64 " %" PRId64 "%s%s%s", c->latency, c->self,
                 c->flags & CALL_TAIL ? " tail" : "", c->flags & CALL_BACKWARD ? " back" : "",
                 c->flags & CALL_DEDUCED ? " deduced" : "");
        const pfr_status st = log_line(context, worker, "call", c->node, text, err);
        if (st < 0)
            return st;
    }
    return PFR_OK;
}

static inline pfr_status log_sum(void *context, const struct calls_worker *worker, const struct call_sum *sum,
                                 pfr_error *err) {
    char text[80];
    snprintf(text, sizeof text, " %" PRIu64 " %" PRIu64 " %" PRId64, sum->count, sum->latency, sum->self);
    return log_line(context, worker, "sum", sum->node, text, err);
}

static inline pfr_status log_open_call(void *context, const struct calls_worker *worker, uint32_t node, uint64_t enter,
                                       pfr_error *err) {
    (void)enter;
    return log_line(context, worker, "open", node, "", err);
}

static inline pfr_status log_unmatched_exit(void *context, const struct calls_worker *worker, uint32_t node,
                                            uint32_t function, uint64_t exit, pfr_error *err) {
    char text[40];
    (void)exit;
    snprintf(text, sizeof text, "lone %" PRIu32 " at", function);
    return log_line(context, worker, text, node, "", err);
}

static inline pfr_status log_end(void *context, const struct calls_worker *worker, pfr_error *err) {
    struct call_log *t = context;
    (void)err;
    assert_int_equal(worker->number, t->ends);
    t->ends++;
    return PFR_OK;
}

static inline void log_hole(void *context, const pfr_error *hole) {
    struct call_log *t = context;
    assert_int_equal(hole->status, PFR_HOLE);
    t->out_of_order = t->out_of_order || hole->offset < t->last_hole;
    t->last_hole = hole->offset;
    t->holes++;
}

static inline int by_thread(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Returns the status of the reading, and sorts the lines. */
static inline pfr_status read_call_log(struct call_log *t, pfr_reader *reader, unsigned jobs, pfr_error *err) {
    static const struct calls_sink sink = {.begin = log_begin,
                                           .thread = log_thread,
                                           .calls = log_calls,
                                           .sum = log_sum,
                                           .open = log_open_call,
                                           .lone = log_unmatched_exit,
                                           .end = log_end};
    const struct calls_request request = {
        .sink = &sink, .reach = t->reach, .jobs = jobs, .deduce = t->deduce, .hole = log_hole, .context = t};
    *t = (struct call_log){.fail_at = t->fail_at,
                           .reach = t->reach,
                           .deduce = t->deduce,
                           .lines = t->lines,
                           .count = t->count,
                           .room = t->room};
    const pfr_status st = calls_read(reader, &request, &t->totals, err);
    if (t->count)
        qsort(t->lines, t->count, sizeof *t->lines, by_thread);
    if (st >= 0)
        assert_int_equal(t->ends, t->workers);
    assert_false(t->out_of_order);
    return st;
}

static inline char *call_log_text(const struct call_log *t) {
    size_t length = 1;
    for (size_t i = 0; i < t->count; i++)
        length += strlen(t->lines[i].text);
    char *text = calloc(1, length), *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < t->count; i++)
        at = stpcpy(at, t->lines[i].text);
    return text;
}

static inline void call_log_free(struct call_log *t) {
    call_log_clear(t);
    free(t->lines);
    t->lines = NULL;
}

#endif

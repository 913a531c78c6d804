/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_RANDOM_TRACES_H
#define PFR_TESTS_RANDOM_TRACES_H
/* Random calls of several threads, split into buffers in any order or in time order, and their sums by path. */
#include "call_log.h"

#include <time.h>

#define THREADS 4u
#define THREADS_MOST 8u
#define LONG_STEPS 30000u /* steps of one thread; enough that other workers have to decode ahead for it */

struct step {
    uint64_t tsc;
    uint32_t function;
    unsigned action; /* 0 to 3 */
};

static inline uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* --- Traces. */

/* Mostly calls and returns; sometimes an exit is wrong or missing, sometimes the stack is deep. */
static inline void make_thread(struct step *steps, unsigned count, uint64_t *seed) {
    static uint32_t open[LONG_STEPS];
    unsigned depth = 0;
    const unsigned kinds = 1 + (unsigned)next_random(seed) % 30, wrong = (unsigned)next_random(seed) % 20;
    const unsigned up = 40 + (unsigned)next_random(seed) % 30;
    uint64_t tsc = 1000000 + next_random(seed) % 1000;
    for (unsigned i = 0; i < count; i++) {
        const bool enters = depth == 0 || next_random(seed) % 100 < up, odd = next_random(seed) % 100 < wrong;
        tsc += next_random(seed) % 50;
        if (enters && !(odd && depth == 0)) {
            steps[i] = (struct step){tsc, 1 + (uint32_t)(next_random(seed) % kinds), next_random(seed) % 8 ? 0 : 3};
            open[depth++] = steps[i].function;
            continue;
        }
        if (odd && depth > 1)
            depth -= 1 + (unsigned)next_random(seed) % (depth - 1); /* as after an exception */
        const uint32_t function = odd && next_random(seed) % 2 ? 1 + (uint32_t)(next_random(seed) % 60)
                                  : depth                      ? open[depth - 1]
                                                               : 61;
        steps[i] = (struct step){tsc, function, next_random(seed) % 8 ? 1 : 2};
        depth -= depth > 0;
    }
}

/* The size in the extents of the buffer at this place. */
static inline uint64_t load_extents(const struct builder *b, size_t at) {
    uint64_t length = 0;
    for (unsigned i = 0; i < 8; i++)
        length |= (uint64_t)(uint8_t)b->bytes[at + 1 + i] << 8 * i;
    return length;
}

struct piece {
    uint32_t thread;
    unsigned begin, end;
};

static inline void put_piece(struct builder *b, const struct piece *p, const struct step *steps) {
    const size_t begin = b->length;
    uint64_t tsc = steps[p->begin].tsc;
    put_extents(b, 0);
    put_preamble(b, 10 + p->thread, tsc);
    for (unsigned i = p->begin; i < p->end; i++) {
        if (i % 97 == 0)
            put_metadata(b, 2, i % 8, 2, tsc); /* another CPU */
        put_call(b, steps[i].action, steps[i].function, (uint32_t)(steps[i].tsc - tsc));
        tsc = steps[i].tsc;
    }
    set_number(b, b->bytes + begin + 1, b->length - begin - 16, 8);
}

/* Each thread is split into pieces in random order. Pieces with equal times would be ordered by position, so all have
 * different times. */
static inline void put_threads(struct builder *b, struct step (*steps)[LONG_STEPS], uint32_t threads, unsigned length,
                               uint64_t *seed) {
    static struct piece pieces[LONG_STEPS];
    unsigned count = 0;
    for (uint32_t t = 0; t < threads; t++)
        for (unsigned at = 0, end; at < length; at = end) {
            end = at + 1 + (unsigned)next_random(seed) % 700;
            while (end < length && steps[t][end].tsc == steps[t][at].tsc)
                end++;
            end = end < length ? end : length;
            pieces[count++] = (struct piece){t, at, end};
        }
    put_xray_header(b, 5, 4096);
    while (count > 0) {
        const unsigned i = (unsigned)next_random(seed) % count;
        put_piece(b, &pieces[i], steps[pieces[i].thread]);
        pieces[i] = pieces[--count];
    }
}

/* The same in a recorder's order: buffers are in the order of their start. */
static inline void put_threads_in_order(struct builder *b, struct step (*steps)[LONG_STEPS], uint32_t threads,
                                        unsigned length, unsigned most, uint64_t *seed) {
    unsigned at[THREADS_MOST] = {0};
    put_xray_header(b, 5, 4096);
    for (;;) {
        uint32_t next = threads;
        for (uint32_t t = 0; t < threads; t++)
            if (at[t] < length && (next == threads || steps[t][at[t]].tsc < steps[next][at[next]].tsc))
                next = t;
        if (next == threads)
            return;
        const unsigned left = length - at[next], wanted = most - (unsigned)(next_random(seed) % 8);
        const struct piece piece = {next, at[next], at[next] + (wanted < left ? wanted : left)};
        put_piece(b, &piece, steps[next]);
        at[next] = piece.end;
    }
}

/* --- Calls by path. */

struct total {
    char path[200];
    uint64_t count, latency, self;
    int32_t tid;
};

struct totals_of_worker {
    struct total *at;
    size_t count, room;
    int32_t tid;
};

struct totaller {
    struct totals_of_worker workers[4];
    uint64_t singly, gathered; /* numbers of calls, by the way in which they were passed on */
    uint64_t open, lone;
    unsigned nr_workers, begins;
    uint32_t workers_with_thread; /* bit mask */
    bool others_gave_sums;        /* workers other than the first */
    bool paths_began_later;       /* later than the thread, so they lack the calls that were open then */
};

static inline pfr_status total_begin(void *context, unsigned workers, pfr_error *err) {
    struct totaller *all = context;
    (void)err;
    assert_true(workers <= 4);
    for (unsigned i = 0; i < 4; i++)
        free(all->workers[i].at);
    *all = (struct totaller){.nr_workers = workers, .begins = all->begins + 1};
    return PFR_OK;
}

/* Threads are interleaved. So that every worker gets some threads, no worker may take all; a worker that sleeps here
 * makes the others wait for it. */
static inline pfr_status total_mixed_thread(void *context, const struct calls_worker *worker,
                                            const struct calls_thread *thread, pfr_error *err) {
    const struct timespec moment = {.tv_nsec = 300000};
    (void)thread, (void)err;
    __atomic_fetch_or(&((struct totaller *)context)->workers_with_thread, 1u << worker->number, __ATOMIC_RELAXED);
    nanosleep(&moment, NULL);
    return PFR_OK;
}

static inline pfr_status total_thread(void *context, const struct calls_worker *worker,
                                      const struct calls_thread *thread, pfr_error *err) {
    (void)err;
    ((struct totaller *)context)->workers[worker->number].tid = thread->tid;
    __atomic_fetch_or(&((struct totaller *)context)->workers_with_thread, 1u << worker->number, __ATOMIC_RELAXED);
    return PFR_OK;
}

static inline struct total *new_total(struct totaller *all, const struct calls_worker *worker, uint32_t node) {
    struct totals_of_worker *of = &all->workers[worker->number];
    if (of->count == of->room) {
        of->room = of->room ? of->room * 2 : 256;
        of->at = realloc(of->at, of->room * sizeof *of->at);
        assert_non_null(of->at);
    }
    struct total *t = &of->at[of->count++];
    memset(t, 0, sizeof *t);
    t->tid = of->tid;
    write_path(worker, node, t->path, sizeof t->path);
    return t;
}

static inline pfr_status total_calls(void *context, const struct calls_worker *worker, const struct call *calls,
                                     size_t count, pfr_error *err) {
    struct totaller *all = context;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        struct total *t = new_total(all, worker, calls[i].node);
        t->count = 1;
        t->latency = calls[i].latency;
        t->self = (uint64_t)calls[i].self;
    }
    __atomic_fetch_add(&all->singly, count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static inline pfr_status total_sum(void *context, const struct calls_worker *worker, const struct call_sum *sum,
                                   pfr_error *err) {
    struct totaller *all = context;
    struct total *t = new_total(all, worker, sum->node);
    (void)err;
    t->count = sum->count;
    t->self = (uint64_t)sum->self;
    assert_true(__atomic_load_n(&all->workers_with_thread, __ATOMIC_RELAXED) >> worker->number & 1);
    if (worker->number > 0)
        __atomic_store_n(&all->others_gave_sums, true, __ATOMIC_RELAXED);
    __atomic_fetch_add(&all->gathered, sum->count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static inline pfr_status total_many(void *context, const struct calls_worker *worker, const struct call_many *many,
                                    pfr_error *err) {
    struct totaller *all = context;
    struct total *t = new_total(all, worker, many->node);
    (void)err;
    for (uint32_t i = 0; i < many->count; i++)
        t->latency += many->latencies[i];
    assert_int_equal(t->latency, many->latency);
    t->count = many->count;
    t->self = (uint64_t)many->self;
    __atomic_fetch_add(&all->gathered, many->count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static inline pfr_status total_end(void *context, const struct calls_worker *worker, pfr_error *err) {
    struct totaller *all = context;
    (void)err;
    for (uint32_t i = PATH_LIMIT + 1; i < worker->paths->count; i++)
        all->paths_began_later = all->paths_began_later || worker->paths->at[i].function >> 28;
    return PFR_OK;
}

static inline int by_path(const void *a, const void *b) {
    const struct total *x = a, *y = b;
    return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : strcmp(x->path, y->path);
}

/* Prints a line for each path of each thread. */
static inline char *totals_text(struct totaller *all, bool latencies) {
    struct totals_of_worker one = {.at = NULL};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (unsigned i = 0; i < 4; i++) {
        one.at = realloc(one.at, (one.count + all->workers[i].count + 1) * sizeof *one.at);
        assert_non_null(one.at);
        if (all->workers[i].count)
            memcpy(one.at + one.count, all->workers[i].at, all->workers[i].count * sizeof *one.at);
        one.count += all->workers[i].count;
        free(all->workers[i].at);
    }
    qsort(one.at, one.count, sizeof *one.at, by_path);
    for (size_t i = 0; i < one.count; i++) {
        if (i + 1 < one.count && by_path(&one.at[i], &one.at[i + 1]) == 0) {
            one.at[i + 1].count += one.at[i].count;
            one.at[i + 1].latency += one.at[i].latency;
            one.at[i + 1].self += one.at[i].self;
            continue;
        }
        fprintf(out, "%d %s %" PRIu64 " %" PRIu64 " %" PRId64 "\n", one.at[i].tid, one.at[i].path, one.at[i].count,
                latencies ? one.at[i].latency : 0, (int64_t)one.at[i].self);
    }
    fclose(out);
    free(one.at);
    return text;
}

static inline char *totals_of(const struct builder *b, const struct calls_request *how, bool latencies,
                              struct totaller *all) {
    const struct calls_sink sink = {.begin = total_begin,
                                    .thread = how->mixed ? total_mixed_thread : total_thread,
                                    .calls = total_calls,
                                    .sum = total_sum,
                                    .many = total_many,
                                    .end = total_end};
    struct calls_request request = *how;
    struct calls_totals totals;
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, NULL, &err);
    assert_non_null(reader);
    *all = (struct totaller){.singly = 0};
    request.sink = &sink;
    request.context = all;
    ASSERT_OK(calls_read(reader, &request, &totals, &err), err);
    assert_int_equal(totals.calls, all->singly + all->gathered);
    all->open = totals.open;
    all->lone = totals.lone;
    pfr_close(reader);
    return totals_text(all, latencies);
}

/* Result of passing on calls one by one; if paths are requested completely, each worker gets complete threads. */
struct apart {
    char *singly;
    struct totaller all;
};

static inline struct apart read_calls_apart(const struct builder *b, unsigned reach, bool deduce) {
    const struct calls_request how = {.reach = reach, .jobs = 2, .mixed = true, .deduce = deduce};
    struct apart apart;
    apart.singly = totals_of(b, &how, false, &apart.all);
    return apart;
}

/* Reads sums of paths with several workers, and expects the same as in `apart`. */
static inline struct totaller expect_summed(const struct builder *b, unsigned jobs, unsigned reach, bool deduce,
                                            const struct apart *apart) {
    struct totaller all;
    const struct calls_request how = {
        .gather = CALLS_SUMMED, .reach = reach, .jobs = jobs, .mixed = true, .deduce = deduce};
    char *summed = totals_of(b, &how, false, &all);
    assert_int_equal(all.singly, 0);
    assert_int_equal(all.gathered, apart->all.singly);
    assert_int_equal(all.open, apart->all.open);
    assert_int_equal(all.lone, apart->all.lone);
    assert_string_equal(summed, apart->singly);
    free(summed);
    return all;
}

#endif

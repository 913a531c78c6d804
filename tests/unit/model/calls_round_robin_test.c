/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers read the buffers of a trace round-robin: threads move from worker to worker, whatever calls are open, and the
 * sums do not depend on the number of workers.
 */
#include "random_traces.h"

#include "../base/failing_alloc.h"
#include "model/calls/calls_round_robin.h"

#define TRACES 4u
#define SHORT_STEPS 8000u

/* The first worker returned everything, with paths that begin where threads begin, and nothing was read twice. */
static bool was_in_turns(const struct totaller *all) {
    return all->nr_workers > 1 && all->begins == 1 && !all->others_gave_sums && !all->paths_began_later;
}

/* Whether two workers read the trace round-robin; checks the sums with any number of workers. */
static bool sum_in_turns(const struct builder *b, bool deduce) {
    const struct apart apart = read_calls_apart(b, 0, deduce);
    bool in_turns = false;
    for (unsigned jobs = 1; jobs <= SOME_OF(4u); jobs++) {
        const struct totaller all = expect_summed(b, jobs, 0, deduce, &apart);
        in_turns = in_turns || (jobs == 2 && was_in_turns(&all));
    }
    free(apart.singly);
    return in_turns;
}

static struct step steps[THREADS_MOST][LONG_STEPS];

static struct builder make_trace(uint64_t number, uint32_t threads, unsigned length, unsigned most) {
    struct builder b = {0};
    uint64_t seed = number * 77;
    for (uint32_t t = 0; t < threads; t++)
        make_thread(steps[t], length, &seed);
    put_threads_in_order(&b, steps, threads, length, most, &seed);
    return b;
}

/* The traces have calls that never end or never began, tail exits, and events between the calls. */
TEST(threads_that_move_between_workers_have_the_same_sums) {
    unsigned in_turns = 0;
    for (uint64_t number = 1; number <= (uint64_t)FEW_OF(TRACES); number++) {
        struct builder b = make_trace(number, THREADS_MOST, SHORT_STEPS, number % 3 ? 500 : 40);
        in_turns += sum_in_turns(&b, number % 4 < 2);
        free(b.bytes);
    }
    assert_true(in_turns > 0);
}

TEST(few_threads_are_read_in_chunks) {
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct builder b = make_trace(3, threads, LONG_STEPS, 300);
        assert_false(sum_in_turns(&b, false));
        free(b.bytes);
    }
}

/* --- Buffers one by one. */

#define BUFFERS 400u

struct place {
    uint32_t thread, number;
};

/* Buffers of four threads, in the given order. Each continues where the previous buffer of the thread ended: it enters
   `deep` functions, which stay open for one buffer, and leaves those of the previous buffer. */
static void put_place(struct builder *b, const struct place *p, uint32_t deep, const char *more) {
    const size_t begin = b->length;
    put_extents(b, 0);
    put_preamble(b, 10 + p->thread, 1000 + 100000 * (uint64_t)p->number);
    for (uint32_t i = deep; p->number > 0 && i > 0; i--)
        put_call(b, i % 5 ? 1 : 2, 100 * ((p->number - 1) % 3) + i, 3);
    for (uint32_t i = 1; i <= deep; i++)
        put_call(b, 0, 100 * (p->number % 3) + i, 2);
    for (uint32_t i = 0; i < 60; i++) {
        put_call(b, 0, 7 + i % 9, 5);
        put_call(b, 1, 7 + i % 9, 5);
    }
    put_steps(b, more);
    set_number(b, b->bytes + begin + 1, b->length - begin - 16, 8);
}

static struct place place_of(unsigned i) {
    return (struct place){i % 4, i / 4};
}

static struct builder begin_buffers(void) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    return b;
}

/* Writes all buffers or, if `lost` is not 0, leaves out one of every `lost` buffers. `deep` is as in put_place. */
static struct builder put_buffers(uint32_t deep, unsigned lost) {
    struct builder b = begin_buffers();
    for (unsigned i = 0; i < BUFFERS; i++) {
        const struct place p = place_of(i);
        if (lost == 0 || i % lost != 3)
            put_place(&b, &p, deep, "");
    }
    return b;
}

TEST(open_calls_move_with_their_thread) {
    for (uint32_t deep = 20; deep <= SOME_OF(400u); deep = deep * 20) {
        struct builder b = put_buffers(deep, 0);
        assert_true(sum_in_turns(&b, false));
        free(b.bytes);
    }
}

TEST(lost_buffers_leave_unmatched_exits_and_open_calls) {
    for (unsigned lost = 5; lost <= 21; lost += 8) {
        struct builder b = put_buffers(30, lost);
        assert_true(sum_in_turns(&b, lost == 13));
        free(b.bytes);
    }
}

/* Each thread enters functions until thousands are open, and then makes many other calls. */
TEST(deep_open_calls_move_a_bounded_number_of_times) {
    struct builder b = begin_buffers();
    for (unsigned i = 0; i < 200 + (unsigned)FEW_OF(2800); i++) {
        const struct place p = place_of(i);
        const size_t begin = b.length;
        put_extents(&b, 0);
        put_preamble(&b, 10 + p.thread, 1000 + 100000 * (uint64_t)p.number);
        for (uint32_t k = 0; k < 160 && i < 200; k++)
            put_call(&b, 0, 1 + k % 2, 1);
        for (uint32_t k = 0; k < 40 && i >= 200; k++)
            put_call(&b, k % 2, 3, 1);
        set_number(&b, b.bytes + begin + 1, b.length - begin - 16, 8);
    }
    sum_in_turns(&b, false);
    free(b.bytes);
}

TEST(a_buffer_that_is_older_than_the_one_before_has_all_read_with_an_index) {
    struct builder b = begin_buffers();
    for (unsigned i = 0; i < BUFFERS; i++) {
        const unsigned late = BUFFERS - 9;
        const struct place p = place_of(i == late ? i + 4 : i == late + 4 ? late : i);
        put_place(&b, &p, 20, "");
    }
    assert_false(sum_in_turns(&b, false));
    free(b.bytes);
}

/* --- Failures. */

TEST(a_hole_in_the_middle_restarts_the_walk) {
    struct builder b = begin_buffers();
    for (unsigned i = 0; i < BUFFERS; i++) {
        const struct place p = place_of(i);
        put_place(&b, &p, 20, i == BUFFERS / 2 + 1 ? "+1 !1 -1" : "");
    }
    const struct apart apart = read_calls_apart(&b, 0, false);
    for (unsigned jobs = 1; jobs <= 3; jobs++)
        assert_int_equal(expect_summed(&b, jobs, 0, false, &apart).begins, 2);
    free(apart.singly);
    free(b.bytes);
}

struct read_how {
    const pfr_alloc *alloc;
    uint64_t memory;
    unsigned jobs;
};

static pfr_status read_with(const struct builder *b, const struct read_how *how, struct calls_totals *totals,
                            unsigned *begins) {
    static const struct calls_sink sink = {.begin = total_begin, .thread = total_mixed_thread, .sum = total_sum};
    const pfr_limits limits = {.size = sizeof limits, .memory = how->memory};
    const pfr_open_options options = {.size = sizeof options, .alloc = how->alloc, .limits = &limits};
    struct totaller all = {.singly = 0};
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, &options, &err);
    const struct calls_request request = {
        .sink = &sink, .gather = CALLS_SUMMED, .jobs = how->jobs, .mixed = true, .context = &all};
    const pfr_status st = reader ? calls_read(reader, &request, totals, &err) : err.status;
    pfr_close(reader);
    free(totals_text(&all, false));
    *begins = all.begins;
    return st;
}

TEST(every_allocation_of_round_robin_workers_fails_once) {
    struct builder b = put_buffers(70, 0);
    struct failing_alloc failing = {.has_failed = true};
    struct calls_totals totals;
    unsigned begins;
    for (long n = 1; failing.has_failed; n++) {
        failing_alloc_begin(&failing, n);
        const pfr_status st = read_with(&b, &(struct read_how){&failing.alloc, 0, 2}, &totals, &begins);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        assert_int_equal(failing.blocks, 0);
    }
    assert_true(failing.requests > 30);
    free(b.bytes);
}

/* Each buffer has different paths. */
TEST(where_memory_has_no_room_for_all_paths_calls_are_counted_still) {
    struct builder b = begin_buffers();
    struct calls_totals one, all;
    unsigned begins;
    for (unsigned i = 0; i < BUFFERS; i++) {
        const struct place p = place_of(i);
        const size_t begin = b.length;
        put_extents(&b, 0);
        put_preamble(&b, 10 + p.thread, 1000 + 100000 * (uint64_t)p.number);
        for (uint32_t k = 0; k < 200; k++) {
            put_call(&b, 0, i * 200 + k + 1, 1);
            put_call(&b, 1, i * 200 + k + 1, 1);
        }
        set_number(&b, b.bytes + begin + 1, b.length - begin - 16, 8);
    }
    assert_int_equal(read_with(&b, &(struct read_how){NULL, 6 << 20, 1}, &one, &begins), PFR_OK);
    assert_int_equal(read_with(&b, &(struct read_how){NULL, 6 << 20, 2}, &all, &begins), PFR_OK);
    assert_int_equal(begins, 2); /* first round-robin, then thread by thread */
    assert_true(one.limited > 0 && all.limited > 0);
    assert_int_equal(one.calls, BUFFERS * 200);
    assert_int_equal(all.calls, BUFFERS * 200);
    assert_int_equal(all.threads, 4);
    free(b.bytes);
}

/* --- When round-robin scheduling is used. */

static struct calls_met meet_evenly(unsigned threads, unsigned each) {
    struct calls_met met = {.threads = threads, .buffers = threads * each, .places = threads * each / 4};
    for (unsigned i = 0; i < threads; i++) {
        met.at[i].tid = (int32_t)i;
        met.at[i].count = each;
    }
    return met;
}

TEST(round_robin_is_used_for_more_threads_than_workers) {
    struct calls_met met = meet_evenly(4, 16);
    assert_true(calls_turns_wanted(&met, 2));
    assert_true(calls_turns_wanted(&met, 3));
    assert_false(calls_turns_wanted(&met, 4));
    met.at[2].count = 24;
    assert_true(calls_turns_wanted(&met, 2));
    met.at[2].count = 25;
    assert_false(calls_turns_wanted(&met, 2));
    met = meet_evenly(4, 16);
    met.alone = 4;
    assert_true(calls_turns_wanted(&met, 2));
    met.alone = 5; /* places with buffers of only one thread */
    assert_false(calls_turns_wanted(&met, 2));
    met = (struct calls_met){.threads = 0};
    assert_false(calls_turns_wanted(&met, 2));
}

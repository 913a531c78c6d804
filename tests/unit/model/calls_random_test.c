/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of several threads, split into buffers in any order, are compared with a second, slow implementation
 * of the rules that has no files, trees or batches.
 */
#include "random_traces.h"

#define STEPS 3000u
#define TRACES 40u
#define LONG_TRACES 4u
#define PATH_ROOM 220u

struct expected_text {
    char *text;
    size_t length, room;
};

__attribute__((format(printf, 2, 3))) static void say(struct expected_text *to, const char *format, ...) {
    va_list values;
    if (to->room - to->length < 512) {
        to->room = to->room * 2 + 4096;
        to->text = realloc(to->text, to->room);
        assert_non_null(to->text);
    }
    va_start(values, format);
    to->length += (size_t)vsnprintf(to->text + to->length, to->room - to->length, format, values);
    va_end(values);
}

/* --- The second implementation: a list of open calls, searched from its end. */

struct slow_call {
    struct step enter;
    uint64_t callees;
};

struct slow_stack {
    struct slow_call at[LONG_STEPS];
    unsigned depth;
};

static const char *slow_path(const struct slow_stack *s, unsigned depth, char *to) {
    size_t used = 0;
    to[0] = '\0';
    for (unsigned i = 0; i < depth && used <= 150; i++)
        used += (size_t)snprintf(to + used, PATH_ROOM - used, "%s%u", used ? ";" : "", s->at[i].enter.function);
    return to;
}

static void slow_open(struct slow_stack *s, uint32_t tid, struct expected_text *to) {
    char path[PATH_ROOM];
    say(to, "%u open %s\n", tid, slow_path(s, s->depth, path));
    const uint64_t callees = s->at[--s->depth].callees;
    if (s->depth)
        s->at[s->depth - 1].callees += callees;
}

static void slow_exit(struct slow_stack *s, uint32_t tid, const struct step *exit, struct expected_text *opens,
                      struct expected_text *calls) {
    char path[PATH_ROOM];
    unsigned at = s->depth;
    while (at > 0 && s->at[at - 1].enter.function != exit->function)
        at--;
    if (at == 0) {
        say(opens, "%u lone %u at %s\n", tid, exit->function, slow_path(s, s->depth, path));
        return;
    }
    while (s->depth > at)
        slow_open(s, tid, opens);
    const struct slow_call *call = &s->at[--s->depth];
    const uint64_t latency = exit->tsc - call->enter.tsc;
    say(calls, "%u call %s %" PRIu64 " %" PRIu64 "%s\n", tid, slow_path(s, at, path), latency, latency - call->callees,
        exit->action == 2 ? " tail" : "");
    if (s->depth)
        s->at[s->depth - 1].callees += latency;
}

/* Unfinished and unmatched calls first, then finished ones: batches do not keep the order between these. */
static void slow_thread(uint32_t tid, const struct step *steps, unsigned count, struct expected_text *opens,
                        struct expected_text *calls) {
    struct slow_stack *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (unsigned i = 0; i < count; i++)
        if (steps[i].action == 0 || steps[i].action == 3)
            s->at[s->depth++] = (struct slow_call){.enter = steps[i]};
        else
            slow_exit(s, tid, &steps[i], opens, calls);
    while (s->depth)
        slow_open(s, tid, opens);
    free(s);
}

/* The lines of one kind, thread by thread. */
static void expect_lines(const struct call_log *t, bool calls, const struct expected_text *expected) {
    size_t at = 0;
    for (size_t i = 0; i < t->count; i++) {
        const char *text = t->lines[i].text;
        if ((strstr(text, " call ") != NULL) != calls)
            continue;
        const size_t length = strlen(text);
        if (at + length > expected->length || memcmp(expected->text + at, text, length) != 0)
            fail_msg("%snot\n%.300s", text, at < expected->length ? expected->text + at : "the end");
        at += length;
    }
    assert_int_equal(at, expected->length);
}

static void check_trace(uint64_t seed, uint32_t threads, unsigned length) {
    static struct step steps[THREADS][LONG_STEPS];
    struct expected_text opens = {0}, calls = {0};
    struct builder b = {0};
    for (uint32_t t = 0; t < threads; t++) {
        make_thread(steps[t], length, &seed);
        slow_thread(10 + t, steps[t], length, &opens, &calls);
    }
    put_threads(&b, steps, threads, length, &seed);
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        pfr_error err = {.offset = 0};
        struct call_log t = {.fail_at = 0};
        pfr_reader *reader = pfr_open_bytes(b.bytes, b.length, NULL, &err);
        assert_non_null(reader);
        ASSERT_OK(read_call_log(&t, reader, jobs, &err), err);
        assert_int_equal(t.begins, 1);
        assert_int_equal(t.totals.threads, threads);
        expect_lines(&t, true, &calls);
        expect_lines(&t, false, &opens);
        call_log_free(&t);
        pfr_close(reader);
    }
    free(b.bytes);
    free(opens.text);
    free(calls.text);
}

TEST(random_calls_are_paired_as_by_the_reference) {
    for (uint64_t seed = 1; seed <= (uint64_t)FEW_OF(TRACES); seed++)
        check_trace(seed, THREADS, STEPS);
}

TEST(a_thread_with_prefetched_calls_is_paired_as_by_the_reference) {
    for (uint64_t seed = 1; seed <= SOME_OF(LONG_TRACES); seed++)
        check_trace(seed, 1, LONG_STEPS);
}

static void expect_gathered(const struct builder *b, struct calls_request how) {
    struct totaller all;
    const bool latencies = how.gather == CALLS_MEASURED;
    char *gathered = totals_of(b, &how, latencies, &all);
    assert_true(all.gathered > 0);
    how.gather = CALLS_SINGLY;
    char *singly = totals_of(b, &how, latencies, &all);
    assert_int_equal(all.gathered, 0);
    assert_string_equal(gathered, singly);
    free(gathered);
    free(singly);
}

TEST(calls_that_are_gathered_are_those_that_come_singly) {
    static struct step steps[THREADS][LONG_STEPS];
    for (uint64_t number = 1; number <= (uint64_t)FEW_OF(12u); number++) {
        struct builder b = {0};
        uint64_t seed = number;
        for (uint32_t t = 0; t < THREADS; t++)
            make_thread(steps[t], STEPS, &seed);
        put_threads(&b, steps, THREADS, STEPS, &seed);
        for (unsigned reach = 0; reach <= 2; reach++)
            for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
                const bool deduce = (number + reach) % 2;
                expect_gathered(
                    &b, (struct calls_request){.gather = CALLS_SUMMED, .reach = reach, .jobs = jobs, .deduce = deduce});
                expect_gathered(&b, (struct calls_request){
                                        .gather = CALLS_MEASURED, .reach = reach, .jobs = jobs, .deduce = deduce});
            }
        free(b.bytes);
    }
}

/* Reads the calls with workers that share threads. The result must equal that of one worker that reads each thread
 * completely. */
static unsigned expect_mixed(const struct builder *b, unsigned jobs, bool deduce) {
    struct totaller one, all;
    struct calls_request how = {.gather = CALLS_MEASURED, .reach = 1, .jobs = 1, .deduce = deduce};
    char *apart = totals_of(b, &how, true, &one);
    how.jobs = jobs;
    how.mixed = true;
    char *mixed = totals_of(b, &how, true, &all);
    how.gather = CALLS_SINGLY;
    how.jobs = 1;
    struct totaller single;
    char *singly = totals_of(b, &how, true, &single);
    assert_string_equal(mixed, singly);
    assert_int_equal(all.singly + all.gathered, one.singly + one.gathered);
    assert_int_equal(all.open, one.open);
    assert_int_equal(all.lone, one.lone);
    free(apart);
    free(mixed);
    free(singly);
    return all.nr_workers;
}

/* Returns how often all requested workers were used and the trace was not read a second time. */
static unsigned sum_in_chunks(const struct builder *b, unsigned reach, bool deduce) {
    const struct apart apart = read_calls_apart(b, reach, deduce);
    unsigned in_chunks = 0;
    for (unsigned jobs = 1; jobs <= 4; jobs *= 2)
        in_chunks += expect_summed(b, jobs, reach, deduce, &apart).nr_workers == jobs;
    free(apart.singly);
    return in_chunks;
}

/* Parts of the trace begin anywhere: while calls are open, or between calls that never end or never began. */
TEST(a_trace_that_lies_in_order_is_read_in_chunks) {
    static struct step steps[THREADS][LONG_STEPS];
    unsigned in_chunks = 0, summed = 0;
    for (uint64_t number = 1; number <= (uint64_t)(getenv("PERFRAY_SPARSE") ? 2 : FEW_OF(8u)); number++) {
        struct builder b = {0};
        uint64_t seed = number * 77;
        const uint32_t threads = number % 2 ? 1 : 3;
        const unsigned length = LONG_STEPS / (number % 2 ? 1 : 2);
        for (uint32_t t = 0; t < threads; t++)
            make_thread(steps[t], length, &seed);
        put_threads_in_order(&b, steps, threads, length, number % 3 ? 500 : 40, &seed);
        for (unsigned jobs = 1; jobs <= 4; jobs++)
            in_chunks += expect_mixed(&b, jobs, number % 4 < 2) == 3 && threads == 1;
        for (unsigned reach = 0; reach <= 1 && number <= 4; reach++) /* there are four kinds */
            summed += sum_in_chunks(&b, reach, number % 4 < 2);
        free(b.bytes);
    }
    assert_true(in_chunks > 0 && summed > 2 * 4);
}

/* A ring buffer that wrapped around, and a buffer that comes late. */
TEST(a_trace_that_does_not_lie_in_order_is_read_with_an_index) {
    static struct step steps[1][LONG_STEPS];
    for (unsigned number = 0; number < 2; number++) {
        struct builder b = {0}, turned = {0};
        uint64_t seed = 5;
        make_thread(steps[0], LONG_STEPS, &seed);
        put_threads_in_order(&b, steps, 1, LONG_STEPS, 200, &seed);
        const size_t header = 32, first = header + 16 + (size_t)load_extents(&b, header);
        const size_t part = number ? first : header + (b.length - header) / 2;
        size_t cut = header;
        while (cut < part)
            cut += 16 + (size_t)load_extents(&b, cut);
        put_bytes(&turned, b.bytes, header);
        put_bytes(&turned, b.bytes + cut, b.length - cut);
        put_bytes(&turned, b.bytes + header, cut - header);
        assert_int_equal(expect_mixed(&turned, 1, false), 1);
        assert_int_equal(expect_mixed(&turned, 4, false), 1);
        assert_int_equal(sum_in_chunks(&turned, 0, false), 1); /* only jobs = 1 uses as many workers as requested */
        free(b.bytes);
        free(turned.bytes);
    }
}

/* Such calls have a latency of 2^32 ticks, are at a clock that goes back, or exceed the functions of the table. */
TEST(calls_that_cannot_be_gathered_come_singly) {
    struct builder b = {0};
    struct totaller all;
    const struct calls_request measured = {.gather = CALLS_MEASURED, .reach = 1, .jobs = 1};
    const size_t extents = 32;
    put_xray_header(&b, 5, 4096);
    put_extents(&b, 0);
    put_preamble(&b, 7, 1000);
    put_call(&b, 0, 1, 10);
    put_call(&b, 0, 2, UINT32_MAX);
    put_call(&b, 1, 2, UINT32_MAX);
    put_call(&b, 1, 1, 10);
    put_call(&b, 0, 3, 10);
    put_metadata(&b, 2, 0, 2, 500); /* another CPU, whose clock is behind */
    put_call(&b, 1, 3, 10);
    for (uint32_t f = 1; f <= 20000; f++) {
        put_call(&b, 0, f, 10);
        put_call(&b, 1, f, 10);
    }
    set_number(&b, b.bytes + extents + 1, b.length - extents - 16, 8);
    free(totals_of(&b, &measured, true, &all));
    /* Two path numbers are reserved: "no path" and "too many". Calls are sorted in arrays, and a whole array can be
     * passed on one by one. */
    assert_true(all.singly >= 2 + 20000 - (16384 - 2) && all.singly < 2 + 20000 - (16384 - 2) + 512);
    assert_int_equal(all.singly + all.gathered, 3 + 20000);
    expect_gathered(&b, measured);
    free(b.bytes);
}

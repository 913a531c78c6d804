/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a public model: each has the id that it got at its enter, and the id of its caller, although rows are in the
 * order of exits. The traces are those of calls_test.c; the expected values come from a separate stack.
 */
#include "call_log.h"

#include "../base/failing_alloc.h"

#include <perfray/perfray.h>

enum { STEPS = 4000, FUNCTIONS = 5, TEXT = 400 };

struct known_call {
    uint64_t parent, argument;
    uint32_t function, depth, flags;
};

static pfr_reader *open_calls(struct builder *b, const pfr_alloc *alloc, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .alloc = alloc};
    return pfr_open_bytes(b->bytes, b->length, &how, err);
}

/* Sorted by id; the name of a function without a map is its number. */
static uint64_t learn_calls(const pfr_model *m, struct known_call *calls, uint64_t room) {
    const pfr_call_batch *b;
    uint64_t count = 0;
    pfr_error err;
    pfr_calls *cursor = pfr_calls_open(m, NULL, &err);
    while (pfr_calls_next(cursor, &b, &err) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++, count++) {
            assert_true(b->id[i] >= 1 && b->id[i] <= room);
            assert_int_equal(calls[b->id[i]].function, 0); /* no id occurs twice */
            calls[b->id[i]] = (struct known_call){
                .parent = b->parent[i],
                .argument = b->argument[i],
                .function = (uint32_t)strtoul(pfr_model_get_symbol(m, b->symbol[i])->name + 1, NULL, 10),
                .depth = b->depth[i],
                .flags = b->flags[i]};
            assert_int_equal(pfr_model_get_stack(m, b->stack[i])->depth, b->depth[i]);
        }
    pfr_calls_close(cursor);
    return count;
}

static void expect_calls(struct builder *b, const char *expected) {
    struct known_call calls[32] = {{0}};
    char text[TEXT] = "";
    pfr_error err = {.text = ""};
    pfr_reader *reader = open_calls(b, NULL, &err);
    pfr_model *m = reader ? pfr_model_open(reader, NULL, &err) : NULL;
    if (!m)
        fail_msg("%s", err.text);
    const uint64_t count = learn_calls(m, calls, 31);
    assert_int_equal(count, pfr_model_call_count(m));
    for (uint64_t id = 1; id <= count; id++) {
        const size_t used = strlen(text);
        snprintf(text + used, TEXT - used, "%s#%u in %u%s", id > 1 ? ", " : "", calls[id].function,
                 (unsigned)calls[id].parent, calls[id].flags & PFR_CALL_OPEN ? " open" : "");
        if (calls[id].flags & PFR_CALL_ARGUMENT)
            snprintf(text + strlen(text), TEXT - strlen(text), " of %u", (unsigned)calls[id].argument);
    }
    assert_string_equal(text, expected);
    pfr_model_close(m);
    pfr_close(reader);
    free(b->bytes);
}

static struct builder begin_trace(void) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    return b;
}

static void expect_calls_of(const char *steps, const char *expected) {
    struct builder b = begin_trace();
    put_buffer(&b, 7, 1000, steps);
    expect_calls(&b, expected);
}

TEST(model_calls_have_their_callers) {
    expect_calls_of("+1 +2 -2 +3 -3 -1", "#1 in 0, #2 in 1, #3 in 1");
    expect_calls_of("+1 +1 +1 -1 -1 -1 +2 -2", "#1 in 0, #1 in 1, #1 in 2, #2 in 0");
    expect_calls_of("+1 +2 +3 -3 +4 -4 -2 +2 +3 -3 -2 -1", "#1 in 0, #2 in 1, #3 in 2, #4 in 2, #2 in 1, #3 in 5");
}

TEST(model_calls_that_never_ended_are_callers_too) {
    expect_calls_of("+1 +2 +3 -1", "#1 in 0, #2 in 1 open, #3 in 2 open");
    expect_calls_of("+1 +2 -2 +3 +4 -4", "#1 in 0 open, #2 in 1, #3 in 1 open, #4 in 3");
    expect_calls_of("-9 +1 -8 +2 -2 -1", "#1 in 0, #2 in 1");
}

TEST(model_calls_of_threads_follow_each_other) {
    struct builder b = begin_trace();
    put_buffer(&b, 9, 1000, "+1 +2 -2 -1");
    put_buffer(&b, 8, 1005, "+3 +4 -4 -3");
    expect_calls(&b, "#3 in 0, #4 in 1, #1 in 0, #2 in 3");
}

TEST(model_calls_have_their_first_arguments) {
    expect_calls_of("*1 =35 +2 -2 *2 =36 -2 *3 -3 -1", "#1 in 0 of 35, #2 in 1, #2 in 1 of 36, #3 in 1");
    expect_calls_of("*1 =1 *1 =2 *1 =3 -1 -1", "#1 in 0 open of 1, #1 in 1 of 2, #1 in 2 of 3");
    expect_calls_of("-9 +1 *2 =0 ~2 -1 *4 =7", "#1 in 0, #2 in 1 of 0, #4 in 0 open of 7");
}

TEST(model_calls_have_the_arguments_of_their_thread) {
    struct builder b = begin_trace();
    put_buffer(&b, 9, 1000, "*1 =10 *2 =11 -2 -1");
    put_buffer(&b, 8, 1005, "+3 *4 =20 -4 -3");
    put_buffer(&b, 9, 2000, "+5 -5 *2 =12 -2");
    expect_calls(&b, "#3 in 0, #4 in 1 of 20, #1 in 0 of 10, #2 in 3 of 11, #5 in 0, #2 in 0 of 12");
}

/* --- Random traces. */

static uint64_t random_state;

static uint32_t pick(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

struct known {
    struct known_call calls[STEPS + 1];
    uint64_t open[STEPS + 1]; /* ids */
    uint32_t depth, count;
};

static void enter(struct known *k, struct builder *b) {
    const uint32_t function = 1 + pick(FUNCTIONS);
    put_call(b, 0, function, STEP_TICKS);
    k->calls[++k->count] = (struct known_call){.parent = k->depth ? k->open[k->depth - 1] : 0,
                                               .function = function,
                                               .depth = k->depth,
                                               .flags = PFR_CALL_OPEN};
    k->open[k->depth++] = k->count;
}

/* The innermost open call of that function ends, and the calls above it never end. */
static void leave(struct known *k, struct builder *b) {
    const uint32_t function = pick(3) && k->depth ? k->calls[k->open[k->depth - 1]].function : 1 + pick(FUNCTIONS);
    uint32_t depth = k->depth;
    put_call(b, 1, function, STEP_TICKS);
    while (depth > 0 && k->calls[k->open[depth - 1]].function != function)
        depth--;
    if (depth == 0)
        return;
    k->calls[k->open[depth - 1]].flags = 0;
    k->depth = depth - 1;
}

TEST(model_calls_are_those_of_a_stack) {
    for (uint32_t seed = 1; seed <= 20; seed++) {
        static struct known known;
        static struct known_call calls[STEPS + 1];
        struct builder b = begin_trace();
        pfr_error err;
        known = (struct known){.count = 0};
        memset(calls, 0, sizeof calls);
        random_state = seed;
        const size_t begin = b.length;
        put_extents(&b, 0);
        put_preamble(&b, 7, 1000);
        for (uint32_t i = 0; i < STEPS; i++)
            (pick(2) ? enter : leave)(&known, &b);
        set_number(&b, b.bytes + begin + 1, b.length - begin - 16, 8);
        pfr_reader *reader = open_calls(&b, NULL, &err);
        pfr_model *m = pfr_model_open(reader, NULL, &err);
        assert_int_equal(learn_calls(m, calls, STEPS), known.count);
        for (uint32_t id = 1; id <= known.count; id++) {
            assert_int_equal(calls[id].parent, known.calls[id].parent);
            assert_int_equal(calls[id].function, known.calls[id].function);
            assert_int_equal(calls[id].depth, known.calls[id].depth);
            assert_int_equal(calls[id].flags, known.calls[id].flags);
        }
        pfr_model_close(m);
        pfr_close(reader);
        free(b.bytes);
    }
}

TEST(model_calls_are_filtered) {
    struct builder b = begin_trace();
    pfr_error err;
    const pfr_call_batch *batch;
    put_buffer(&b, 7, 1000, "+1 +2 -2 +3 -3 -1");
    pfr_reader *reader = open_calls(&b, NULL, &err);
    pfr_model *m = pfr_model_open(reader, NULL, &err);
    const pfr_calls_options longest = {.size = sizeof longest, .min_duration = 20};
    pfr_calls *cursor = pfr_calls_open(m, &longest, &err);
    assert_int_equal(pfr_calls_next(cursor, &batch, &err), PFR_OK);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->duration[0], 50);
    assert_int_equal(batch->self[0], 30);
    assert_int_equal(pfr_calls_next(cursor, &batch, &err), PFR_END);
    ASSERT_OK(pfr_calls_rewind(cursor, &err), err);
    assert_int_equal(pfr_calls_next(cursor, &batch, &err), PFR_OK);
    pfr_calls_close(cursor);
    const pfr_calls_options nobody = {.size = sizeof nobody, .thread = 9};
    assert_null(pfr_calls_open(m, &nobody, &err));
    assert_int_equal(err.status, PFR_ERR_USAGE);
    pfr_model_close(m);
    pfr_close(reader);
    free(b.bytes);
}

TEST(model_of_calls_leaves_nothing_when_an_allocation_fails) {
    struct failing_alloc failing = {.has_failed = true};
    struct builder b = begin_trace();
    long n = 1;
    put_buffer(&b, 7, 1000, "+1 *2 =5 -2 +3 -3 -1");
    for (; failing.has_failed; n++) {
        pfr_error err = {.status = PFR_OK};
        failing_alloc_begin(&failing, n);
        pfr_reader *reader = open_calls(&b, &failing.alloc, &err);
        pfr_model *m = reader ? pfr_model_open(reader, NULL, &err) : NULL;
        const pfr_call_batch *batch;
        pfr_calls *cursor = m ? pfr_calls_open(m, NULL, &err) : NULL;
        const pfr_status st = cursor ? pfr_calls_next(cursor, &batch, &err) : err.status;
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        pfr_calls_close(cursor);
        pfr_model_close(m);
        pfr_close(reader);
        if (failing.blocks != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", failing.blocks, n);
    }
    assert_true(n > 20);
    free(b.bytes);
}

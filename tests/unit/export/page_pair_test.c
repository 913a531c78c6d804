/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a comparison: it has calls, events and losses of both recordings, and tells them apart. */
#include "test.h"

#include "export/page/page_pair.h"

#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 4 };

/* A thread with samples from `begin` on, calls (callers first), and losses. */
static pfr_model *make_side(uint64_t begin, uint32_t tid, unsigned losses) {
    pfr_error err = {.text = ""};
    pfr_build *b = pfr_model_build(NULL, NULL, &err);
    const uint32_t event = pfr_build_event(b, &(pfr_model_event){.name = "cycles"});
    const uint32_t comm = pfr_build_comm(b, "worker");
    const uint32_t process = pfr_build_process(b, &(pfr_model_process){.pid = tid, .comm = comm});
    const pfr_model_thread one = {
        .process = process, .tid = tid, .comm = comm, .start = PFR_NO_TIME, .end = PFR_NO_TIME};
    const uint32_t thread = pfr_build_thread(b, &one);
    const uint32_t object =
        pfr_build_object(b, &(pfr_model_object){.path = "/p", .name = "p", .kind = PFR_OBJECT_FILE});
    const uint32_t f = pfr_build_symbol(b, &(pfr_model_symbol){.name = "f", .object = object});
    const uint32_t stack = pfr_build_stack(b, 0, pfr_build_frame(b, &(pfr_model_frame){.symbol = f}));
    for (uint64_t i = 0; i < CALLS; i++) {
        pfr_build_sample(
            b, &(pfr_sample){.time = begin + i * 100, .weight = 1, .thread = thread, .event = event, .stack = stack});
        pfr_build_call(b, &(pfr_call){.start = begin + i,
                                      .duration = 100 - 2 * i,
                                      .self = 2,
                                      .parent = i,
                                      .thread = thread,
                                      .symbol = f,
                                      .stack = stack,
                                      .depth = (uint32_t)i});
    }
    pfr_build_event(b, &(pfr_model_event){.name = "calls", .unit = "ns", .is_traced = true});
    for (unsigned i = 0; i < losses; i++)
        pfr_build_mark(b, &(pfr_mark){.kind = PFR_MARK_LOST, .time = begin + 10 * i, .thread = thread, .count = tid});
    pfr_build_mark(b, &(pfr_mark){.kind = PFR_MARK_CUSTOM, .time = begin - 5, .text = "logged"});
    pfr_build_interval(b, &(pfr_interval){.start = begin, .duration = 9, .thread = thread});
    pfr_model *model = pfr_build_finish(b, &err);
    if (!model)
        fail_msg("%s", err.text);
    return model;
}

struct two {
    struct memory memory;
    struct page_pair pair;
    pfr_model *newer, *baseline;
};

static void open_two(struct two *t) {
    pfr_error err;
    t->newer = make_side(1000, 7, 2);
    t->baseline = make_side(500000, 8, 1);
    memory_init(&t->memory, NULL, 0);
    ASSERT_OK(page_pair_make(&t->pair, t->newer, t->baseline, &t->memory, &err), err);
}

static void close_two(struct two *t) {
    page_pair_free(&t->pair);
    assert_int_equal(t->memory.used, 0);
    pfr_model_close(t->baseline);
    pfr_model_close(t->newer);
}

TEST(a_comparison_has_the_marks_of_both_recordings_on_one_time_axis) {
    static const pfr_mark wanted[] = {{.time = 1000, .count = 7, .thread = 1},
                                      {.time = 1010, .count = 7, .thread = 1},
                                      {.time = 995, .thread = 0},
                                      {.time = 1000, .count = 8, .thread = 2},
                                      {.time = 995, .thread = 0}};
    struct two t;
    open_two(&t);
    for (unsigned i = 0; i < 5; i++) {
        const pfr_mark *mark = pfr_model_mark(t.pair.model, i);
        assert_non_null(mark);
        assert_int_equal(mark->time, wanted[i].time);
        assert_int_equal(mark->count, wanted[i].count);
        assert_int_equal(mark->thread, wanted[i].thread);
    }
    assert_null(pfr_model_mark(t.pair.model, 5));
    close_two(&t);
}

TEST(a_comparison_has_the_calls_of_both_recordings_callers_first) {
    struct two t;
    const pfr_call_batch *b;
    uint32_t count = 0;
    pfr_error err;
    open_two(&t);
    pfr_calls *cursor = pfr_calls_open(t.pair.model, NULL, &err);
    assert_non_null(cursor);
    while (pfr_calls_next(cursor, &b, &err) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++, count++) {
            const uint64_t place = (b->id[i] - 1) % CALLS;
            assert_int_equal(b->depth[i], place);
            assert_int_equal(b->start[i], 1000 + place);
            assert_int_equal(b->thread[i], b->id[i] > CALLS ? 2 : 1);
        }
    pfr_calls_close(cursor);
    assert_int_equal(count, 2 * CALLS);
    close_two(&t);
}

/* The headline of a page is about the newer recording. */
TEST(weights_of_calls_are_those_of_the_newer_recording) {
    struct two t;
    uint64_t self[2];
    pfr_error err;
    open_two(&t);
    ASSERT_OK(pfr_model_weights(t.pair.model, 2, self, NULL, &err), err);
    assert_int_equal(self[1], 2 * CALLS);
    close_two(&t);
}

static char *page_of(const struct two *t) {
    const pfr_view_options options = {.size = sizeof options, .baseline = t->baseline};
    pfr_error err;
    FILE *file = tmpfile();
    pfr_output *out = pfr_output_open(fileno(file), false, &err);
    ASSERT_OK(pfr_view_write(t->newer, &options, out, &err), err);
    ASSERT_OK(pfr_output_close(out, &err), err);
    const size_t length = (size_t)lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, length + 1);
    assert_int_equal(pread(fileno(file), text, length, 0), length);
    fclose(file);
    return text;
}

TEST(a_comparison_says_what_it_omits_of_the_baseline) {
    struct two t;
    open_two(&t);
    char *page = page_of(&t);
    assert_non_null(strstr(page, "1 thread, 1 of the baseline"));
    assert_non_null(strstr(page, "▲ baseline: states and waits of its threads are not shown</button>"));
    free(page);
    close_two(&t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks deeper than the CPU's branch registers: the source of their outer calls, rejected inputs, and the state
 * kept for threads. In both byte orders, with one thread and two, with every allocation failing once.
 */
#include "lbr_builder.h"
#include "profile_failing.h"
#include "collected_notes.h"

enum { REGISTERS = 4, THREADS = 20000, DEEP = 9000 };
#define UNKNOWN_PLACE UINT64_MAX

typedef void add_fn(struct record_builder *s);
typedef bool keep_fn(void *context, const struct profile_sample *sample);

static struct profile_request request_chains(unsigned jobs, bool stitched, keep_fn *keep, char *notes) {
    return (struct profile_request){.keys = PROFILE_BIT(PROFILE_COMM),
                                    .shape = PROFILE_TREE,
                                    .unit = PROFILE_ADDRESSES,
                                    .stitched = stitched,
                                    .jobs = jobs,
                                    .keep = keep,
                                    .note = take_note,
                                    .context = notes,
                                    .names = {.naming = {.no_symbols = true}}};
}

static void expect_profile(const struct record_builder *s, const struct profile_request *request, const char *stacks) {
    struct profile *p;
    struct lines got;
    pfr_error err;
    char text[2000] = "";
    size_t length = 0;
    pfr_reader *reader = open_built(&s->b, NULL);
    const uint64_t before = reader->memory.used;
    ASSERT_OK(profile_load(&p, reader, request, &err), err);
    lines_begin(&got);
    profile_lines(&got, p);
    profile_close(p);
    assert_true(reader->memory.used <= before + 4096); /* the memory for a feature is kept */
    pfr_close(reader);
    lines_sort(&got);
    for (size_t i = 0; i < got.count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\n", got.at[i]);
    lines_free(&got);
    assert_string_equal(text, stacks);
}

/* Stacks from the outermost call on. */
static void expect_stacks(add_fn *add, unsigned registers, keep_fn *keep, const char *as_recorded,
                          const char *stitched) {
    for (unsigned i = 0; i < 8; i++) {
        char notes[NOTES_ROOM] = "";
        struct lbr_builder l;
        const struct profile_request request = request_chains(1 + (i >> 1 & 1), i & 4, keep, notes);
        begin_lbr(&l, i & 1, registers);
        add_program(&l.s, 7, "/p");
        add(&l.s);
        end_lbr(&l);
        expect_profile(&l.s, &request, i & 4 ? stitched : as_recorded);
        free(l.s.b.bytes);
    }
}

static void add_growing(struct record_builder *s) {
    add_lbr_sample(s, 7, 10, 3, CALLS(4, 3, 2, 1));
    add_lbr_sample(s, 7, 20, 0, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 30, 1, CALLS(6, 5, 4, 3));
    add_lbr_sample(s, 7, 40, 0, CALLS(5, 4, 3)); /* one call returned */
    add_lbr_sample(s, 7, 50, 2, CALLS(9));       /* all other calls, too: its register contained call 3 */
    add_lbr_sample(s, 7, 60, 3, CALLS(8, 9));
}

TEST(calls_that_registers_lost_are_those_of_the_sample_before) {
    expect_stacks(
        add_growing, REGISTERS, NULL,
        ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+20;/p+30;/p+40;/p+50;/p+58\n"
        ":7;/p+30;/p+40;/p+50;/p+58\n:7;/p+30;/p+40;/p+50;/p+60;/p+68\n:7;/p+90;/p+80;/p+88\n:7;/p+90;/p+98\n",
        ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+58\n"
        ":7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+60;/p+68\n"
        ":7;/p+90;/p+80;/p+88\n:7;/p+90;/p+98\n");
}

/* Samples are in reverse order, as if the ring buffers of several CPUs were written one after another. */
static void add_backwards(struct record_builder *s) {
    add_lbr_sample(s, 7, 30, 1, CALLS(6, 5, 4, 3));
    add_lbr_sample(s, 7, 20, 0, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 10, 3, CALLS(4, 3, 2, 1));
}

TEST(the_sample_before_is_so_by_time) {
    expect_stacks(
        add_backwards, REGISTERS, NULL,
        ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+30;/p+40;/p+50;/p+60;/p+68\n",
        ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+58\n"
        ":7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+60;/p+68\n");
}

/* The two stacks share only one call: the newest of the previous sample and the outermost of this one, on either side
   of the last register. */
static void add_one_shared(struct record_builder *s) {
    add_lbr_sample(s, 7, 10, 1, CALLS(4, 3, 2, 1));
    add_lbr_sample(s, 7, 20, 0, CALLS(7, 6, 5, 4));
}

TEST(one_call_that_is_the_same_is_enough) {
    expect_stacks(add_one_shared, REGISTERS, NULL,
                  ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+40;/p+50;/p+60;/p+70;/p+78\n",
                  ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+60;/p+70;/p+78\n");
}

/* Another thread, another program image of the same thread, another register, another call in the register. */
static void add_others(struct record_builder *s) {
    add_program(s, 8, "/q");
    add_lbr_sample(s, 7, 10, 3, CALLS(4, 3, 2, 1));
    add_lbr_sample(s, 8, 20, 0, CALLS(5, 4, 3, 2));
    add_comm(s, WITH_EXEC, 7, 7, "seven", 30);
    add_mmap(s, USER_MODE, 7, 7, PROGRAM_AT, PROGRAM_SIZE, "/p", 31);
    add_lbr_sample(s, 7, 40, 0, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 50, 2, CALLS(6, 5, 4, 3));
    add_lbr_sample(s, 7, 60, 3, CALLS(9, 6, 5, 8));
}

#define OTHERS                                                                                                         \
    ":8;/q+20;/q+30;/q+40;/q+50;/q+58\nseven;/p+10;/p+20;/p+30;/p+40;/p+48\nseven;/p+20;/p+30;/p+40;/p+50;/p+58\n"     \
    "seven;/p+30;/p+40;/p+50;/p+60;/p+68\nseven;/p+80;/p+50;/p+60;/p+90;/p+98\n"

TEST(another_call_in_the_same_register_is_not_stitched) {
    expect_stacks(add_others, REGISTERS, NULL, OTHERS, OTHERS);
}

/* Samples that no CPU with four registers can write; and an empty one, which ends the known stack. */
static void add_unlikely(struct record_builder *s) {
    add_lbr_sample(s, 7, 10, 3, CALLS(4, 3, 2, 1));
    add_lbr_sample(s, 7, 20, UNKNOWN_PLACE, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 30, 0, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 40, 4, CALLS(5, 4, 3, 2));
    add_lbr_sample(s, 7, 50, 1, CALLS(6, 5, 4, 3, 2));
    add_lbr_sample(s, 7, 60, 1, CALLS(6, 5, 4, 3));
    add_lbr_sample(s, 7, 70, 1, NULL, 0);
    add_lbr_sample(s, 7, 80, 2, CALLS(7, 6, 5, 4));
}

#define UNLIKELY                                                                                                       \
    ":7;/p+1\n:7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+20;/p+30;/p+40;/p+50;/p+58\n"  \
    ":7;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+20;/p+30;/p+40;/p+50;/p+60;/p+68\n:7;/p+30;/p+40;/p+50;/p+60;/p+68\n"     \
    ":7;/p+40;/p+50;/p+60;/p+70;/p+78\n"

TEST(impossible_register_indexes_are_ignored) {
    expect_stacks(add_unlikely, REGISTERS, NULL, UNLIKELY, UNLIKELY);
}

static bool is_late(void *context, const struct profile_sample *sample) {
    (void)context;
    return sample->time >= 20;
}

TEST(samples_that_are_left_out_are_stitched_with) {
    expect_stacks(add_backwards, REGISTERS, is_late,
                  ":7;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+30;/p+40;/p+50;/p+60;/p+68\n",
                  ":7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+58\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+60;/p+68\n");
}

TEST(stacks_of_calls_are_not_cut) {
    for (unsigned i = 0; i < 2; i++) {
        char notes[NOTES_ROOM] = "";
        struct lbr_builder l;
        struct profile_request request = request_chains(1, true, NULL, notes);
        request.max_stack = 1;
        request.from_outermost = i;
        begin_lbr(&l, false, REGISTERS);
        add_program(&l.s, 7, "/p");
        add_lbr_sample(&l.s, 7, 10, 3, CALLS(4, 3, 2, 1));
        add_lbr_sample(&l.s, 7, 20, 0, CALLS(5, 4, 3, 2));
        end_lbr(&l);
        expect_profile(&l.s, &request, ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+10;/p+20;/p+30;/p+40;/p+50;/p+58\n");
        assert_string_equal(notes, "2 LBR stacks: 50.0 % extended with calls of earlier samples\n");
        free(l.s.b.bytes);
    }
}

TEST(stitching_needs_the_number_of_registers) {
    static const unsigned registers[] = {0, 5000, UINT32_MAX};
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        char notes[NOTES_ROOM] = "";
        struct lbr_builder l;
        const struct profile_request request = request_chains(1, true, NULL, notes);
        begin_lbr(&l, false, registers[i]);
        add_program(&l.s, 7, "/p");
        add_lbr_sample(&l.s, 7, 10, 3, CALLS(4, 3, 2, 1));
        add_lbr_sample(&l.s, 7, 20, 0, CALLS(5, 4, 3, 2));
        end_lbr(&l);
        expect_profile(&l.s, &request, ":7;/p+10;/p+20;/p+30;/p+40;/p+48\n:7;/p+20;/p+30;/p+40;/p+50;/p+58\n");
        assert_string_equal(notes,
                            "none of 2 LBR stacks is stitched: the number of LBR registers, or the index of the newest "
                            "one, was not recorded\n");
        free(l.s.b.bytes);
    }
}

TEST(stitching_leaves_nothing_when_an_allocation_fails) {
    char notes[NOTES_ROOM] = "";
    const struct profile_request request = request_chains(1, true, NULL, notes);
    struct lbr_builder l;
    begin_lbr(&l, false, REGISTERS);
    add_program(&l.s, 7, "/p");
    add_growing(&l.s);
    add_others(&l.s);
    end_lbr(&l);
    expect_nothing_left(&l.s, &request);
    free(l.s.b.bytes);
}

/* --- The module by itself. */

static bool next_calls(pfr_reader *reader, struct pfr_rec_sample *sample) {
    pfr_record rec;
    pfr_error err;
    while (pfr_next(reader, &rec, &err) == PFR_OK)
        if (rec.type == PFR_RECORD_SAMPLE) {
            ASSERT_OK(pfr_decode(&rec, sample, sizeof *sample, &err), err);
            return true;
        }
    return false;
}

/* Each of many threads has two samples, one directly after the other. */
TEST(threads_beyond_the_limit_start_over) {
    struct memory memory;
    struct stitcher s;
    struct lbr_builder l;
    struct pfr_rec_sample sample;
    struct lost_calls lost;
    pfr_error err, hole;
    uint64_t stitched = 0;
    begin_lbr(&l, false, REGISTERS);
    for (uint32_t i = 0; i < THREADS; i++) {
        add_lbr_sample(&l.s, 10 + i, 10 + 2 * i, 3, CALLS(4, 3, 2, 1));
        add_lbr_sample(&l.s, 10 + i, 11 + 2 * i, 0, CALLS(5, 4, 3, 2));
    }
    end_lbr(&l);
    pfr_reader *reader = open_built(&l.s.b, NULL);
    memory_init(&memory, NULL, 1 << 20);
    stitcher_init(&s, branch_registers(reader), &memory);
    assert_int_equal(s.registers, REGISTERS);
    while (next_calls(reader, &sample)) {
        ASSERT_OK(stitch_calls(&s, sample.tid, 1, &sample.branch, &lost, &err), err);
        stitched += lost.count;
    }
    assert_true(s.begun_anew > 5 && s.begun_anew < 1000);
    assert_true(stitched <= THREADS && stitched >= THREADS - s.begun_anew);
    assert_true(s.memory.peak <= 256 << 10);
    assert_true(chain_stitch_met_limit(s.begun_anew, &hole));
    assert_true(strstr(hole.text, "limit memory"));
    stitcher_free(&s);
    assert_int_equal(memory.used, 0);
    pfr_close(reader);
    free(l.s.b.bytes);
}

/* An endless recursion: the outermost calls are dropped first. */
TEST(calls_of_one_thread_are_bounded) {
    struct memory memory;
    struct stitcher s;
    struct lbr_builder l;
    struct pfr_rec_sample sample;
    struct lost_calls lost;
    pfr_error err;
    begin_lbr(&l, false, REGISTERS);
    for (uint32_t i = 4; i < DEEP; i++)
        add_lbr_sample(&l.s, 7, 10 + i, (i - 1) % REGISTERS, CALLS(i, i - 1, i - 2, i - 3));
    end_lbr(&l);
    pfr_reader *reader = open_built(&l.s.b, NULL);
    memory_init(&memory, NULL, 0);
    stitcher_init(&s, REGISTERS, &memory);
    for (uint32_t i = 4; next_calls(reader, &sample); i++) {
        const size_t wanted = i - 4 < STITCHED_MOST ? i - 4 : STITCHED_MOST;
        ASSERT_OK(stitch_calls(&s, sample.tid, 1, &sample.branch, &lost, &err), err);
        assert_int_equal(lost.count, wanted);
        for (size_t n = 0; n < wanted; n++)
            assert_int_equal(lost.from[n], PROGRAM_AT + 0x10 * (i - 3 - wanted + n));
    }
    assert_true(memory.peak < 64 << 10);
    stitcher_free(&s);
    assert_int_equal(memory.used, 0);
    pfr_close(reader);
    free(l.s.b.bytes);
}

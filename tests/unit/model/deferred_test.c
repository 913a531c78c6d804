/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User callchains that are recorded later: the samples to which they belong, the message if they are missing, and their
 * memory use. In both byte orders, with one thread and two, with every allocation failing once.
 */
#include "deferred_builder.h"
#include "profile_failing.h"
#include "collected_notes.h"

enum { MANY_SAMPLES = 60000, SHARING = 3, THREADS = 3, STREAM_LENGTH = 5000, WINDOW = 10 };

static struct profile_request request_chains(unsigned jobs, char *notes) {
    return (struct profile_request){.keys = PROFILE_BIT(PROFILE_COMM),
                                    .shape = PROFILE_TREE,
                                    .unit = PROFILE_ADDRESSES,
                                    .jobs = jobs,
                                    .note = take_note,
                                    .context = notes,
                                    .names = {.naming = {.no_symbols = true}}};
}

/* The sorted lines of all stacks in `text`, which the caller frees. */
static char *read_stacks(const struct record_builder *s, const struct profile_request *request) {
    struct profile *p;
    struct lines got;
    pfr_error err;
    size_t length = 0, room = 1;
    pfr_reader *reader = open_built(&s->b, NULL);
    ASSERT_OK(profile_load(&p, reader, request, &err), err);
    lines_begin(&got);
    profile_lines(&got, p);
    profile_close(p);
    pfr_close(reader);
    lines_sort(&got);
    for (size_t i = 0; i < got.count; i++)
        room += strlen(got.at[i]) + 1;
    char *text = calloc(room, 1);
    for (size_t i = 0; i < got.count; i++)
        length += (size_t)snprintf(text + length, room - length, "%s\n", got.at[i]);
    lines_free(&got);
    return text;
}

typedef void add_fn(struct record_builder *s);

/* Expects the same stacks and notes in both byte orders, with one and two threads, plain and compressed. `wanted` NULL:
 * notes are not checked. */
static void expect_stacks(add_fn *add, const struct profile_request *more, const char *stacks, const char *wanted) {
    for (unsigned i = 0; i < 8; i++) {
        char notes[NOTES_ROOM] = "";
        const struct form form = {.big = i & 1, .packed = i & 2};
        struct profile_request request = request_chains(1 + i / 4, notes);
        struct record_builder s;
        if (more) {
            request.max_stack = more->max_stack;
            request.from_outermost = more->from_outermost;
        }
        begin_deferred(&s, form);
        add(&s);
        end_deferred(&s, form);
        char *text = read_stacks(&s, &request);
        assert_string_equal(text, stacks);
        if (wanted)
            assert_string_equal(notes, wanted);
        free(text);
        free(s.b.bytes);
    }
}

static void add_shared(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_sample(s, 7, 11, 0x50);
    add_deferred_chain(s, 7, 12, 0x50, 0x1010);
    add_deferred_sample(s, 7, 13, 0x52);
    add_deferred_chain_of(s, 7, 14, 0x52, (const uint64_t[]){MARKER_USER, 0x1020, 0x1030}, 3);
}

TEST(samples_that_share_a_cookie_have_the_same_callers) {
    expect_stacks(add_shared, NULL,
                  ":7;/p+10;[kernel.kallsyms]_text+900010\n:7;/p+10;[kernel.kallsyms]_text+900010\n"
                  ":7;/p+30;/p+20;[kernel.kallsyms]_text+900010\n",
                  "3 stacks recorded in two parts: 100.0 % complete, 0.0 % truncated by --max-stack, 0.0 % (0) "
                  "without a user part, which was never recorded\n");
}

static void add_two_threads(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_program(s, 8, "/q");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_sample(s, 8, 11, 0x50);
    add_deferred_chain(s, 8, 12, 0x50, 0x1020);
    add_deferred_chain(s, 7, 13, 0x50, 0x1010);
}

TEST(threads_with_the_same_cookie_have_their_own_callers) {
    expect_stacks(add_two_threads, NULL,
                  ":7;/p+10;[kernel.kallsyms]_text+900010\n:8;/q+20;[kernel.kallsyms]_text+900010\n", NULL);
}

static void add_missing(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_chain(s, 7, 12, 0x51, 0x1010);
    add_deferred_chain(s, 9, 12, 0x50, 0x1010);
    add_deferred_chain(s, 7, 9, 0x50, 0x1010); /* before the sample */
    add_deferred_sample(s, 7, 20, 0x60);
    add_deferred_chain(s, 7, 21, 0x60, 0x1020);
}

TEST(missing_deferred_chains_are_reported) {
    expect_stacks(add_missing, NULL, ":7;/p+20;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n",
                  "2 stacks recorded in two parts: 50.0 % complete, 0.0 % truncated by --max-stack, 50.0 % (1) "
                  "without a user part, which was never recorded\n"
                  "3 deferred call chains belong to no sample that was recorded\n");
}

/* The chain is in the buffer of another CPU, written after later records; other events write it again. */
static void add_late_deferred_chain(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_chain(s, 7, 30, 0x50, 0x1030);
    add_deferred_chain(s, 7, 12, 0x50, 0x1010);
    add_deferred_chain(s, 7, 13, 0x50, 0x1020);
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_sample(s, 7, 20, 0x50);
}

TEST(the_next_of_several_chains_is_the_samples) {
    expect_stacks(add_late_deferred_chain, NULL,
                  ":7;/p+10;[kernel.kallsyms]_text+900010\n:7;/p+30;[kernel.kallsyms]_text+900010\n",
                  "2 stacks recorded in two parts: 100.0 % complete, 0.0 % truncated by --max-stack, 0.0 % (0) "
                  "without a user part, which was never recorded\n");
}

/* EXIT ends nothing: later records still belong to the thread. The next thread with this tid has its own chains. */
static void add_ended(struct record_builder *s) {
    add_thread_that_ends(s);
    add_begun_again(s);
    add_deferred_sample(s, 7, 30, 0x54);
    add_deferred_chain(s, 7, 31, 0x54, 0x1020);
    add_deferred_sample(s, 7, 32, 0x56);
    add_exit(s, 7, 7, 33);
}

TEST(threads_that_exit_leave_chains_without_their_part) {
    expect_stacks(add_ended, NULL,
                  ":7;/p+10;[kernel.kallsyms]_text+900010\n:7;/q+20;[kernel.kallsyms]_text+900010\n"
                  ":7;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n",
                  "4 stacks recorded in two parts: 50.0 % complete, 0.0 % truncated by --max-stack, 50.0 % (2) "
                  "without a user part, which was never recorded\n");
}

/* Numbers of entries that exceed the record, exceed it by one, or are 0 although there are entries. */
static void add_damaged(struct record_builder *s) {
    static const uint64_t said[] = {1ull << 61, 3, 0};
    add_program(s, 7, "/p");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        add_deferred_sample(s, 7, 10 + 10 * i, 0x50 + i);
        add_deferred_chain(s, 7, 11 + 10 * i, 0x50 + i, 0x1010 + i);
        set_number(&s->b, s->b.bytes + s->b.length - 16 - 2 * 8 - 8, said[i], 8);
    }
    add_deferred_sample(s, 7, 90, 0x60);
    add_deferred_chain(s, 7, 91, 0x60, 0x1020);
}

TEST(damaged_chains_lose_only_their_own_samples) {
    expect_stacks(add_damaged, NULL,
                  ":7;/p+20;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n"
                  ":7;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n",
                  NULL);
}

static void add_too_often(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_sample(s, 7, 10, 0x50);
    for (uint64_t i = 0; i < 18; i++)
        add_deferred_chain(s, 7, 11 + i, 0x50, 0x1010 + i);
}

TEST(a_cookie_that_occurs_too_often_is_reported) {
    expect_stacks(add_too_often, NULL, ":7;/p+10;[kernel.kallsyms]_text+900010\n",
                  "1 stacks recorded in two parts: 100.0 % complete, 0.0 % truncated by --max-stack, 0.0 % (0) "
                  "without a user part, which was never recorded\n"
                  "2 deferred call chains are left out: their threads and cookies occur too often\n");
}

static void add_deep(struct record_builder *s) {
    uint64_t words[201] = {0};
    for (uint64_t i = 0; i < 200; i++)
        words[i] = 0x1000 + i; /* without a marker it is the user part nevertheless */
    add_program(s, 7, "/p");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_chain_of(s, 7, 11, 0x50, words, 200);
    add_deferred_sample(s, 7, 12, 0x52);
    add_deferred_chain_of(s, 7, 13, 0x52, NULL, 0);
}

TEST(joined_chains_are_as_long_as_is_requested) {
    expect_stacks(add_deep, &(struct profile_request){.max_stack = 3},
                  ":7;/p+1;/p+0;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n",
                  "2 stacks recorded in two parts: 50.0 % complete, 50.0 % truncated by --max-stack, 0.0 % (0) "
                  "without a user part, which was never recorded\n");
    expect_stacks(add_deep, &(struct profile_request){.max_stack = 1},
                  ":7;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n", NULL);
    expect_stacks(add_deep, &(struct profile_request){.max_stack = 2, .from_outermost = true},
                  ":7;/p+c7;/p+c6;[kernel.kallsyms]_text+900010\n:7;[kernel.kallsyms]_text+900010\n", NULL);
}

/* Large enough for two slices. SHARING samples of a thread share a cookie; every fifth chain is missing. */
static void add_many(struct record_builder *s) {
    add_program(s, 1, "/p");
    add_program(s, 2, "/q");
    add_program(s, 3, "/r");
    for (uint64_t i = 0; i < MANY_SAMPLES; i++) {
        const uint32_t tid = 1 + (uint32_t)(i / SHARING % THREADS);
        const uint64_t cookie = i / SHARING / THREADS;
        add_deferred_sample(s, tid, 10 + 2 * i, cookie);
        if (i % SHARING == SHARING - 1 && cookie % 5)
            add_deferred_chain(s, tid, 11 + 2 * i, cookie, PROGRAM_AT + cookie % 7);
    }
}

static void expect_many(const char *text) {
    unsigned seen[THREADS + 1][8] = {{0}}, wanted[THREADS + 1][8] = {{0}};
    for (uint64_t i = 0; i < MANY_SAMPLES; i++) {
        const uint64_t cookie = i / SHARING / THREADS;
        wanted[1 + i / SHARING % THREADS][cookie % 5 ? cookie % 7 : 7]++;
    }
    for (; *text; text = strchr(text, '\n') + 1) {
        const unsigned tid = (unsigned)text[1] - '0';
        assert_true(tid >= 1 && tid <= THREADS);
        if (strncmp(text + 2, ";[kernel", 8) == 0) {
            seen[tid][7]++;
            continue;
        }
        assert_int_equal(text[4], "-pqr"[tid]);
        seen[tid][(text[6] - '0') % 7]++;
    }
    assert_memory_equal(seen, wanted, sizeof seen);
}

TEST(deferred_chains_are_the_same_on_one_thread_and_two) {
    struct record_builder s;
    char notes[2][NOTES_ROOM] = {"", ""};
    begin_deferred(&s, (struct form){.big = false});
    add_many(&s);
    end_deferred(&s, (struct form){.big = false});
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        const struct profile_request request = request_chains(jobs, notes[jobs - 1]);
        char *text = read_stacks(&s, &request);
        expect_many(text);
        free(text);
    }
    assert_string_equal(notes[0], notes[1]);
    free(s.b.bytes);
}

TEST(deferred_chains_leave_nothing_when_an_allocation_fails) {
    char notes[NOTES_ROOM] = "";
    const struct profile_request request = request_chains(1, notes);
    struct record_builder s;
    begin_deferred(&s, (struct form){.big = false});
    add_missing(&s);
    add_deep(&s);
    end_deferred(&s, (struct form){.big = false});
    expect_nothing_left(&s, &request);
    free(s.b.bytes);
}

/* --- The table by itself. */

static struct record_key key_at(const pfr_record *rec) {
    return key_of(rec, number_at(rec, rec->size - 8u, 8));
}

static bool is_there(const struct deferred_chains *d, uint64_t cookie) {
    pfr_u64s rest;
    return deferred_find(d, 7, cookie, &KEY_FIRST, &rest);
}

static pfr_reader *open_rests(struct record_builder *s, uint64_t count) {
    begin_deferred(s, (struct form){.big = false});
    for (uint64_t i = 0; i < count; i++)
        add_deferred_chain(s, 7, 10 + i, i, 0x1000 + i);
    end_deferred(s, (struct form){.big = false});
    return open_built(&s->b, NULL);
}

static bool next_rest(pfr_reader *reader, pfr_record *rec) {
    pfr_error err;
    pfr_status st;
    while ((st = pfr_next(reader, rec, &err)) == PFR_OK)
        if (rec->type == DEFERRED_REST)
            return true;
    assert_int_equal(st, PFR_END);
    return false;
}

TEST(chains_that_were_passed_are_forgotten) {
    struct memory memory;
    struct deferred_chains d;
    struct record_builder s;
    pfr_record rec, old;
    pfr_error err;
    pfr_reader *reader = open_rests(&s, STREAM_LENGTH), *behind = open_built(&s.b, NULL);
    memory_init(&memory, NULL, 0);
    deferred_init(&d, &memory);
    for (uint64_t i = 0; next_rest(reader, &rec); i++) {
        ASSERT_OK(deferred_add(&d, reader, &rec, key_at(&rec), &err), err);
        assert_true(is_there(&d, i));
        if (i < WINDOW)
            continue;
        assert_true(next_rest(behind, &old));
        ASSERT_OK(deferred_pass(&d, behind, &old, key_at(&old), &err), err);
        assert_false(is_there(&d, i - WINDOW));
        assert_true(is_there(&d, i - WINDOW + 1));
        assert_true(d.table.count < STREAM_LENGTH / 2);
    }
    deferred_free(&d);
    assert_int_equal(memory.used, 0);
    pfr_close(behind);
    pfr_close(reader);
    free(s.b.bytes);
}

TEST(chains_that_do_not_fit_are_counted) {
    struct memory memory;
    struct deferred_chains d;
    struct record_builder s;
    pfr_record rec;
    pfr_error err;
    uint64_t found = 0;
    pfr_reader *reader = open_rests(&s, STREAM_LENGTH);
    memory_init(&memory, NULL, 256 << 10);
    deferred_init(&d, &memory);
    assert_false(deferred_met_limit(&d, &err));
    while (next_rest(reader, &rec))
        ASSERT_OK(deferred_add(&d, reader, &rec, key_at(&rec), &err), err);
    for (uint64_t i = 0; i < STREAM_LENGTH; i++)
        found += is_there(&d, i);
    assert_true(deferred_met_limit(&d, &err));
    assert_true(strstr(err.text, "did not fit"));
    assert_true(found > 100 && d.dropped > 100);
    assert_int_equal(found + d.dropped, STREAM_LENGTH);
    assert_true(d.memory.peak <= 64 << 10);
    deferred_free(&d);
    assert_int_equal(memory.used, 0);
    pfr_close(reader);
    free(s.b.bytes);
}

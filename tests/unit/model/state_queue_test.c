/* SPDX-License-Identifier: Apache-2.0 */
/* Changes are applied round by round, and the state must be as if all were sorted first: for a recording with rounds,
 * for one with broken rounds, and for the same records without rounds. */
#include "state_builder.h"

enum { TASKS = 40, STEPS = 4000, IN_A_ROUND = 90, START = 0x1000, LENGTH = 0x100, FINISHED_ROUND = 68 };

enum rounds { NO_ROUNDS, GOOD_ROUNDS, BROKEN_ROUNDS };

/* Two CPUs; the records of one are written half a round after those of the other. */
static uint64_t time_of_step(uint32_t step) {
    return 10 * (uint64_t)step + (step % 2 ? 0 : 5 * IN_A_ROUND);
}

static void add_step(struct record_builder *s, uint32_t step) {
    const uint32_t tid = 100 + step % TASKS, parent = 100 + step / 7 % TASKS;
    const uint64_t time = time_of_step(step);
    char text[32];
    snprintf(text, sizeof text, "/step%u", step);
    if (step % 5 == 0)
        add_fork(s, 0, tid, parent, tid, parent, time);
    else if (step % 5 == 1)
        add_comm(s, step % 3 ? 0 : WITH_EXEC, tid, tid, text + 1, time);
    else
        add_mmap(s, USER_MODE, tid, tid, START + step % 4 * LENGTH / 2, LENGTH, text, time);
}

/* Broken rounds end too early. The record that is applied first has no time, and is the last in the file. */
static struct builder build_steps(enum rounds rounds, bool has_first) {
    struct record_builder s;
    begin_records(&s, TIMED);
    for (uint32_t step = 1; step < STEPS; step++) {
        add_step(&s, step);
        if (rounds != NO_ROUNDS && step % (rounds == BROKEN_ROUNDS ? 2 : IN_A_ROUND) == 0)
            put_head(&s.b, FINISHED_ROUND, 0, 8);
    }
    if (has_first)
        add_mmap(&s, USER_MODE, 100, 100, START, LENGTH, "/first", 0);
    end_file(&s.b);
    return s.b;
}

struct built {
    struct builder b;
    struct memory memory;
    struct state state;
    pfr_reader *reader;
};

static void build(struct built *built, enum rounds rounds, bool has_first) {
    pfr_error err;
    built->b = build_steps(rounds, has_first);
    built->reader = open_built(&built->b, NULL);
    memory_init(&built->memory, NULL, 0);
    ASSERT_OK(state_build(&built->state, built->reader, &built->memory, &err), err);
}

static void drop(struct built *built) {
    state_free(&built->state);
    pfr_close(built->reader);
    free(built->b.bytes);
    assert_int_equal(built->memory.used, 0);
}

static const char *path_at(const struct built *built, uint32_t tid, uint64_t address, struct record_key key) {
    const pfr_record rec = {.misc = USER_MODE};
    struct place place;
    state_place(&built->state, &rec, tid, tid, address, key, &place);
    return place.map ? intern_chars(&built->state.names, built->state.objects.at[place.object].path) : "-";
}

static const char *name_at(struct built *built, uint32_t tid, struct record_key key) {
    uint32_t name;
    pfr_error err;
    ASSERT_OK(state_comm(&built->state, tid, key, &name, &err), err);
    return intern_chars(&built->state.names, name);
}

static void assert_same(struct built *a, struct built *b) {
    for (uint64_t time = 5; time < 10 * (STEPS + IN_A_ROUND); time += 170) {
        for (uint32_t tid = 100; tid < 100 + TASKS; tid++) {
            const struct record_key key = {time, 1, 0};
            assert_string_equal(name_at(a, tid, key), name_at(b, tid, key));
            for (uint64_t address = START; address < START + 3 * LENGTH; address += LENGTH / 2)
                assert_string_equal(path_at(a, tid, address, key), path_at(b, tid, address, key));
        }
    }
}

static void assert_rounds_change_nothing(enum rounds rounds, bool has_first) {
    struct built sorted, by_round;
    build(&sorted, NO_ROUNDS, has_first);
    build(&by_round, rounds, has_first);
    assert_same(&sorted, &by_round);
    assert_true((by_round.state.late > 0) == (rounds == BROKEN_ROUNDS));
    drop(&sorted);
    drop(&by_round);
}

TEST(state_queue_applies_rounds_as_if_all_were_sorted) {
    assert_rounds_change_nothing(GOOD_ROUNDS, false);
}

TEST(state_queue_restarts_if_rounds_are_broken) {
    assert_rounds_change_nothing(BROKEN_ROUNDS, false);
}

TEST(state_queue_restarts_for_state_without_a_time) {
    assert_rounds_change_nothing(GOOD_ROUNDS, true);
}

static void count_call(void *context, const pfr_record *rec) {
    (void)rec;
    ++*(unsigned *)context;
}

/* A watcher gets each change exactly once. */
TEST(state_queue_is_watched_once) {
    struct builder b = build_steps(BROKEN_ROUNDS, true);
    unsigned samples = 0;
    const struct state_watch watch = {.sample = count_call, .context = &samples};
    struct record_builder s = {.b = b, .form = TIMED};
    add_sample(&s, USER_MODE, 100, 100, START, 50);
    end_file(&s.b);
    struct memory memory;
    struct state state;
    pfr_error err;
    pfr_reader *reader = open_built(&s.b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build_watched(&state, reader, &memory, &watch, &err), err);
    assert_int_equal(samples, 1);
    state_free(&state);
    pfr_close(reader);
    free(s.b.bytes);
}

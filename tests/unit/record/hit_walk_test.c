/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that samples hit: for random sequences of forks, execs and overlapping maps, the walk marks the same objects
 * as looking up each sample individually.
 */
#include "../model/state_builder.h"

#include "record/contents/hit_objects.h"

enum { TASKS = 4, PAGES = 3, PAGE_BYTES = 0x1000, RECORDINGS = 300, RECORDS = 40 };

static uint32_t chosen(uint64_t *seed, uint32_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void add_some_record(struct record_builder *s, uint64_t *seed) {
    const uint32_t tid = 7 + chosen(seed, TASKS), other = 7 + chosen(seed, TASKS), time = 10 + chosen(seed, 200);
    const uint64_t page = (uint64_t)PAGE_BYTES * (1 + chosen(seed, PAGES));
    const uint16_t mode = chosen(seed, 4) ? USER_MODE : KERNEL_MODE;
    char path[16];
    snprintf(path, sizeof path, "/lib%u", chosen(seed, 6));
    switch (chosen(seed, 8)) {
    case 0:
        add_mmap(s, mode, tid, tid, page, (uint64_t)PAGE_BYTES * (1 + chosen(seed, 2)), path, time);
        break;
    case 1:
        add_mmap(s, USER_MODE, tid, tid, page, PAGE_BYTES, path, time);
        break;
    case 2:
        add_fork(s, 0, tid, other, tid, other, time);
        break;
    case 3:
        add_comm(s, chosen(seed, 2) ? WITH_EXEC : 0, tid, tid, "name", time);
        break;
    default:
        add_sample(s, mode, other, tid, page + chosen(seed, PAGE_BYTES), time);
    }
}

/* Looks up each sample individually, in the state at its time. */
static uint64_t mark_each(const struct state *state, pfr_reader *reader, bool *hit) {
    uint64_t samples = 0;
    pfr_record rec;
    pfr_error err;
    ASSERT_OK(pfr_rewind(reader, &err), err);
    while (pfr_next(reader, &rec, &err) == PFR_OK) {
        struct place place;
        if (rec.type != PFR_RECORD_SAMPLE)
            continue;
        const struct record_key key = state_key(state, &rec, rec.size < 32 ? 1 : number_at(&rec, 24, 8));
        state_place(state, &rec, (uint32_t)number_at(&rec, 16, 4), (uint32_t)number_at(&rec, 20, 4),
                    number_at(&rec, 8, 8), key, &place);
        if (place.object < state->objects.keys.count)
            hit[place.object] = true;
        samples++;
    }
    return samples;
}

static void check_hits(struct record_builder *s) {
    static struct hit_walk walk;
    bool walked[16] = {false}, each[16] = {false};
    const volatile int stops = 0;
    struct memory memory;
    struct state state;
    pfr_error err;
    end_file(&s->b);
    pfr_reader *const reader = open_built(&s->b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    assert_in_range(state.objects.keys.count, 0, 16);
    walk = (struct hit_walk){.state = &state, .reader = reader, .hit = walked, .objects = state.objects.keys.count};
    ASSERT_OK(pfr_rewind(reader, &err), err);
    ASSERT_OK(hit_walk_run(&walk, &stops, &err), err);
    assert_int_equal(walk.samples, mark_each(&state, reader, each));
    assert_memory_equal(walked, each, sizeof each);
    state_free(&state);
    pfr_close(reader);
    free(s->b.bytes);
}

TEST(objects_hit_are_those_of_each_sample) {
    for (uint64_t number = 0; number < RECORDINGS; number++) {
        uint64_t seed = number * 0x9e3779b97f4a7c15u;
        struct record_builder s;
        begin_records(&s, number % 3 == 2 ? WITHOUT_TIME : number % 3 ? WITHOUT_ID : TIMED);
        for (unsigned i = 0; i < RECORDS; i++)
            add_some_record(&s, &seed);
        check_hits(&s);
    }
}

TEST(samples_span_their_times) {
    static struct hit_walk walk;
    bool hit[4] = {false};
    const volatile int stops = 0;
    struct memory memory;
    struct state state;
    struct record_builder s;
    pfr_error err;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, 1, 30);
    add_sample(&s, USER_MODE, 7, 7, 1, 20);
    add_comm(&s, 0, 7, 7, "name", 5);
    add_sample(&s, USER_MODE, 7, 7, 1, 25);
    end_file(&s.b);
    pfr_reader *const reader = open_built(&s.b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    walk = (struct hit_walk){.state = &state, .reader = reader, .hit = hit, .objects = state.objects.keys.count};
    ASSERT_OK(pfr_rewind(reader, &err), err);
    ASSERT_OK(hit_walk_run(&walk, &stops, &err), err);
    assert_int_equal(walk.first, 20);
    assert_int_equal(walk.last, 30);
    assert_int_equal(walk.samples, 3);
    state_free(&state);
    pfr_close(reader);
    free(s.b.bytes);
}

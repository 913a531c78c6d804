/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time order. A random recording is written as a recorder writes it: each round drains the buffers of some CPUs one
 * after the other, and a buffer may contain records from before the end of the previous round. The result is compared
 * with records that the test sorts, and the state on the way with the state of the whole file. Also late records,
 * records without a time, more records than may wait in memory, and every allocation failing once.
 */
#include "base/memory/sizes.h"
#include "../file/piped_recording.h"
#include "state_builder.h"

#include "../base/failing_alloc.h"
#include "model/timeline/timeline.h"

enum { ROUNDS = 12, CPUS = 3, EACH = 20, ROUND_TIME = 1000, RECORDS = ROUNDS * CPUS * EACH };
enum { FINISHED_ROUND = 68, ANYBODY = 6, SPAN = 0x100 };

/* A record is identified by its number: the address of a sample, the name of a thread, the start of a map. */
struct one {
    uint64_t time;
    unsigned number;
};

struct drawing {
    uint64_t seed;
    struct record_builder built;
    struct one records[RECORDS]; /* in file order */
    unsigned count;
    bool pipe, rounds;
};

static unsigned draw(struct drawing *d, unsigned below) {
    d->seed ^= d->seed << 13;
    d->seed ^= d->seed >> 7;
    d->seed ^= d->seed << 17;
    return (unsigned)(d->seed % below);
}

/* At most a third of the records are state records, so that there are samples to check the state. */
static void draw_record(struct drawing *d, uint64_t time) {
    struct record_builder *s = &d->built;
    const uint32_t pid = 1 + draw(d, ANYBODY), other = 1 + draw(d, ANYBODY);
    char name[16];
    snprintf(name, sizeof name, "n%u", d->count);
    switch (draw(d, 9)) {
    case 0:
        add_comm(s, draw(d, 2) ? WITH_EXEC : 0, pid, pid, name, time);
        break;
    case 1:
        add_fork(s, 0, pid, other, pid, other, time);
        break;
    case 2:
        add_mmap(s, USER_MODE, pid, pid, draw(d, 4) * SPAN, SPAN, name, time);
        break;
    default:
        add_sample(s, USER_MODE, pid, pid, draw(d, 4 * SPAN), time);
    }
    d->records[d->count] = (struct one){time, d->count};
    d->count++;
}

static void draw_buffer(struct drawing *d, unsigned round) {
    uint64_t time = round ? (round - 1) * ROUND_TIME + 1 + draw(d, 2 * ROUND_TIME - 200) : 1;
    for (unsigned i = 0; i < EACH; i++) {
        draw_record(d, time);
        const uint64_t room = (round + 1) * ROUND_TIME - time;
        time += draw(d, room > 20 ? 20 : (unsigned)room + 1);
    }
}

static void draw_recording(struct drawing *d, uint64_t seed, bool pipe, bool rounds) {
    *d = (struct drawing){.seed = seed, .pipe = pipe, .rounds = rounds};
    if (pipe)
        begin_pipe(&d->built.b, 1);
    else
        begin_records(&d->built, TIMED);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned cpu = 0; cpu < CPUS; cpu++)
            draw_buffer(d, round);
        if (rounds)
            put_head(&d->built.b, FINISHED_ROUND, 0, 8);
    }
    if (!pipe)
        end_file(&d->built.b);
}

/* The results of a pass: the times of the waiting records, and the state for every sample, one line each. */
struct given {
    uint64_t times[RECORDS];
    unsigned count, rounds;
    uint64_t late, late_of_state;
    char *seen;
    size_t length;
};

static void see(struct given *g, struct state *state, const pfr_record *rec, struct record_key key) {
    const uint32_t pid = (uint32_t)number_at(rec, 16, 4), tid = (uint32_t)number_at(rec, 20, 4);
    struct place place;
    uint32_t name;
    state_place(state, rec, pid, tid, number_at(rec, 8, 8), key, &place);
    name = thread_name_at(&state->threads, tid, key, false);
    const char *path = place.map ? intern_chars(&state->names, state->objects.at[place.object].path) : "-";
    const int more = snprintf(g->seen + g->length, 64, "%ju %u %s %s\n", (uintmax_t)key.time, tid, path,
                              name == NO_NAME ? "-" : intern_chars(&state->names, name));
    assert_true(more > 0 && more < 64);
    g->length += (size_t)more;
}

/* One record at a time from the batches that the timeline returns. */
struct taking {
    struct timed_record some[7];
    size_t at, count;
};

static pfr_status take(struct timeline *t, struct taking *from, pfr_record *rec, struct record_key *key,
                       pfr_error *err) {
    if (from->at == from->count) {
        from->at = 0;
        const pfr_status st = timeline_next(t, from->some, sizeof from->some / sizeof *from->some, &from->count, err);
        if (st != PFR_OK)
            return st;
    }
    *rec = from->some[from->at].rec;
    *key = from->some[from->at++].key;
    return PFR_OK;
}

static void pass(pfr_reader *r, struct memory *memory, uint64_t wait_most, struct given *g) {
    struct timeline *t;
    struct taking from = {.count = 0};
    struct record_key key;
    pfr_record rec;
    pfr_error err;
    pfr_status st;
    *g = (struct given){.seen = calloc(RECORDS, 64)};
    ASSERT_OK(timeline_open(&t, r, memory, &no_jit, &err), err);
    if (wait_most)
        timeline_wait_most(t, wait_most);
    while ((st = take(t, &from, &rec, &key, &err)) == PFR_OK) {
        g->rounds += rec.type == FINISHED_ROUND;
        if (rec.type >= 64)
            continue;
        g->times[g->count++] = key.time;
        if (rec.type == PFR_RECORD_SAMPLE)
            see(g, timeline_state(t), &rec, key);
    }
    assert_int_equal(st, PFR_END);
    g->late = timeline_late(t);
    g->late_of_state = timeline_state(t)->late;
    timeline_close(t);
}

static void read_drawn(const struct drawing *d, bool piped, uint64_t wait_most, struct given *g) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    pfr_reader *r = piped ? open_piped(&d->built.b) : open_built(&d->built.b, NULL);
    pass(r, &memory, wait_most, g);
    pfr_close(r);
    assert_int_equal(memory.used, 0);
    if (!piped) /* reading only state records gives the same counts */
        assert_int_equal(g->late_of_state, g->late);
}

static int by_time(const void *a, const void *b) {
    const struct one *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->number < y->number ? -1 : 1;
}

static void expect_order(struct drawing *d, const struct given *g) {
    assert_int_equal(g->count, d->count);
    assert_int_equal(g->rounds, d->rounds ? ROUNDS : 0);
    assert_int_equal(g->late, 0);
    qsort(d->records, d->count, sizeof *d->records, by_time);
    for (unsigned i = 0; i < d->count; i++)
        assert_int_equal(g->times[i], d->records[i].time);
}

/* A file, the bytes of a pipe, and a pipe, with rounds or without, waiting in memory or in a temporary file, give the
 * same order and state. */
TEST(timeline_gives_one_order_and_one_state) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        char *first = NULL;
        for (unsigned form = 0; form < 7; form++) {
            const bool pipe = form == 1 || form == 2 || form == 3, rounds = form != 3 && form != 4 && form != 5;
            struct drawing d;
            struct given g;
            draw_recording(&d, seed * 0x9e3779b97f4a7c15u, pipe, rounds);
            read_drawn(&d, form == 2 || form == 3, form == 5 ? 4096 : 0, &g);
            expect_order(&d, &g);
            if (first)
                assert_string_equal(g.seen, first);
            else
                first = strdup(g.seen);
            free(g.seen);
            free(d.built.b.bytes);
        }
        free(first);
    }
}

/* A pipe without rounds: when too many records wait, half of them are returned, and older records that come then are
   late. */
TEST(timeline_returns_all_of_a_pipe_beyond_the_reorder_buffer) {
    struct drawing d;
    struct given g;
    unsigned backwards = 0;
    draw_recording(&d, 12345, true, false);
    read_drawn(&d, true, 8192, &g);
    assert_int_equal(g.count, d.count);
    uint64_t latest = 0;
    for (unsigned i = 0; i < g.count; i++) {
        backwards += g.times[i] < latest;
        latest = g.times[i] > latest ? g.times[i] : latest;
    }
    assert_true(backwards > 0);
    assert_int_equal(g.late, backwards);
    free(g.seen);
    free(d.built.b.bytes);
}

/* Rule 14: a record is two rounds late. It is returned where it is read, and its contents apply from its own time
   on. */
static void add_late(struct record_builder *s) {
    for (unsigned round = 1; round <= 3; round++) {
        add_sample(s, USER_MODE, 7, 7, 0x10, round * 10);
        put_head(&s->b, FINISHED_ROUND, 0, 8);
    }
    add_mmap(s, USER_MODE, 7, 7, 0, SPAN, "late", 15);
    add_sample(s, USER_MODE, 7, 7, 0x10, 40);
}

TEST(timeline_rule_14_late_records_are_counted) {
    struct drawing d = {.count = 0};
    struct given g;
    begin_records(&d.built, TIMED);
    add_late(&d.built);
    end_file(&d.built.b);
    read_drawn(&d, false, 0, &g);
    assert_string_equal(g.seen, "10 7 - -\n20 7 late -\n30 7 late -\n40 7 late -\n");
    assert_int_equal(g.late, 1);
    free(g.seen);
    free(d.built.b.bytes);
    d.built = (struct record_builder){.form = TIMED};
    begin_pipe(&d.built.b, 1);
    add_late(&d.built);
    read_drawn(&d, true, 0, &g);
    assert_string_equal(g.seen, "10 7 - -\n20 7 - -\n30 7 late -\n40 7 late -\n");
    assert_int_equal(g.late, 1);
    free(g.seen);
    free(d.built.b.bytes);
}

/* Records without a time, and those of the recorder, are returned at their position in the file. */
TEST(timeline_returns_records_without_a_time_at_their_place_in_the_file) {
    static const unsigned types[] = {68, 3, 68, 9, 9};
    struct record_builder s;
    struct memory memory;
    struct timeline *t;
    struct taking from = {.count = 0};
    struct record_key key;
    pfr_record rec;
    pfr_error err;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, 0x10, 20);
    put_head(&s.b, FINISHED_ROUND, 0, 8);
    add_comm(&s, 0, 7, 7, "timeless", 0);
    add_sample(&s, USER_MODE, 7, 7, 0x10, 10);
    put_head(&s.b, FINISHED_ROUND, 0, 8);
    end_file(&s.b);
    memory_init(&memory, NULL, 0);
    pfr_reader *r = open_built(&s.b, NULL);
    ASSERT_OK(timeline_open(&t, r, &memory, &no_jit, &err), err);
    for (unsigned i = 0; i < 5; i++) {
        ASSERT_OK(take(t, &from, &rec, &key, &err), err);
        assert_int_equal(rec.type, types[i]);
    }
    assert_int_equal(take(t, &from, &rec, &key, &err), PFR_END);
    timeline_close(t);
    pfr_close(r);
    free(s.b.bytes);
}

/* File order applies if there are no times, or if the first event stores times only in samples. */
TEST(timeline_without_times_is_file_order) {
    struct record_builder s;
    struct memory memory;
    struct timeline *t;
    struct taking from = {.count = 0};
    struct record_key key;
    pfr_record rec;
    pfr_error err;
    begin_records(&s, WITHOUT_ID);
    for (unsigned i = 0; i < 5; i++)
        add_sample(&s, USER_MODE, 7, 7, i, 50 - i);
    end_file(&s.b);
    memory_init(&memory, NULL, 0);
    pfr_reader *r = open_built(&s.b, NULL);
    ASSERT_OK(timeline_open(&t, r, &memory, &no_jit, &err), err);
    for (unsigned i = 0; i < 5; i++) {
        ASSERT_OK(take(t, &from, &rec, &key, &err), err);
        assert_int_equal(number_at(&rec, 8, 8), i);
    }
    timeline_close(t);
    pfr_close(r);
    free(s.b.bytes);
}

static pfr_status run_through(pfr_reader *r, struct memory *memory, uint64_t wait_most, pfr_error *err) {
    struct timeline *t;
    struct taking from = {.count = 0};
    struct record_key key;
    pfr_record rec;
    pfr_status st = timeline_open(&t, r, memory, &no_jit, err);
    if (st < 0)
        return st;
    timeline_wait_most(t, wait_most);
    while ((st = take(t, &from, &rec, &key, err)) == PFR_OK)
        ;
    timeline_close(t);
    return st;
}

TEST(timeline_leaves_nothing_when_an_allocation_fails) {
    static const uint64_t wait_most[] = {4096, SIZE_MOST_order_wait};
    struct failing_alloc failing;
    struct drawing d;
    struct memory memory;
    pfr_error err;
    draw_recording(&d, 777, false, false);
    for (unsigned i = 0; i < 2; i++)
        for (long n = 1;; n++) {
            pfr_reader *r = open_built(&d.built.b, NULL);
            failing_alloc_begin(&failing, n);
            memory_init(&memory, &failing.alloc, 0);
            const pfr_status st = run_through(r, &memory, wait_most[i], &err);
            pfr_close(r);
            assert_int_equal(failing.blocks, 0);
            assert_int_equal(memory.used, 0);
            assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_END);
            if (!failing.has_failed)
                break;
        }
    free(d.built.b.bytes);
}

TEST(timeline_reports_the_folder_that_allows_no_temporary_file) {
    struct drawing d;
    struct memory memory;
    pfr_error err;
    char *const before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    draw_recording(&d, 777, false, false);
    memory_init(&memory, NULL, 0);
    pfr_reader *r = open_built(&d.built.b, NULL);
    setenv("TMPDIR", "/nonexistent", 1);
    const pfr_status st = run_through(r, &memory, 4096, &err);
    before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR");
    free(before);
    assert_int_equal(st, PFR_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent"));
    pfr_close(r);
    free(d.built.b.bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile must agree with looking up each sample individually. The recordings of the state rules are compared where
 * they are built (state_builder.h). Here are random recordings with call chains, in which mappings, names and forks
 * occur between samples of the same address.
 */
#include "profile_failing.h"

enum { CHAINS = 1 << 5, LOW = 0x1000, PAGE = 0x100, RECORDINGS = 300, RECORDS = 120, MANY = 200000 };

static uint64_t random_state;

static uint32_t pick(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static uint64_t some_address(void) {
    return LOW + pick(6) * PAGE + pick(3) * 0x40;
}

/* Chains of the kernel, of the program, of both, without addresses, or with an unknown marker. */
static void put_some_chain(struct record_builder *s, size_t count) {
    static const uint64_t markers[] = {(uint64_t)-128, (uint64_t)-512, (uint64_t)-512, (uint64_t)-32, (uint64_t)-77};
    for (size_t i = 0; i < count; i++)
        put_number(&s->b, pick(4) ? some_address() : markers[pick(pick(20) ? 3 : 5)], 8);
}

static void add_some_sample(struct record_builder *s, uint16_t mode, uint32_t tid, uint64_t time, bool chains) {
    const size_t count = chains ? pick(7) : 0;
    put_head(&s->b, 9, mode, (s->form == WITHOUT_TIME ? 24u : 32u) + (chains ? 8 + 8 * count : 0));
    put_number(&s->b, some_address(), 8);
    put_number(&s->b, tid & ~1u, 4);
    put_number(&s->b, tid, 4);
    if (s->form != WITHOUT_TIME)
        put_number(&s->b, time, 8);
    if (!chains)
        return;
    put_number(&s->b, count, 8);
    put_some_chain(s, count);
}

static void add_some_record(struct record_builder *s, bool chains) {
    static const char *const paths[] = {"/a", "/b", "//anon", "[vdso]", "/lib/modules/m.ko"};
    static const char *const names[] = {"x", "y", "z"};
    const uint32_t tid = 6 + pick(6), other = 6 + pick(6);
    const uint64_t time = pick(40) ? 1 + pick(60) : 0;
    const uint32_t what = pick(20);
    if (what == 0)
        add_mmap(s, KERNEL_MODE, UINT32_MAX, 0, LOW + pick(5) * PAGE, PAGE * (1 + pick(3)),
                 pick(2) ? "[kernel.kallsyms]_text" : paths[4], time);
    else if (what == 1)
        add_ksymbol(s, LOW + pick(5) * PAGE, 0x80, pick(3) == 0, names[pick(3)], time);
    else if (what < 5)
        add_mmap(s, USER_MODE, tid & ~1u, tid, LOW + pick(5) * PAGE, PAGE * (1 + pick(3)), paths[pick(4)], time);
    else if (what < 7)
        add_comm(s, pick(2) ? WITH_EXEC : 0, tid & ~1u, tid, names[pick(3)], time);
    else if (what == 7)
        add_fork(s, 0, tid & ~1u, other & ~1u, tid, other, time);
    else
        add_some_sample(s, pick(4) ? USER_MODE : KERNEL_MODE, tid, time, chains);
}

static void add_random_records(struct record_builder *s, enum record_form form, bool chains, size_t records) {
    begin_records(s, form);
    if (chains)
        set_number(&s->b, s->b.bytes + 104 + 8 + 24, (form == WITHOUT_TIME ? SAMPLE_BITS & ~4u : SAMPLE_BITS) | CHAINS,
                   8);
    for (size_t i = 0; i < records; i++)
        add_some_record(s, chains);
    end_file(&s->b);
}

static void check_random_recordings(bool chains) {
    for (uint32_t i = 0; i < RECORDINGS; i++) {
        struct record_builder s;
        random_state = i;
        add_random_records(&s, (enum record_form)(i % 3), chains, RECORDS);
        pfr_reader *reader = open_built(&s.b, NULL);
        assert_profile_is_right(reader, chains, 1);
        pfr_close(reader);
        free(s.b.bytes);
    }
}

TEST(profile_counts_what_each_sample_says) {
    check_random_recordings(false);
}

TEST(profile_counts_what_each_chain_says) {
    check_random_recordings(true);
}

/* Large enough to be split into slices, each counted by one of several threads. */
TEST(profile_is_the_same_on_any_number_of_threads) {
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        struct record_builder s;
        random_state = 17;
        add_random_records(&s, TIMED, jobs % 2, (uint32_t)FEW_OF(MANY));
        pfr_reader *reader = open_built(&s.b, NULL);
        assert_profile_is_right(reader, jobs % 2, jobs);
        pfr_close(reader);
        free(s.b.bytes);
    }
}

TEST(profile_leaves_nothing_when_an_allocation_fails) {
    const struct profile_request request = {
        .keys = PROFILE_BIT(PROFILE_COMM), .shape = PROFILE_TREE, .names = {.naming = {.no_symbols = true}}};
    struct record_builder s;
    random_state = 5;
    add_random_records(&s, TIMED, true, RECORDS);
    expect_nothing_left(&s, &request);
    free(s.b.bytes);
}

/* --- The memory limit. */

#define PLACES_MANY 300000u

/* One sample for each address. */
static void add_many_places(struct record_builder *s, uint32_t count) {
    begin_records(s, TIMED);
    for (uint32_t i = 0; i < count; i++) {
        if (i % 10000 == 0)
            add_comm(s, 0, 8, 8, "between", 1 + i); /* so that it can be split there */
        add_sample(s, USER_MODE, 7, 7, LOW + 16 * (uint64_t)i, 1 + i);
    }
    end_file(&s->b);
}

static pfr_status load_within(const struct record_builder *s, uint64_t memory, unsigned jobs, pfr_reader **reader,
                              struct profile **p, pfr_error *err) {
    const pfr_limits limits = {.size = sizeof limits, .memory = memory};
    const pfr_open_options options = {.size = sizeof options, .limits = &limits};
    const struct profile_request request = {.keys = PROFILE_BIT(PROFILE_COMM),
                                            .shape = PROFILE_LEAVES,
                                            .jobs = jobs,
                                            .names = {.naming = {.no_symbols = true}}};
    *p = NULL;
    *reader = pfr_open_bytes(s->b.bytes, s->b.length, &options, err);
    return *reader ? profile_load(p, *reader, &request, err) : err->status;
}

/* Existing entries still count, and the rest is counted as [limit]: no weight is lost. */
TEST(profile_keeps_totals_at_the_limit) {
    struct record_builder s;
    pfr_error err;
    uint64_t folded = 0, kept = 0;
    struct profile *p;
    pfr_reader *reader;
    add_many_places(&s, PLACES_MANY);
    ASSERT_OK(load_within(&s, 12 << 20, 0, &reader, &p, &err), err);
    for (uint32_t i = 0; i < p->nr_nodes; i++) {
        const struct profile_frame *f = p->nodes[i].parent == NO_NODE ? NULL : &p->frames[node_frame(&p->nodes[i])];
        const bool is_limit = f && f->text != NO_TEXT && strcmp(intern_chars(&p->texts, f->text), "[limit]") == 0;
        *(is_limit ? &folded : &kept) += node_weight(&p->self, i)->samples;
    }
    assert_int_equal(folded + kept, PLACES_MANY);
    assert_int_equal(folded, p->facts.limited.samples);
    assert_true(folded > 1000 && kept > 1000);
    profile_close(p);
    pfr_close(reader);
    free(s.b.bytes);
}

/* A single thread may fit where several threads do not: limits from where nothing fits to where everything does. */
TEST(profile_at_the_limit_is_the_same_on_any_number_of_threads) {
    struct record_builder s;
    unsigned all = 0, some = 0;
    add_many_places(&s, (uint32_t)FEW_OF(PLACES_MANY));
    for (uint64_t memory = 256 << 10; all == 0; memory += memory / 2) {
        pfr_status status[3];
        uint64_t limited[3] = {0}, nodes[3] = {0};
        for (unsigned jobs = 1; jobs <= 3; jobs++) {
            pfr_error err;
            pfr_reader *reader;
            struct profile *p;
            status[jobs - 1] = load_within(&s, memory, jobs, &reader, &p, &err);
            limited[jobs - 1] = p ? p->facts.limited.samples : 0;
            nodes[jobs - 1] = p ? p->nr_nodes : 0;
            profile_close(p);
            pfr_close(reader);
        }
        for (unsigned i = 1; i < 3; i++) {
            assert_int_equal(status[i], status[0]);
            assert_int_equal(limited[i], limited[0]);
            assert_int_equal(nodes[i], nodes[0]);
        }
        some += limited[0] > 0;
        all += status[0] >= 0 && limited[0] == 0;
    }
    assert_true(some > 3);
    free(s.b.bytes);
}

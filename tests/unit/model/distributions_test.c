/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles compared with a slow second implementation; the error of a sketch; merging; and the values that are
   kept. */
#include "../base/failing_alloc.h"
#include "base/memory/fail.h"
#include "model/latency/distributions.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned ranks[] = {1, 500, 900, 950, 990, 999, 1000};

static uint64_t random_state = 1;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* --- The slow implementation: all values, sorted. */

struct values {
    uint64_t *at;
    size_t count, room;
};

static void keep(struct values *v, uint64_t value) {
    if (v->count == v->room) {
        v->room = v->room ? v->room * 2 : 64;
        v->at = realloc(v->at, v->room * sizeof *v->at);
        assert_non_null(v->at);
    }
    v->at[v->count++] = value;
}

static int by_value(const void *a, const void *b) {
    const uint64_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* The value with rank ceil(n * q); ranks are counted from 1. */
static uint64_t slow_rank(struct values *v, unsigned thousandths) {
    size_t rank = 0;
    qsort(v->at, v->count, sizeof *v->at, by_value);
    while (rank * 1000 < v->count * thousandths)
        rank++;
    return v->at[rank ? rank - 1 : 0];
}

/* --- Comparison. */

static void add(struct distributions *all, uint32_t number, struct values *v, uint64_t value) {
    pfr_error err = {0};
    ASSERT_OK(distributions_add(all, number, value, &err), err);
    keep(v, value);
}

static bool is_near(uint64_t a, uint64_t b, bool exact) {
    const uint64_t far = a > b ? a - b : b - a;
    return exact ? far == 0 : (double)far <= SPREAD_ERROR * (double)b;
}

static void expect_same(const struct distributions *all, uint32_t number, struct values *v) {
    const struct distribution *s = &all->at[number];
    struct distribution_list list;
    pfr_error err = {0};
    ASSERT_OK(distribution_list(all, number, &list, &err), err);
    assert_int_equal(list.total, v->count);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const uint64_t slow = slow_rank(v, ranks[i]), fast = distribution_rank(&list, ranks[i]);
        if (!is_near(fast, slow, distribution_is_exact(s)))
            fail_msg("rank %u of %zu values is %" PRIu64 ", not %" PRIu64, ranks[i], v->count, fast, slow);
    }
    uint64_t values[sizeof ranks / sizeof *ranks];
    ASSERT_OK(distribution_ranks(all, number, ranks, sizeof ranks / sizeof *ranks, values, &err), err);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        assert_int_equal(values[i], distribution_rank(&list, ranks[i]));
    assert_int_equal(s->low, v->at[0]);
    assert_int_equal(s->high, v->at[v->count - 1]);
    distribution_list_free(all, &list);
}

struct bench {
    struct memory memory;
    struct distributions all;
};

static void begin(struct bench *b, uint32_t distributions) {
    memory_init(&b->memory, NULL, 0);
    distributions_init(&b->all, &b->memory);
    for (uint32_t i = 0; i < distributions; i++)
        assert_int_equal(distributions_new(&b->all, NULL), PFR_OK);
}

static void end(struct bench *b) {
    distributions_free(&b->all);
    assert_int_equal(b->memory.used, 0);
}

TEST(percentiles_of_few_values_are_exact) {
    for (unsigned count = 1; count < 60; count++) {
        struct bench b;
        struct values v = {0};
        begin(&b, 1);
        for (unsigned i = 0; i < count; i++)
            add(&b.all, 0, &v, next_random() >> next_random() % 64);
        assert_true(distribution_is_exact(&b.all.at[0]));
        expect_same(&b.all, 0, &v);
        free(v.at);
        end(&b);
    }
}

TEST(distributions_are_exact_up_to_the_bound_and_sketched_beyond) {
    struct bench b;
    struct values v = {0};
    begin(&b, 1);
    for (uint64_t i = 0; i < SPREAD_MOST; i++)
        add(&b.all, 0, &v, i * i);
    assert_true(distribution_is_exact(&b.all.at[0]));
    expect_same(&b.all, 0, &v);
    add(&b.all, 0, &v, 7 << 20);
    assert_false(distribution_is_exact(&b.all.at[0]));
    assert_int_equal(b.all.charged, SPREAD_MOST);
    expect_same(&b.all, 0, &v);
    assert_true(b.memory.used < 80 << 10); /* one slab of tables */
    free(v.at);
    end(&b);
}

TEST(a_sketch_is_never_farther_off_than_it_says) {
    for (unsigned shape = 0; shape < 8; shape++) {
        struct bench b;
        struct values v = {0};
        begin(&b, 1);
        for (unsigned i = 0; i < 140000; i++)
            add(&b.all, 0, &v, next_random() >> (shape * 8 + next_random() % 8) % 48);
        assert_false(distribution_is_exact(&b.all.at[0]));
        expect_same(&b.all, 0, &v);
        free(v.at);
        end(&b);
    }
}

/* The bucket of a value among four values, at any position. */
static void expect_four(uint32_t value) {
    const uint32_t values[] = {value, value / 3, value ^ 1, value};
    uint32_t buckets[4];
    distribution_four_buckets(values, buckets);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(buckets[i], distribution_bucket(values[i]));
}

TEST(every_bucket_has_its_values_near_its_middle) {
    uint64_t before = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int i = -300; i <= 300; i++) {
            const uint64_t value = ((uint64_t)1 << bit) + (uint64_t)i;
            assert_true(is_near(distribution_middle(distribution_bucket(value)), value, value <= 255));
            expect_four((uint32_t)value & INT32_MAX);
        }
    for (uint32_t bucket = 0; bucket < SPREAD_BUCKETS; bucket++) {
        assert_int_equal(distribution_bucket(distribution_middle(bucket)), bucket);
        assert_true(bucket == 0 || distribution_middle(bucket) > before);
        before = distribution_middle(bucket);
    }
    assert_int_equal(distribution_bucket(UINT64_MAX), SPREAD_BUCKETS - 1);
}

TEST(four_buckets_at_once_are_those_of_each) {
    for (unsigned i = 0; i < 300000; i++)
        expect_four((uint32_t)(next_random() >> (33 + i % 31)));
}

/* --- Large numbers. */

TEST(more_than_32_bits_of_values_are_counted) {
    struct bench b;
    struct distribution_list list;
    begin(&b, 2);
    for (uint64_t i = 0; i < SPREAD_MOST + 1; i++)
        assert_int_equal(distributions_add(&b.all, 0, 3, NULL), PFR_OK);
    while (b.all.at[0].count < (uint64_t)9 << 32) /* merged with itself repeatedly */
        assert_int_equal(distributions_merge(&b.all, 0, &b.all, 0, NULL), PFR_OK);
    assert_non_null(b.all.at[0].big);
    const uint64_t count = b.all.at[0].count;
    const uint32_t more[] = {3, 70000, 3};
    assert_int_equal(distributions_add_many(&b.all, 0, &(struct distribution_many){more, 3, 3, 70000}, NULL), PFR_OK);
    assert_int_equal(distributions_add(&b.all, 0, (uint64_t)1 << 40, NULL), PFR_OK);
    assert_int_equal(distributions_merge(&b.all, 1, &b.all, 0, NULL), PFR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(distribution_list(&b.all, i, &list, NULL), PFR_OK);
        assert_int_equal(list.count, 3);
        assert_int_equal(list.total, count + 4);
        assert_int_equal(list.at[0].what, 3);
        assert_int_equal(list.at[0].count, count + 2);
        assert_true(is_near(list.at[1].what, 70000, false));
        assert_int_equal(list.at[2].what, (uint64_t)1 << 40);
        distribution_list_free(&b.all, &list);
    }
    end(&b);
}

static uint32_t least_of(const uint32_t *values, uint32_t count) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

static uint32_t greatest_of(const uint32_t *values, uint32_t count) {
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < count; i++)
        greatest = values[i] > greatest ? values[i] : greatest;
    return greatest;
}

TEST(many_at_once_are_as_one_by_one) {
    struct bench b;
    struct values v = {0};
    uint32_t values[29];
    begin(&b, 1);
    for (unsigned round = 0; round < 9000; round++) {
        for (unsigned i = 0; i < 29; i++) {
            values[i] = (uint32_t)next_random() >> (round / 300);
            keep(&v, values[i]);
        }
        const struct distribution_many many = {values, 29, least_of(values, 29), greatest_of(values, 29)};
        assert_int_equal(distributions_add_many(&b.all, 0, &many, NULL), PFR_OK);
        if (round == 600 || round == 8999) {
            assert_int_equal(distribution_is_exact(&b.all.at[0]), round == 600);
            expect_same(&b.all, 0, &v);
        }
    }
    free(v.at);
    end(&b);
}

/* --- Many distributions. */

TEST(where_all_together_are_too_many_values_the_widest_lose_exactness_first) {
    struct bench b;
    struct values v = {0};
    begin(&b, 40);
    for (uint32_t i = 0; i < 40; i++)
        for (uint64_t k = 0; k < (i < 20 ? 100 : 30000); k++)
            distributions_add(&b.all, i, k << 10, NULL);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(distribution_is_exact(&b.all.at[i]), i < 20);
    assert_true(b.all.charged <= SPREADS_MOST);
    assert_int_equal(b.all.most, 20736);
    free(v.at);
    end(&b);
}

TEST(few_values_are_exact_however_many_distributions_there_are) {
    struct bench b;
    begin(&b, 700);
    for (uint64_t k = 0; k <= SPREAD_LEAST; k++)
        for (uint32_t i = 0; i < 700; i++)
            if (k < SPREAD_LEAST || i % 2)
                assert_int_equal(distributions_add(&b.all, i, k, NULL), PFR_OK);
    assert_int_equal(b.all.most, SPREAD_LEAST);
    assert_int_equal(b.all.charged, 700 * SPREAD_LEAST);
    for (uint32_t i = 0; i < 700; i++)
        assert_int_equal(distribution_is_exact(&b.all.at[i]), i % 2 == 0);
    end(&b);
}

/* --- Merging. */

/* The contents of all distributions as text. */
static char *text_of(const struct distributions *all) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "most %u charged %" PRIu64 "\n", all->most, all->charged);
    for (uint32_t i = 0; i < all->count; i++) {
        struct distribution_list list;
        assert_int_equal(distribution_list(all, i, &list, NULL), PFR_OK);
        fprintf(out, "%u %d %" PRIu64 " %" PRIu64, i, !distribution_is_exact(&all->at[i]), all->at[i].low,
                all->at[i].high);
        for (uint32_t k = 0; k < list.count; k++)
            fprintf(out, " %" PRIu64 "*%" PRIu64, list.at[k].what, list.at[k].count);
        fprintf(out, "\n");
        distribution_list_free(all, &list);
    }
    fclose(out);
    return text;
}

#define KEYS 60u

/* Draws values: some keys get few values, some many. The number of values determines how many distributions are exact.
 */
static void draw_values(uint64_t seed, size_t values, void (*take)(void *context, uint32_t key, uint64_t value),
                        void *context) {
    random_state = seed;
    for (size_t i = 0; i < values; i++) {
        const uint32_t key = (uint32_t)(next_random() % KEYS);
        take(context, key, next_random() % ((uint64_t)20 << key % 20) << (key % 25 == 24 ? 20 : 0));
    }
}

struct workers {
    struct bench benches[5];
    unsigned count;
    uint64_t taken;
};

static void take(void *context, uint32_t key, uint64_t value) {
    struct workers *workers = context;
    struct distributions *all = &workers->benches[workers->taken++ * 7 % 11 % workers->count].all;
    assert_int_equal(distributions_add(all, key, value, NULL), PFR_OK);
}

/* The distributions that this number of workers makes, merged; count 1: nothing is merged. */
static char *merged(uint64_t seed, size_t values, unsigned count, bool backwards) {
    struct workers workers = {.count = count};
    struct bench sum;
    begin(&sum, KEYS);
    for (unsigned i = 0; i < count; i++)
        begin(&workers.benches[i], KEYS);
    draw_values(seed, values, take, &workers);
    for (unsigned i = 0; i < count; i++) {
        const struct distributions *from = &workers.benches[backwards ? count - 1 - i : i].all;
        assert_int_equal(distributions_merge_begin(&sum.all, from, NULL), PFR_OK);
        for (uint32_t k = 0; k < KEYS; k++)
            assert_int_equal(distributions_merge(&sum.all, k, from, k, NULL), PFR_OK);
    }
    char *text = text_of(count == 1 ? &workers.benches[0].all : &sum.all);
    for (unsigned i = 0; i < count; i++)
        end(&workers.benches[i]);
    end(&sum);
    return text;
}

TEST(merged_distributions_are_those_that_one_would_have_filled) {
    static const size_t sizes[] = {100, 20000, 600000, 1400000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *one = merged(i + 1, sizes[i], 1, false);
        for (unsigned workers = 2; workers <= 5; workers++) {
            char *several = merged(i + 1, sizes[i], workers, workers % 2);
            assert_string_equal(several, one);
            free(several);
        }
        free(one);
    }
}

/* --- Memory that runs out. */

static pfr_status fill_all(struct distributions *all, pfr_error *err) {
    PFR_TRY(distributions_new(all, err));
    PFR_TRY(distributions_new(all, err));
    for (uint64_t i = 0; i < SPREAD_MOST + 100; i++)
        PFR_TRY(distributions_add(all, i % 7 == 0, i << 8, err));
    PFR_TRY(distributions_merge(all, 0, all, 1, err));
    struct distribution_list list;
    PFR_TRY(distribution_list(all, 0, &list, err));
    distribution_list_free(all, &list);
    return PFR_OK;
}

TEST(each_allocation_of_distributions_fails_once) {
    long count = 1;
    for (long n = 0; n <= count; n++) {
        struct failing_alloc failing;
        struct memory memory;
        struct distributions all;
        pfr_error err = {0};
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        distributions_init(&all, &memory);
        const pfr_status st = fill_all(&all, &err);
        count = n ? count : failing.requests;
        assert_int_equal(st, n ? PFR_ERR_MEMORY : PFR_OK);
        assert_int_equal(err.status, n ? PFR_ERR_MEMORY : PFR_OK);
        distributions_free(&all);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
    }
    assert_true(count > 15);
}

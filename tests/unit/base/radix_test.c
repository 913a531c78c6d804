/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting by one number, compared with a comparison sort. */
#include "base/tables/radix.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MOST 20000

static int by_key_and_value(const void *a, const void *b) {
    const struct radix_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 31;
}

static void assert_sorts(const struct radix_item *given, size_t count) {
    static struct radix_item items[MOST], spare[MOST], expected[MOST];
    memcpy(items, given, count * sizeof *items);
    memcpy(expected, given, count * sizeof *items);
    const struct radix_item *sorted = radix_sort(items, spare, count);
    qsort(expected, count, sizeof *expected, by_key_and_value);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sorted[i].key, expected[i].key);
        assert_int_equal(sorted[i].value, expected[i].value);
    }
}

static void assert_sorts_random(uint64_t mask, size_t count, uint64_t *seed) {
    static struct radix_item given[MOST];
    for (size_t i = 0; i < count; i++)
        given[i] = (struct radix_item){next_random(seed) & mask, (uint32_t)i};
    assert_sorts(given, count);
}

/* Sorted runs of random lengths, with keys that occur in several runs. */
static void assert_sorts_runs(unsigned runs, size_t count, uint64_t *seed) {
    static struct radix_item given[MOST];
    size_t at = 0;
    for (unsigned run = 1; run <= runs; run++) {
        const size_t end = run == runs ? count : at + next_random(seed) % (count - at + 1);
        for (uint64_t key = next_random(seed) % 100; at < end; at++, key += next_random(seed) % 3)
            given[at] = (struct radix_item){key, (uint32_t)at};
    }
    assert_sorts(given, count);
}

TEST(radix_sort_keeps_equal_ones_in_order) {
    static const uint64_t masks[] = {
        0, 1, 0xff, 0xf00f, 0xffffff, 0x8000000000000001u, 0xffffffff00000000u, 0x00ff00ff00ff00ffu, UINT64_MAX};
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 1000, 4095, 4096, MOST};
    uint64_t seed = 1;
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            assert_sorts_random(masks[m], counts[c], &seed);
}

TEST(radix_sort_merges_what_is_in_order) {
    uint64_t seed = 2;
    for (unsigned round = 0; round < 20; round++)
        for (unsigned runs = 1; runs <= 10; runs++)
            assert_sorts_runs(runs, 32 + next_random(&seed) % 500, &seed);
}

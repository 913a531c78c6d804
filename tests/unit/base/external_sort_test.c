/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting rows in memory and with a temporary file, compared with a stable sort by insertion. */
#include "base/io/external_sort.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MOST 700

struct row {
    uint64_t number; /* in the order of adding */
    uint64_t major;
    uint32_t minor, other;
};

static struct sort_key key_of(const void *at) {
    const struct row *row = at;
    return (struct sort_key){row->major, row->minor};
}

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed ^ *seed >> 31;
}

static bool is_after(const struct row *a, const struct row *b) {
    return a->major != b->major ? a->major > b->major : a->minor > b->minor;
}

static void sort_by_insertion(struct row *rows, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t at = i; at > 0 && is_after(&rows[at - 1], &rows[at]); at--) {
            const struct row row = rows[at];
            rows[at] = rows[at - 1];
            rows[at - 1] = row;
        }
}

/* Reads half of the rows, then all of them from the start. */
static void assert_reads(struct external_sort *sort, const struct row *expected, size_t count) {
    const void *row;
    pfr_error err;
    for (size_t end = count / 2; end <= count; end += count ? (count + 1) / 2 : 1) {
        ASSERT_OK(external_sort_begin(sort, &err), err);
        for (size_t i = 0; i < end; i++) {
            ASSERT_OK(external_sort_next(sort, &row, &err), err);
            assert_memory_equal(row, &expected[i], sizeof *expected);
        }
    }
    ASSERT_OK(external_sort_begin(sort, &err), err);
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(external_sort_next(sort, &row, &err), err);
    assert_int_equal(external_sort_next(sort, &row, &err), PFR_END);
    assert_int_equal(external_sort_next(sort, &row, &err), PFR_END);
}

static void assert_sorts(struct external_sort *sort, size_t count, uint64_t mask, uint64_t *seed) {
    static struct row rows[MOST];
    pfr_error err;
    external_sort_clear(sort);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct row){i, next_random(seed) & mask, (uint32_t)(next_random(seed) & mask & 3), 7};
        ASSERT_OK(external_sort_add(sort, &rows[i], &err), err);
    }
    assert_int_equal(sort->count, count);
    sort_by_insertion(rows, count);
    assert_reads(sort, rows, count);
}

TEST(external_sort_is_stable_in_memory_and_in_a_file) {
    static const uint64_t masks[] = {0, 1, 0xff, 0xffff0000ffff0003u, UINT64_MAX};
    static const size_t mosts[] = {1, 2, 16, 17, 100, MOST - 1, MOST, MOST + 1}, counts[] = {0, 1, 2, 33, 200, MOST};
    uint64_t seed = 1;
    for (size_t m = 0; m < sizeof mosts / sizeof *mosts; m++) {
        struct memory memory;
        struct external_sort sort;
        memory_init(&memory, NULL, 0);
        external_sort_init(&sort, &(struct external_sort_of){&memory, sizeof(struct row), mosts[m], key_of});
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
                assert_sorts(&sort, counts[c], masks[k], &seed);
        external_sort_free(&sort);
        assert_int_equal(memory.used, 0);
    }
}

static void add_rows(struct external_sort *sort, size_t count) {
    pfr_error err;
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(external_sort_add(sort, &(struct row){i, i * 2654435761u % 1000003, 0, 7}, &err), err);
}

TEST(external_sort_takes_no_more_memory_for_more_rows) {
    uint64_t peaks[2];
    for (size_t i = 0; i < 2; i++) {
        struct memory memory;
        struct external_sort sort;
        pfr_error err;
        memory_init(&memory, NULL, 0);
        external_sort_init(&sort, &(struct external_sort_of){&memory, sizeof(struct row), 2000, key_of});
        add_rows(&sort, i ? 100000 : 10000);
        ASSERT_OK(external_sort_begin(&sort, &err), err);
        external_sort_free(&sort);
        peaks[i] = memory.peak;
    }
    assert_true(peaks[1] < peaks[0] + 8192); /* runs and their keys */
}

TEST(external_sort_reports_the_memory_limit) {
    struct memory memory;
    struct external_sort sort;
    pfr_error err;
    memory_init(&memory, NULL, 20000);
    external_sort_init(&sort, &(struct external_sort_of){&memory, sizeof(struct row), 1000, key_of});
    pfr_status st = PFR_OK;
    for (size_t i = 0; i < 1000 && st >= 0; i++)
        st = external_sort_add(&sort, &(struct row){i, i, 0, 7}, &err);
    assert_int_equal(st, PFR_ERR_LIMIT);
    external_sort_free(&sort);
    assert_int_equal(memory.used, 0);
}

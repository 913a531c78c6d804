/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of waits by key: rows in the order in which keys came first, whatever waits to be added. */
#include "../test.h"

#include "view/offcpu/offcpu_sums.h"

enum { KEYS = 2000 };

static void add(struct offcpu_sums *s, uint32_t thread, uint64_t ns) {
    struct offcpu_sum_row *row = offcpu_sums_next(s);
    row->key.thread = thread;
    row->key.address = thread / 2;
    row->sum = (struct offcpu_sum){.ns = ns, .max = ns, .count = 1};
    assert_int_equal(offcpu_sums_add(s, NULL), PFR_OK);
}

TEST(waits_are_summed_by_key_in_the_order_of_first_waits) {
    struct memory memory;
    struct offcpu_sums s;
    memory_init(&memory, NULL, 0);
    offcpu_sums_init(&s, &memory);
    for (uint32_t i = 0; i < KEYS; i++) {
        add(&s, i, 10);
        add(&s, i / 3, 7 + i % 3);
    }
    assert_int_equal(offcpu_sums_settle(&s, NULL), PFR_OK);
    assert_int_equal(s.count, KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        const struct offcpu_sum_row *row = &s.rows[i];
        const uint64_t more = i < KEYS / 3 ? 3 : i == KEYS / 3 ? KEYS % 3 : 0;
        assert_int_equal(row->key.thread, i);
        assert_int_equal(row->sum.count, 1 + more);
        assert_int_equal(row->sum.ns, 10 + 7 * more + more * (more - 1) / 2 * (more > 0));
        assert_int_equal(row->sum.max, 10);
    }
    offcpu_sums_free(&s);
    assert_int_equal(memory.used, 0);
}

TEST(a_row_that_is_not_added_leaves_no_trace) {
    struct memory memory;
    struct offcpu_sums s;
    memory_init(&memory, NULL, 0);
    offcpu_sums_init(&s, &memory);
    offcpu_sums_next(&s)->key.thread = 5;
    add(&s, 6, 1);
    assert_int_equal(offcpu_sums_settle(&s, NULL), PFR_OK);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.rows[0].key.thread, 6);
    offcpu_sums_free(&s);
    assert_int_equal(memory.used, 0);
}

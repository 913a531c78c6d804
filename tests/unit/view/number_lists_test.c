/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in several lists: every number is in its list, in order. */
#include "test.h"
#include "view/report/fields/number_lists.h"

#define LISTS 7u

static uint32_t by_square(const void *context, uint32_t number) {
    (void)context;
    return number * number % LISTS;
}

static void assert_lists(uint32_t count) {
    struct memory memory;
    struct number_lists lists;
    uint32_t seen = 0;
    memory_init(&memory, NULL, 0);
    assert_int_equal(number_lists_make(&lists, &memory, count, LISTS, by_square, NULL, NULL), PFR_OK);
    assert_int_equal(lists.starts[0], 0);
    for (uint32_t list = 0; list < LISTS; list++)
        for (uint32_t i = lists.starts[list]; i < lists.starts[list + 1]; i++, seen++) {
            assert_int_equal(by_square(NULL, lists.at[i]), list);
            assert_true(i == lists.starts[list] || lists.at[i - 1] < lists.at[i]);
        }
    assert_int_equal(seen, count);
    number_lists_free(&lists, &memory);
    assert_int_equal(memory.used, 0);
}

TEST(number_lists_hold_every_number_once) {
    assert_lists(0);
    assert_lists(1);
    assert_lists(1000);
}

TEST(number_lists_are_empty_without_memory) {
    struct memory memory;
    struct number_lists lists;
    memory_init(&memory, NULL, 4096);
    assert_int_equal(number_lists_make(&lists, &memory, 1000, 500, by_square, NULL, NULL), PFR_ERR_LIMIT);
    assert_null(lists.starts);
    assert_int_equal(memory.used, 0);
}

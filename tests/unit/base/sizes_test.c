/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes set by name and at random, and the seed of hash tables. */
#include "base/memory/sizes.h"
#include "test.h"

#include <perfray/debug.h>
#include <string.h>

#include "base/tables/hash_seed.h"

static void assert_refuses(const char *text, const char *why) {
    pfr_error err;
    const struct sizes before = sizes;
    assert_int_equal(pfr_debug_sizes(text, &err), PFR_ERR_USAGE);
    assert_non_null(strstr(err.text, why));
    assert_memory_equal(&before, &sizes, sizeof sizes);
}

TEST(sizes_are_set_by_name) {
    assert_int_equal(pfr_debug_sizes("reader-part=4096,slice=1", NULL), PFR_OK);
    assert_int_equal(sizes.parallel_reader_part, 4096);
    assert_int_equal(sizes.slice, 1);
    assert_int_equal(sizes.input_chunk, SIZE_MOST_input_chunk);
    assert_int_equal(pfr_debug_sizes("table-slots=1000", NULL), PFR_OK);
    assert_int_equal(sizes.table_slots, 512);
    assert_int_equal(sizes.slice, SIZE_MOST_slice);
    assert_int_equal(pfr_debug_sizes("", NULL), PFR_OK);
    assert_int_equal(sizes.table_slots, SIZE_MOST_table_slots);
}

TEST(sizes_out_of_range_are_refused) {
    assert_refuses("slice=1,nonsense=2", "'nonsense'");
    assert_refuses("slice", "slice takes a number from 1 to");
    assert_refuses("slice=", "slice takes");
    assert_refuses("slice=0", "slice takes");
    assert_refuses("slice=1k", "slice takes");
    assert_refuses("slice=4194305", "to 4194304");
    assert_refuses("slice=99999999999999999999", "slice takes");
    assert_refuses("reader-part=4095", "from 4096");
}

TEST(drawn_sizes_can_be_set_again) {
    char text[SIZES_TEXT_ROOM];
    for (unsigned number = 1; number < 500; number++) {
        sizes_draw(number, text);
        const struct sizes drawn = sizes;
        assert_true(strlen(text) < SIZES_TEXT_ROOM - 1);
        assert_int_equal(sizes_set(text, NULL), PFR_OK);
        assert_memory_equal(&drawn, &sizes, sizeof sizes);
        sizes_draw(number, NULL);
        assert_memory_equal(&drawn, &sizes, sizeof sizes);
    }
    sizes_draw(0, text);
    assert_string_equal(text, "");
    assert_int_equal(sizes.slice, SIZE_MOST_slice);
}

TEST(tables_of_another_size_hash_differently) {
    pfr_debug_hash_seed(7);
    const uint64_t first = table_seed(16);
    assert_int_not_equal(first, table_seed(32));
    pfr_debug_hash_seed(8);
    assert_int_not_equal(first, table_seed(16));
}

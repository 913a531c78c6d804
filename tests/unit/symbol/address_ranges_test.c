/* SPDX-License-Identifier: Apache-2.0 */
/* Nested ranges are split into pieces, and the result is compared with checking every range for every address. */
#include "symbol/dwarf/address_ranges.h"
#include "scratch_file.h"
#include "base/failing_alloc.h"

#define ADDRESSES 64u

static uint32_t next_random(uint32_t *seed) {
    return *seed = *seed * 1103515245u + 12345u, *seed >> 16;
}

static uint32_t highest_at(const struct range_list *list, uint64_t address) {
    uint32_t value = RANGE_NONE, rank = 0;
    for (size_t i = 0; i < list->count; i++)
        if (address >= list->at[i].from && address < list->at[i].end &&
            (value == RANGE_NONE || list->at[i].rank > rank)) {
            value = list->at[i].value;
            rank = list->at[i].rank;
        }
    return value;
}

static void add_some(struct range_list *list, struct memory *memory, uint32_t *seed) {
    const uint32_t count = next_random(seed) % 12;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t from = next_random(seed) % ADDRESSES;
        const struct address_range range = {from, from + next_random(seed) % 24, i, next_random(seed) % 4};
        assert_result_is(range_add(list, memory, range), SYMBOL_FOUND);
    }
}

static void check_pieces(const struct range_list *list, const struct range_map *map) {
    uint64_t from, end;
    for (uint64_t address = 0; address < 2 * ADDRESSES; address++) {
        const uint32_t value = range_find(map, address, &from, &end);
        assert_int_equal(value, highest_at(list, address));
        assert_true(from <= address && address < end);
        for (uint64_t at = from; at < end && at < 2 * ADDRESSES; at++)
            assert_int_equal(highest_at(list, at), value);
    }
}

TEST(address_ranges_match_a_linear_search) {
    uint32_t seed = 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct memory memory;
        struct range_list list = {.left = 100};
        struct range_map map;
        memory_init(&memory, NULL, 0);
        add_some(&list, &memory, &seed);
        assert_result_is(ranges_flatten(&list, &memory, &map), SYMBOL_FOUND);
        check_pieces(&list, &map);
        range_map_free(&map, &memory);
        range_list_free(&list, &memory);
        assert_int_equal(memory.used, 0);
    }
}

TEST(address_ranges_have_a_limit) {
    struct memory memory;
    struct range_list list = {.left = 2};
    memory_init(&memory, NULL, 0);
    assert_result_is(range_add(&list, &memory, (struct address_range){1, 2, 0, 0}), SYMBOL_FOUND);
    assert_result_is(range_add(&list, &memory, (struct address_range){2, 2, 0, 0}), SYMBOL_FOUND);
    assert_result_is(range_add(&list, &memory, (struct address_range){1, 2, 0, 0}), SYMBOL_FOUND);
    assert_result_is(range_add(&list, &memory, (struct address_range){1, 2, 0, 0}), SYMBOL_LIMIT);
    range_list_free(&list, &memory);
    assert_int_equal(memory.used, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Content ids: equal for equal pieces on every host, different for different pieces. */
#include "../test.h"

#include "store/store_parts.h"

#include <string.h>

static uint64_t hash_of(const char *one, const char *two, uint64_t number) {
    struct store_hash h;
    store_hash_begin(&h);
    store_hash_bytes(&h, one, strlen(one));
    store_hash_bytes(&h, two, strlen(two));
    store_hash_number(&h, number);
    return store_hash_end(&h);
}

TEST(hashes_depend_on_every_piece_and_where_it_ends) {
    const uint64_t hash = hash_of("ab", "c", 7);
    assert_true(hash == hash_of("ab", "c", 7));
    assert_true(hash != hash_of("a", "bc", 7));
    assert_true(hash != hash_of("abc", "", 7));
    assert_true(hash != hash_of("c", "ab", 7));
    assert_true(hash != hash_of("ab", "c", 8));
    assert_true(hash_of("", "", 0) != 0);
}

TEST(hashes_of_many_numbers_are_distinct_and_never_zero) {
    enum { COUNT = 20000 };
    struct memory memory;
    struct u64_map seen;
    memory_init(&memory, NULL, 0);
    u64_map_init(&seen, &memory);
    for (uint64_t i = 0; i < COUNT; i++) {
        bool is_new;
        const uint64_t hash = hash_of("f", "", i);
        assert_true(hash != 0);
        assert_non_null(u64_map_at(&seen, hash, i, &is_new));
        assert_true(is_new);
    }
    u64_map_free(&seen);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: each column keeps its width, texts and lists are copied, a batch is full at a number of rows or of bytes. */
#include "../test.h"

#include "store/store_columns.h"

#include <string.h>

TEST(columns_keep_values_of_every_kind) {
    struct memory memory;
    struct store_columns c;
    pfr_error err;
    char text[] = "libc";
    uint64_t list[] = {UINT64_MAX, 0, 7};
    memory_init(&memory, NULL, 0);
    assert_int_equal(store_columns_open(&c, STORE_TABLE_object, &memory, &err), PFR_OK);
    for (uint64_t i = 0; i < 3; i++) {
        store_columns_number(&c, 0, UINT64_MAX - i);
        assert_int_equal(store_columns_text(&c, 1, text, i, &err), PFR_OK);
        assert_int_equal(store_columns_text(&c, 2, "", 0, &err), PFR_OK);
        store_columns_number(&c, 4, 250 + i);
        store_columns_number(&c, 6, UINT32_MAX - i);
        assert_false(store_columns_next(&c));
    }
    text[0] = 'X'; /* the batch has its own copy */
    const struct store_batch *b = store_columns_batch(&c);
    assert_int_equal(b->rows, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(store_u64(b, 0, i) == UINT64_MAX - i);
        assert_int_equal(store_u8(b, 4, i), 250 + i);
        assert_true(store_u32(b, 6, i) == UINT32_MAX - i);
        assert_true(store_number_at(c.table, b, 6, i) == UINT32_MAX - i);
        assert_int_equal(store_text_at(b, 1, i).length, i);
        assert_memory_equal(store_text_at(b, 1, i).bytes, "libc", i);
    }
    store_columns_close(&c);
    assert_int_equal(store_columns_open(&c, STORE_TABLE_stack, &memory, &err), PFR_OK);
    assert_int_equal(store_columns_list(&c, 3, list, 3, &err), PFR_OK);
    list[0] = 1;
    store_columns_next(&c);
    assert_int_equal(store_list_at(store_columns_batch(&c), 3, 0).count, 3);
    assert_true(store_list_at(store_columns_batch(&c), 3, 0).at[0] == UINT64_MAX);
    store_columns_close(&c);
    assert_int_equal(memory.used, 0);
}

TEST(columns_are_full_by_rows_or_by_bytes) {
    static char text[1 << 20];
    struct memory memory;
    struct store_columns c;
    pfr_error err;
    uint32_t rows = 1;
    memory_init(&memory, NULL, 0);
    assert_int_equal(store_columns_open(&c, STORE_TABLE_comm, &memory, &err), PFR_OK);
    while (!store_columns_next(&c))
        rows++;
    assert_int_equal(rows, STORE_BATCH_ROWS);
    store_columns_clear(&c);
    assert_int_equal(store_columns_batch(&c)->rows, 0);
    for (rows = 1;; rows++) {
        assert_int_equal(store_columns_text(&c, 1, text, sizeof text, &err), PFR_OK);
        if (store_columns_next(&c))
            break;
    }
    assert_int_equal(rows, 9); /* more than 8 MB */
    store_columns_close(&c);
    assert_int_equal(memory.used, 0);
}

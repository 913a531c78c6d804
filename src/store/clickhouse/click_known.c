/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds rows of dictionaries that a shard already has. Pushes of the same program on successive days have nearly the
 * same stacks, and asking for the 8-byte id of a stack costs a twentieth of sending the stack. All rows are sent if the
 * key of the table is not a number.
 */
#include "base/tables/hashmap.h"
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

struct known_ids {
    struct store_handle *handle;
    struct u64_map *known;
};

static pfr_status take_ids(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)server;
    struct known_ids *ids = context;
    for (size_t row = 0; row < block->rows; row++)
        if (!u64_map_at(ids->known, native_u64(block, 0, row), 1, NULL))
            return mem_fail(ids->handle->memory, err, "store");
    return PFR_OK;
}

pfr_status click_find_known(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                            struct u64_map *known, pfr_error *err) {
    static const struct native_column column = {"id", NATIVE_UINT64};
    struct known_ids context = {handle, known};
    const char *key = store_tables[table].order;
    struct output bytes, query;
    struct http_table ids;
    if (store_tables[table].columns[0].kind != STORE_U64 || !batch->rows)
        return PFR_OK;
    PFR_TRY(click_table_of_ids(handle, batch->column[0], batch->rows, &bytes, &ids, err));
    click_begin_query(handle, &query);
    click_add(handle, &query, "SELECT `", key, "` AS id FROM $" CLICK_ALL, store_tables[table].name, " WHERE `", key,
              "` IN (SELECT id FROM ids) AND at > ", NULL);
    quote_u64(&query, handle->began - CLICK_FRESH_SECONDS);
    const pfr_status st = click_ask_one(handle, handle->server, &query, &ids, &column, 1, take_ids, &context, err);
    out_close(&bytes, NULL);
    return st;
}

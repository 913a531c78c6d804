/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upgrades tables of older versions. Version 2 added sums by day (table daily, column sums of upload). The sums are
 * computed from samples. When all sums of an upload are written, the number of sums is written to its row of `upload`;
 * until then, the sums are not used. So an upgrade that is interrupted, or runs twice at the same time, leaves uploads
 * without sums, but never with wrong sums.
 */
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include <string.h>

static pfr_status run_text(struct store_handle *handle, const char *statement, pfr_error *err) {
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query, statement, NULL);
    return click_run(handle, &query, NULL, err);
}

#define UNSUMMED "SELECT upload, attempt FROM $" CLICK_ALL "upload FINAL WHERE dropped = 0 AND sums = 0 AND `rows` > 0"

static const char fill_sums[] =
    "INSERT INTO $" CLICK_ALL "daily (day, upload, attempt, time, event, comm, frame, n, weight) "
    "SELECT day, upload, attempt, min(slot) AS time, event, comm, leaf AS frame, sum(number) AS n, sum(cost) AS weight "
    "FROM (SELECT day, upload, attempt, toUInt64(seconds) * 1000000000 + nanoseconds AS slot, event, comm, stack, n AS "
    "number, weight AS cost FROM $" CLICK_ALL "sample WHERE (upload, attempt) IN (" UNSUMMED
    ") AND (upload, attempt) NOT IN (SELECT upload, attempt FROM $" CLICK_ALL
    "daily)) AS s ANY LEFT JOIN (SELECT stack, leaf FROM $" CLICK_ALL "stack) AS k USING stack "
    "GROUP BY day, upload, attempt, event, comm, leaf, slot = 0, intDiv(slot, 86400000000000)";

/* Selects uploads whose sums agree with their samples. The server's sums may overflow; uploads with such large numbers
   are left out. */
static const char summed[] =
    "SELECT upload, attempt, made FROM (SELECT upload, attempt, toUInt64(count()) AS made, sum(n) AS samples_in, "
    "sum(weight) AS weight_in FROM $" CLICK_ALL
    "daily GROUP BY upload, attempt) AS d ANY INNER JOIN (SELECT upload, attempt, "
    "sum(n) AS samples_in, sum(weight) AS weight_in FROM $" CLICK_ALL "sample WHERE (upload, attempt) IN (" UNSUMMED
    ") GROUP BY upload, attempt HAVING sum(toFloat64(weight)) < 9e18 AND sum(toFloat64(n)) < 9e18) AS s "
    "USING upload, attempt, samples_in, weight_in";

/* Writes the rows of `upload` again, with the number of sums. */
static pfr_status write_sums(struct store_handle *handle, pfr_error *err) {
    struct native_column columns[NATIVE_COLUMNS_MOST], kept[NATIVE_COLUMNS_MOST];
    const unsigned all = click_columns(STORE_TABLE_upload, true, columns);
    struct output query;
    unsigned count = 0;
    for (unsigned i = 0; i < all; i++)
        if (strcmp(columns[i].name, "sums") != 0 && strcmp(columns[i].name, "revision") != 0)
            kept[count++] = columns[i];
    click_begin_query(handle, &query);
    click_add(handle, &query, "INSERT INTO $" CLICK_ALL "upload (", NULL);
    click_add_names(&query, kept, count);
    click_add(handle, &query, ", sums, revision) SELECT ", NULL);
    click_add_names(&query, kept, count);
    click_add(handle, &query, ", made, revision + 1 FROM (SELECT ", NULL);
    click_add_names(&query, kept, count);
    click_add(handle, &query,
              ", revision FROM $" CLICK_ALL "upload FINAL WHERE dropped = 0 AND sums = 0) AS u "
              "ANY INNER JOIN (",
              summed, ") AS found USING upload, attempt", NULL);
    return click_run(handle, &query, NULL, err);
}

static pfr_status take_count(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)server;
    (void)err;
    *(uint64_t *)context = native_u64(block, 0, 0);
    return PFR_OK;
}

/* Checks first whether the column exists, because version 18.16 has no ADD COLUMN IF NOT EXISTS. */
static pfr_status add_column(struct store_handle *handle, unsigned server, pfr_error *err) {
    static const struct native_column column = {"number", NATIVE_UINT64};
    struct output query;
    uint64_t count = 0;
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT toUInt64(count()) AS number FROM system.columns WHERE name = 'sums' AND table = '" CLICK_ALL
              "upload' AND database = ",
              NULL);
    quote_text(&query, handle->database, strlen(handle->database));
    PFR_TRY(click_ask_one(handle, server, &query, NULL, &column, 1, take_count, &count, err));
    if (count)
        return PFR_OK;
    click_begin_query(handle, &query);
    click_add(handle, &query, "ALTER TABLE $" CLICK_ALL "upload ADD COLUMN sums UInt64", NULL);
    return click_run_one(handle, server, &query, err);
}

pfr_status click_upgrade(struct store_handle *handle, pfr_error *err) {
    for (unsigned server = 0; server < handle->nr_servers; server++)
        PFR_TRY(add_column(handle, server, err));
    PFR_TRY(run_text(handle, "DROP TABLE IF EXISTS $upload", err));
    PFR_TRY(run_text(handle, fill_sums, err));
    return write_sums(handle, err);
}

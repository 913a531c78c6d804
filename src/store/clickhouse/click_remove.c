/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops uploads. A row with `dropped` set hides an upload immediately. Its rows are then deleted by mutations of the
 * server, which rewrite whole parts. Partitions are never dropped, because another push could be writing rows of the
 * same day.
 */
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/click_remove.h"
#include "store/clickhouse/quote.h"

#include <string.h>
#include <time.h>

#define DELETED_AT_ONCE 1000u
#define WAIT_FIRST_MS 5u
#define WAIT_MOST_MS 500u
#define WAIT_TOTAL_MS 600000u

/* Greater than all revisions made by relabelling. */
#define LAST_REVISION "toUInt64(18446744073709551615)"

static pfr_status take_sum(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)server;
    (void)err;
    *(uint64_t *)context += native_u64(block, 0, 0);
    return PFR_OK;
}

static pfr_status count_mutations(struct store_handle *handle, uint64_t *count, pfr_error *err) {
    static const struct native_column column = {"number", NATIVE_UINT64};
    struct output query;
    *count = 0;
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT toUInt64(count()) AS number FROM system.mutations WHERE NOT is_done AND database = ", NULL);
    quote_text(&query, handle->database, strlen(handle->database));
    return click_ask(handle, &query, NULL, &column, 1, take_sum, count, err);
}

pfr_status click_wait_for_mutations(struct store_handle *handle, pfr_error *err) {
    uint64_t count, waited = 0;
    for (uint64_t pause = WAIT_FIRST_MS; waited < WAIT_TOTAL_MS; waited += pause, pause += pause / 2) {
        PFR_TRY(count_mutations(handle, &count, err));
        if (!count)
            return PFR_OK;
        if (pause > WAIT_MOST_MS)
            pause = WAIT_MOST_MS;
        nanosleep(&(struct timespec){.tv_nsec = (long)pause * 1000000}, NULL);
    }
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY,
                    "%s: rows are still being deleted after ten minutes (system.mutations says why)",
                    http_host(handle->http, 0));
}

pfr_status click_hide(struct store_handle *handle, const struct http_table *ids, const char *condition,
                      pfr_error *err) {
    struct native_column columns[NATIVE_COLUMNS_MOST];
    const unsigned all = click_columns(STORE_TABLE_upload, true, columns);
    const unsigned kept = store_tables[STORE_TABLE_upload].nr_columns + 1; /* the core's columns and `attempt` */
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query, "INSERT INTO $" CLICK_ALL "upload (", NULL);
    click_add_names(&query, columns, all);
    click_add(handle, &query, ") SELECT ", NULL);
    click_add_names(&query, columns, kept);
    click_add(handle, &query, ", " LAST_REVISION ", toUInt8(1) FROM $" CLICK_ALL "upload FINAL WHERE dropped = 0 AND ",
              condition, NULL);
    return click_run(handle, &query, ids, err);
}

/* --- Deleting rows of attempts. */

static void add_pair(struct output *query, const struct click_attempt *of, bool is_first) {
    out_text(query, is_first ? "(upload = " : " OR (upload = ");
    quote_u64(query, of->upload);
    out_text(query, " AND attempt = ");
    quote_u64(query, of->attempt);
    out_text(query, ")");
}

pfr_status click_delete_rows(struct store_handle *handle, enum store_table_number table,
                             const struct click_attempts *attempts, pfr_error *err) {
    for (size_t at = 0; at < attempts->count; at += DELETED_AT_ONCE) {
        struct output query;
        click_begin_query(handle, &query);
        click_add(handle, &query, "ALTER TABLE $" CLICK_ALL, store_tables[table].name, " DELETE WHERE ", NULL);
        for (size_t i = at; i < attempts->count && i < at + DELETED_AT_ONCE; i++)
            add_pair(&query, &attempts->at[i], i == at);
        PFR_TRY(click_run(handle, &query, NULL, err));
    }
    return PFR_OK;
}

static pfr_status delete_dropped(struct store_handle *handle, const struct http_table *ids, pfr_error *err) {
    struct click_attempts dropped;
    pfr_status st = click_attempts_select(
        handle, "FROM $" CLICK_ALL "upload FINAL WHERE dropped = 1 AND upload IN (SELECT id FROM ids)", ids, &dropped,
        err);
    for (unsigned table = 0; table < STORE_TABLES && st >= 0; table++)
        if (store_tables[table].partition == STORE_BY_DAY && table != STORE_TABLE_upload)
            st = click_delete_rows(handle, (enum store_table_number)table, &dropped, err);
    click_attempts_free(handle, &dropped);
    return st;
}

pfr_status click_drop(struct store_handle *handle, const struct store_params *params, pfr_error *err) {
    struct http_table ids;
    struct output bytes;
    if (!params->nr_uploads)
        return PFR_OK;
    PFR_TRY(click_table_of_ids(handle, params->uploads, params->nr_uploads, &bytes, &ids, err));
    pfr_status st = click_hide(handle, &ids, "upload IN (SELECT id FROM ids)", err);
    if (st >= 0)
        st = delete_dropped(handle, &ids, err);
    if (st >= 0)
        st = click_wait_for_mutations(handle, err);
    out_close(&bytes, NULL);
    return st;
}

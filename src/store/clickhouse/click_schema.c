/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the tables of store_tables.def as tables and views of ClickHouse. All statements can be run again. */
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include "base/text/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NUMBER_ROOM 24u

static const enum native_type type_of_kind[] = {
    [STORE_U8] = NATIVE_UINT8,          [STORE_U32] = NATIVE_UINT32, [STORE_U64] = NATIVE_UINT64,
    [STORE_I64] = NATIVE_INT64,         [STORE_DAY] = NATIVE_DATE,   [STORE_TEXT] = NATIVE_STRING,
    [STORE_LIST] = NATIVE_ARRAY_UINT64,
};

static unsigned add_own_columns(enum store_table_number table, unsigned count, struct native_column *columns) {
    if (store_tables[table].partition == STORE_SHARED) {
        columns[count++] = (struct native_column){"at", NATIVE_UINT32};
        return count;
    }
    columns[count++] = (struct native_column){"attempt", NATIVE_UINT64};
    if (table == STORE_TABLE_upload) {
        columns[count++] = (struct native_column){"revision", NATIVE_UINT64};
        columns[count++] = (struct native_column){"dropped", NATIVE_UINT8};
    }
    if (table == STORE_TABLE_sample) {
        columns[count++] = (struct native_column){"seconds", NATIVE_UINT32};
        columns[count++] = (struct native_column){"nanoseconds", NATIVE_UINT32};
    }
    return count;
}

bool click_is_split(enum store_table_number table, unsigned column) {
    return table == STORE_TABLE_sample && strcmp(store_tables[table].columns[column].name, "time") == 0;
}

unsigned click_columns(enum store_table_number table, bool stored, struct native_column columns[NATIVE_COLUMNS_MOST]) {
    const struct store_table *from = &store_tables[table];
    unsigned count = 0;
    for (unsigned i = 0; i < from->nr_columns; i++)
        if (!stored || !click_is_split(table, i))
            columns[count++] = (struct native_column){from->columns[i].name, type_of_kind[from->columns[i].kind]};
    return stored ? add_own_columns(table, count, columns) : count;
}

void click_add_names(struct output *query, const struct native_column *columns, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        out_text(query, i ? ",`" : "`");
        out_text(query, columns[i].name);
        out_text(query, "`");
    }
}

/* --- Making them. */

/*
 * Sorting keys. Rows of an upload are adjacent, because all queries select by upload. Samples are sorted by stack,
 * whose 8 bytes are the same in many successive rows and compress well. In this order, times of samples do not compress
 * well, so seconds are a column of 4 bytes.
 */
static const char *order_of(enum store_table_number table) {
    switch (table) {
    case STORE_TABLE_upload:
        return "upload,attempt";
    case STORE_TABLE_sample:
        return "upload,attempt,event,stack,comm,seconds";
    case STORE_TABLE_daily:
        return "upload,attempt,event,frame,comm,time";
    case STORE_TABLE_latency:
        return "upload,attempt,function,caller";
    default:
        return store_tables[table].order;
    }
}

unsigned click_sorting_columns(enum store_table_number table, unsigned keys[NATIVE_COLUMNS_MOST]) {
    struct native_column columns[NATIVE_COLUMNS_MOST];
    const unsigned count = click_columns(table, true, columns);
    unsigned nr_keys = 0;
    if (table != STORE_TABLE_sample && table != STORE_TABLE_daily)
        return 0;
    for (const char *name = order_of(table); *name; name += strspn(name, ",")) {
        const size_t length = strcspn(name, ",");
        for (unsigned i = 0; i < count; i++)
            if (strlen(columns[i].name) == length && memcmp(columns[i].name, name, length) == 0)
                keys[nr_keys++] = i;
        name += length;
    }
    return nr_keys;
}

static const char *engine_of(enum store_table_number table) {
    if (table == STORE_TABLE_upload)
        return "ReplacingMergeTree(revision) PARTITION BY toYYYYMM(day)";
    return store_tables[table].partition == STORE_SHARED ? "ReplacingMergeTree(at) PARTITION BY tuple()"
                                                         : "MergeTree PARTITION BY day";
}

static pfr_status make_table(struct store_handle *handle, enum store_table_number table, pfr_error *err) {
    struct native_column columns[NATIVE_COLUMNS_MOST];
    const unsigned count = click_columns(table, true, columns);
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query, "CREATE TABLE IF NOT EXISTS $" CLICK_ALL, store_tables[table].name, " (", NULL);
    for (unsigned i = 0; i < count; i++) {
        click_add_names(&query, &columns[i], 1);
        click_add(handle, &query, " ", native_type_name(columns[i].type), i + 1 < count ? "," : "", NULL);
    }
    if (table == STORE_TABLE_sample)
        click_add(handle, &query, ",time UInt64 ALIAS toUInt64(seconds) * 1000000000 + nanoseconds", NULL);
    click_add(handle, &query, ") ENGINE = ", engine_of(table), " ORDER BY (", order_of(table), ")", NULL);
    return click_run(handle, &query, NULL, err);
}

static const char *view_condition(enum store_table_number table) {
    if (table == STORE_TABLE_upload)
        return " FINAL WHERE dropped = 0 ORDER BY upload, attempt LIMIT 1 BY upload";
    if (store_tables[table].partition == STORE_SHARED)
        return " FINAL";
    return " WHERE (upload, attempt) IN (SELECT upload, min(attempt) FROM $" CLICK_ALL
           "upload FINAL WHERE dropped = 0 GROUP BY upload)";
}

static pfr_status make_view(struct store_handle *handle, enum store_table_number table, pfr_error *err) {
    struct native_column columns[NATIVE_COLUMNS_MOST];
    const unsigned count = click_columns(table, false, columns);
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query, "CREATE VIEW IF NOT EXISTS $", store_tables[table].name, " AS SELECT ", NULL);
    click_add_names(&query, columns, count);
    click_add(handle, &query, " FROM $" CLICK_ALL, store_tables[table].name, view_condition(table), NULL);
    return click_run(handle, &query, NULL, err);
}

static pfr_status write_version(struct store_handle *handle, uint32_t version, pfr_error *err) {
    char value[NUMBER_ROOM], at[NUMBER_ROOM];
    struct output query;
    snprintf(value, sizeof value, "'%u'", version);
    snprintf(at, sizeof at, "%lu", (unsigned long)time(NULL));
    click_begin_query(handle, &query);
    click_add(handle, &query, "INSERT INTO $" CLICK_ALL "setting SELECT 'version', ", value, ", toUInt32(", at, ")",
              NULL);
    return click_run(handle, &query, NULL, err);
}

pfr_status click_migrate(struct store_handle *handle, uint32_t from, uint32_t to, pfr_error *err) {
    if (to != STORE_VERSION || from > to)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "tables of version %u cannot be made version %u",
                        from, to);
    for (unsigned table = 0; table < STORE_TABLES; table++)
        PFR_TRY(make_table(handle, (enum store_table_number)table, err));
    PFR_TRY(click_upgrade(handle, err));
    for (unsigned table = 0; table < STORE_TABLES; table++)
        PFR_TRY(make_view(handle, (enum store_table_number)table, err));
    return write_version(handle, to, err);
}

/* --- State of the servers. */

struct numbers {
    uint64_t least, most;
    unsigned rows, last_server;
    unsigned without; /* a server whose answer is 0 */
};

static pfr_status take_number(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)err;
    struct numbers *numbers = context;
    for (size_t row = 0; row < block->rows; row++) {
        const uint64_t number = native_u64(block, 0, row);
        if (!number)
            numbers->without = server;
        if (!numbers->rows++ || number < numbers->least)
            numbers->least = number;
        if (number > numbers->most)
            numbers->most = number;
    }
    return PFR_OK;
}

/* Gets a number from each server, by a query that always returns one row. */
static pfr_status ask_numbers(struct store_handle *handle, struct output *query, struct numbers *numbers,
                              pfr_error *err) {
    static const struct native_column column = {"number", NATIVE_UINT64};
    *numbers = (struct numbers){0};
    PFR_TRY(click_ask(handle, query, NULL, &column, 1, take_number, numbers, err));
    if (numbers->rows == handle->nr_servers)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_DAMAGE, PFR_NO_OFFSET, 0, "store", "%u servers answered with %u rows",
                    handle->nr_servers, numbers->rows);
}

pfr_status click_need_database(struct store_handle *handle, bool create, pfr_error *err) {
    struct output query;
    struct numbers numbers;
    click_begin_query(handle, &query);
    if (create) {
        click_add(handle, &query, "CREATE DATABASE IF NOT EXISTS `", handle->database, "`", NULL);
        return click_run(handle, &query, NULL, err);
    }
    click_add(handle, &query, "SELECT toUInt64(count()) AS number FROM system.databases WHERE name = ", NULL);
    quote_text(&query, handle->database, strlen(handle->database));
    PFR_TRY(ask_numbers(handle, &query, &numbers, err));
    if (numbers.least)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                    "%s: there is no store '%s': make it by 'store init'", http_host(handle->http, numbers.without),
                    handle->database);
}

/* Sets *has to whether every server has the table `setting`. If not, the caller creates all tables again. */
static pfr_status has_settings(struct store_handle *handle, bool *has, pfr_error *err) {
    struct output query;
    struct numbers numbers;
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT toUInt64(count()) AS number FROM system.tables WHERE name = '" CLICK_ALL
              "setting' AND database = ",
              NULL);
    quote_text(&query, handle->database, strlen(handle->database));
    PFR_TRY(ask_numbers(handle, &query, &numbers, err));
    *has = numbers.least > 0;
    return PFR_OK;
}

static pfr_status ask_version(struct store_handle *handle, struct numbers *numbers, pfr_error *err) {
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT toUInt64(max(toUInt32OrZero(value))) AS number FROM $" CLICK_ALL "setting WHERE name = 'version'",
              NULL);
    return ask_numbers(handle, &query, numbers, err);
}

/* Finds out why a server refused the query for the version. PFR_OK: a server has no tables. Errors: a server has no
   database; otherwise *why. */
static pfr_status explain(struct store_handle *handle, const pfr_error *why, pfr_error *err) {
    bool has;
    PFR_TRY(click_need_database(handle, false, err));
    PFR_TRY(has_settings(handle, &has, err));
    if (has && err)
        *err = *why;
    return has ? why->status : PFR_OK;
}

pfr_status click_version(struct store_handle *handle, uint32_t *version, pfr_error *err) {
    struct numbers numbers;
    pfr_error own;
    *version = 0;
    const pfr_status st = ask_version(handle, &numbers, &own);
    if (st == PFR_ERR_USAGE)
        return explain(handle, &own, err);
    if (st < 0 && err)
        *err = own;
    if (st < 0)
        return st;
    if (numbers.most > UINT32_MAX)
        numbers.most = numbers.least = UINT32_MAX;
    /* If a server is newer than this program, its version is the result, so that the caller refuses it. */
    *version = (uint32_t)(numbers.most > STORE_VERSION ? numbers.most : numbers.least);
    return PFR_OK;
}

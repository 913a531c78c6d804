/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the SQLite engine: those that store_engine.h lists, and SQL statements of the user. */
#include "store/store_columns.h"
#include "store/store_sqlite.h"

#include <stdio.h>
#include <string.h>

#define SQL_ROOM 1024u

struct asking {
    struct store_handle *handle;
    struct store_columns columns;
    store_rows *rows;
    void *context;
};

/* --- Rows to batches. */

static struct store_text text_of(sqlite3_stmt *s, int column) {
    const void *const bytes = sqlite3_column_blob(s, column);
    return (struct store_text){bytes, (size_t)sqlite3_column_bytes(s, column)};
}

static pfr_status take_row(struct store_columns *c, sqlite3_stmt *s, pfr_error *err) {
    for (uint32_t i = 0; i < c->table->nr_columns; i++) {
        const enum store_kind kind = c->table->columns[i].kind;
        if (kind < STORE_TEXT) {
            store_columns_number(c, i, (uint64_t)sqlite3_column_int64(s, (int)i));
            continue;
        }
        const struct store_text bytes = text_of(s, (int)i);
        PFR_TRY(kind == STORE_TEXT ? store_columns_text(c, i, bytes.bytes, bytes.length, err)
                                   : store_columns_list(c, i, bytes.bytes, bytes.length / sizeof(uint64_t), err));
    }
    return PFR_OK;
}

static pfr_status give(struct asking *a, pfr_error *err) {
    const pfr_status st = a->columns.batch.rows ? a->rows(a->context, store_columns_batch(&a->columns), err) : PFR_OK;
    store_columns_clear(&a->columns);
    return st;
}

static pfr_status take_rows(struct asking *a, sqlite3_stmt *s, pfr_error *err) {
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        PFR_TRY(take_row(&a->columns, s, err));
        if (store_columns_next(&a->columns))
            PFR_TRY(give(a, err));
    }
    return code == SQLITE_DONE ? PFR_OK : sqlite_failed(a->handle, "cannot read it", err);
}

/* --- The list of queries. */

static int64_t time_of(uint64_t ns) {
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static const char *condition_of(enum store_query query) {
    switch (query) {
    case STORE_UPLOADS:
        /* Times of 2^63 ns or more are stored as negative numbers. */
        return "WHERE (?1 IS NULL OR CAST(service AS BLOB)=?1) AND (first<=0 OR last<0 OR (last>=?2 AND first<=?3)) "
               "ORDER BY first, upload";
    case STORE_SAMPLES:
    case STORE_DAILY:
        return "WHERE upload=?1 AND (time BETWEEN ?2 AND ?3 OR time=0)";
    case STORE_LATENCIES:
        return "WHERE upload=?1";
    default:
        return NULL;
    }
}

static const enum store_table_number table_of[STORE_QUERIES] = {
    [STORE_UPLOADS] = STORE_TABLE_upload,    [STORE_SAMPLES] = STORE_TABLE_sample, [STORE_DAILY] = STORE_TABLE_daily,
    [STORE_LATENCIES] = STORE_TABLE_latency, [STORE_EVENTS] = STORE_TABLE_event,   [STORE_COMMS] = STORE_TABLE_comm,
    [STORE_OBJECTS] = STORE_TABLE_object,    [STORE_FRAMES] = STORE_TABLE_frame,   [STORE_STACKS] = STORE_TABLE_stack};

/* All columns by name, in the order of the schema. */
static void write_select(enum store_query query, bool by_id, char *to, size_t room) {
    const struct store_table *t = &store_tables[table_of[query]];
    const char *const condition = condition_of(query);
    size_t at = (size_t)snprintf(to, room, "SELECT ");
    for (uint32_t i = 0; i < t->nr_columns; i++)
        at += (size_t)snprintf(to + at, room - at, "%s\"%s\"", i ? "," : "", t->columns[i].name);
    at += (size_t)snprintf(to + at, room - at, " FROM \"%s\" ", t->name);
    if (by_id)
        snprintf(to + at, room - at, "WHERE \"%s\"=?1", t->order);
    else if (condition)
        snprintf(to + at, room - at, "%s", condition);
}

static void bind_times(sqlite3_stmt *s, const struct store_params *p) {
    sqlite3_bind_int64(s, 2, time_of(p->first));
    sqlite3_bind_int64(s, 3, time_of(p->last));
}

static pfr_status take_each(struct asking *a, sqlite3_stmt *s, const uint64_t *ids, size_t count,
                            const struct store_params *p, pfr_error *err) {
    for (size_t i = 0; i < count; i++) {
        sqlite3_bind_int64(s, 1, (int64_t)ids[i]);
        if (sqlite3_bind_parameter_count(s) == 3)
            bind_times(s, p);
        PFR_TRY(take_rows(a, s, err));
        sqlite3_reset(s);
    }
    return PFR_OK;
}

static pfr_status take_uploads(struct asking *a, sqlite3_stmt *s, const struct store_params *p, pfr_error *err) {
    /* A text that is not UTF-8 is stored as a blob, and a blob never equals a text, so blobs are compared. */
    if (p->service)
        sqlite3_bind_blob(s, 1, p->service, (int)strlen(p->service), SQLITE_STATIC);
    bind_times(s, p);
    return take_rows(a, s, err);
}

static pfr_status ask(struct asking *a, enum store_query query, const struct store_params *p, pfr_error *err) {
    const bool by_upload = query >= STORE_SAMPLES && query <= STORE_LATENCIES;
    const bool by_id = (query == STORE_UPLOADS || query > STORE_LATENCIES) && p->ids;
    char sql[SQL_ROOM];
    sqlite3_stmt *s;
    write_select(query, by_id, sql, sizeof sql);
    PFR_TRY(sqlite_prepare(a->handle, sql, &s, err));
    pfr_status st = by_upload                ? take_each(a, s, p->uploads, p->nr_uploads, p, err)
                    : by_id                  ? take_each(a, s, p->ids, p->nr_ids, p, err)
                    : query == STORE_UPLOADS ? take_uploads(a, s, p, err)
                                             : take_rows(a, s, err);
    if (st >= 0)
        st = give(a, err);
    sqlite3_finalize(s);
    return st;
}

pfr_status sqlite_query(struct store_handle *h, enum store_query query, const struct store_params *params,
                        store_rows *rows, void *context, pfr_error *err) {
    static const struct store_params nothing = {.last = UINT64_MAX};
    struct asking a = {.handle = h, .rows = rows, .context = context};
    pfr_status st = store_columns_open(&a.columns, table_of[query], h->memory, err);
    if (st >= 0)
        st = ask(&a, query, params ? params : &nothing, err);
    store_columns_close(&a.columns);
    return st < 0 ? st : PFR_OK;
}

/* --- Queries of the user. */

#define USER_COLUMNS 64

/* Allows only reading. The connection is also opened read-only. */
static int authorize(void *context, int action, const char *one, const char *two, const char *schema,
                     const char *trigger) {
    (void)context, (void)schema, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return strcmp(two, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return strcmp(one, "table_info") == 0 || strcmp(one, "table_list") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static pfr_status give_row(sqlite3_stmt *s, uint32_t count, const char *const *names, store_sql_row *row, void *context,
                           pfr_error *err) {
    struct store_text values[USER_COLUMNS];
    const struct store_text *at[USER_COLUMNS];
    for (uint32_t i = 0; i < count; i++) {
        const char *const text = (const char *)sqlite3_column_text(s, (int)i);
        values[i] = (struct store_text){text, (size_t)sqlite3_column_bytes(s, (int)i)};
        at[i] = sqlite3_column_type(s, (int)i) == SQLITE_NULL ? NULL : &values[i];
    }
    return row(context, count, at, names, err);
}

static pfr_status give_rows(struct store_handle *h, sqlite3_stmt *s, store_sql_row *row, void *context,
                            pfr_error *err) {
    const char *names[USER_COLUMNS];
    const int columns = sqlite3_column_count(s);
    int code;
    if (columns == 0 || columns > USER_COLUMNS)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql",
                        columns ? "a query has at most 64 columns" : "not a query");
    for (int i = 0; i < columns; i++)
        names[i] = sqlite3_column_name(s, i);
    PFR_TRY(row(context, (uint32_t)columns, NULL, names, err));
    while ((code = sqlite3_step(s)) == SQLITE_ROW)
        PFR_TRY(give_row(s, (uint32_t)columns, names, row, context, err));
    return code == SQLITE_DONE ? PFR_OK : sqlite_failed(h, "the query failed", err);
}

pfr_status sqlite_user_query(struct store_handle *h, const char *sql, store_sql_row *row, void *context,
                             pfr_error *err) {
    sqlite3_stmt *s = NULL;
    const char *rest;
    sqlite3_set_authorizer(h->db, authorize, NULL);
    const bool is_fine = sqlite3_prepare_v2(h->db, sql, -1, &s, &rest) == SQLITE_OK;
    pfr_status st = PFR_OK;
    if (!is_fine)
        st = pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "%s", sqlite3_errmsg(h->db));
    else if (!s || rest[strspn(rest, " \t\n;")])
        st = pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "one query at a time");
    else
        st = give_rows(h, s, row, context, err);
    sqlite3_finalize(s);
    sqlite3_set_authorizer(h->db, NULL, NULL);
    return st;
}

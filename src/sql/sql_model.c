/* SPDX-License-Identifier: Apache-2.0 */
/* The module of model_tables.h: scans, and lookup of a row by its id, which is what joins need. */
#include "sql/model_tables.h"

#include <stdlib.h>

enum plan { SCAN, BY_ID };

struct rows_table {
    struct sql_table table;
    const struct model_table *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, last;
};

/* Arguments: the source, and which table. */
static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **to,
                         char **message) {
    struct sql_source *source = source_of_arguments(context, count, arguments, message);
    const unsigned number = count > 4 ? (unsigned)atoi(arguments[4]) : nr_model_tables;
    if (!source || number >= nr_model_tables)
        return SQLITE_ERROR;
    struct rows_table *table = sqlite3_malloc64(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct rows_table){.table = {.source = source}, .rows = &model_tables[number]};
    const int code = sqlite3_declare_vtab(db, table->rows->declaration);
    if (code == SQLITE_OK)
        *to = &table->table.base;
    else
        sqlite3_free(table);
    return code;
}

static int disconnect_table(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int by_id(sqlite3_index_info *info, int constraint) {
    info->idxNum = BY_ID;
    info->aConstraintUsage[constraint].argvIndex = 1;
    info->estimatedCost = 1;
    info->estimatedRows = 1;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    const struct rows_table *t = (struct rows_table *)(void *)table;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const bool is_id = c->iColumn == -1 || (c->iColumn == 0 && t->rows->by_id);
        if (c->usable && is_id && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
            return by_id(info, i);
    }
    const struct sql_source *source = t->table.source;
    const uint64_t rows = source->model && t->rows->count(source) != UINT64_MAX ? t->rows->count(source) : 1000;
    info->idxNum = SCAN;
    info->estimatedCost = (double)rows;
    info->estimatedRows = (sqlite3_int64)rows;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    (void)table;
    struct rows_cursor *c = sqlite3_malloc64(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct rows_cursor){.row = 1};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static pfr_status prepare(const struct rows_table *t, pfr_error *err) {
    PFR_TRY(source_need_model(t->table.source, err));
    return t->rows->prepare ? t->rows->prepare(t->table.source, err) : PFR_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    const struct rows_table *t = (struct rows_table *)(void *)cursor->pVtab;
    pfr_error err;
    (void)text, (void)count;
    if (prepare(t, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    c->row = 1;
    c->last = t->rows->count(t->table.source);
    if (plan != BY_ID)
        return SQLITE_OK;
    const sqlite3_int64 id = sqlite3_value_int64(values[0]);
    const bool is_there = sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && id > 0 && (uint64_t)id <= c->last;
    c->row = is_there ? (uint64_t)id : 1;
    c->last = is_there ? (uint64_t)id : 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    ((struct rows_cursor *)(void *)cursor)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    const struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    const struct rows_table *t = (struct rows_table *)(void *)cursor->pVtab;
    if (c->row > c->last)
        return true;
    return t->rows->count(t->table.source) == UINT64_MAX && !t->rows->exists(t->table.source, c->row);
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    const struct rows_table *t = (struct rows_table *)(void *)cursor->pVtab;
    t->rows->column(t->table.source, c->row, column, to);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = (sqlite3_int64)((struct rows_cursor *)(void *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module rows_module = {
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = result_column,
    .xRowid = row_id,
};

int sql_model_register(pfr_sql *sql) {
    return sqlite3_create_module_v2(sql->db, "perfray_rows", &rows_module, sql, NULL);
}

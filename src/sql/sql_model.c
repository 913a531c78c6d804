/* SPDX-License-Identifier: Apache-2.0 */
/* The module of sql_tables.h: scans, and lookup of a row by its id, which joins need. */
#include "sql/sql_model.h"
#include "sql/sql_tables.h"
#include "sql/sql_source.h"
#include "sql/sql_result.h"

#include <stdlib.h>

enum plan { SCAN, BY_ID, BY_SYMBOL, BY_PARENT, DOWN };

struct rows_table {
    struct sql_table table;
    const struct model_table *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, last;
    bool goes_down;
    const uint32_t *next; /* next row of a list; NULL: rows are consecutive */
};

/* Arguments: the source and the table. */
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

static void use(sqlite3_index_info *info, int constraint, enum plan plan, double rows) {
    info->aConstraintUsage[constraint].argvIndex = 1;
    info->estimatedCost = rows;
    info->estimatedRows = (sqlite3_int64)rows;
    info->idxFlags = plan == BY_ID ? SQLITE_INDEX_SCAN_UNIQUE : 0;
}

/* The best plan that a condition allows. */
static enum plan plan_of(const struct rows_table *t, const struct sqlite3_index_constraint *c) {
    if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
        return SCAN;
    if (c->iColumn == -1 || (c->iColumn == 0 && t->rows->by_id))
        return BY_ID;
    if (t->rows->has_lists && c->iColumn == STACK_SYMBOL)
        return BY_SYMBOL;
    return t->rows->has_lists && c->iColumn == STACK_PARENT ? BY_PARENT : SCAN;
}

static double rows_of(const struct rows_table *t) {
    const struct sql_source *source = t->table.source;
    const uint64_t known = source->model ? t->rows->count(source) : UINT64_MAX;
    return known != UINT64_MAX ? (double)known : t->rows->has_lists ? 1e6 : 1000;
}

/* A scan can return rows by ascending or descending id; other plans return them only by ascending id. SQLite requests
   groups in descending order if the output is sorted that way. */
static void take_order(sqlite3_index_info *info, const struct rows_table *t) {
    const bool can_go_down = info->idxNum == SCAN && !t->rows->exists;
    if (info->nOrderBy != 1 || info->aOrderBy[0].iColumn > 0 || (info->aOrderBy[0].desc && !can_go_down))
        return;
    info->orderByConsumed = true;
    if (info->aOrderBy[0].desc)
        info->idxNum = DOWN;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    const struct rows_table *t = (struct rows_table *)(void *)table;
    int best = -1;
    enum plan plan = SCAN;
    for (int i = 0; i < info->nConstraint; i++) {
        const enum plan other = plan_of(t, &info->aConstraint[i]);
        if (other != SCAN && (plan == SCAN || other < plan)) {
            plan = other;
            best = i;
        }
    }
    info->idxNum = (int)plan;
    if (plan != SCAN) {
        use(info, best, plan, plan == BY_ID ? 1 : plan == BY_SYMBOL ? 50 : 5);
    } else {
        info->estimatedCost = rows_of(t);
        info->estimatedRows = (sqlite3_int64)rows_of(t);
    }
    if (t->rows->by_id)
        take_order(info, t);
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

static pfr_status start_list(struct rows_cursor *c, struct sql_source *source, enum plan plan, uint64_t id,
                             pfr_error *err) {
    const pfr_table table = plan == BY_SYMBOL ? PFR_TABLE_SYMBOL : PFR_TABLE_STACK;
    PFR_TRY(stack_lists_need(source, err));
    c->next = plan == BY_SYMBOL ? source->next_of_symbol : source->next_of_parent;
    c->row = id > pfr_model_count(source->model, table) ? 0
             : plan == BY_SYMBOL                        ? source->of_symbol[id]
                                                        : source->of_parent[id];
    return PFR_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    const struct rows_table *t = (struct rows_table *)(void *)cursor->pVtab;
    pfr_error err;
    (void)text;
    if (prepare(t, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    c->row = 1;
    c->last = t->rows->count(t->table.source);
    c->next = NULL;
    c->goes_down = plan == DOWN;
    if (c->goes_down)
        c->row = c->last;
    if (plan == SCAN || plan == DOWN)
        return SQLITE_OK;
    const sqlite3_int64 id = sqlite3_value_int64(values[0]);
    const bool is_id = count && sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && id > 0;
    if (!is_id || (plan == BY_ID && (uint64_t)id > c->last))
        c->last = 0;
    else if (plan == BY_ID)
        c->row = c->last = (uint64_t)id;
    else if (start_list(c, t->table.source, (enum plan)plan, (uint64_t)id, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    c->row = c->next ? c->next[c->row] : c->goes_down ? c->row - 1 : c->row + 1;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    const struct rows_cursor *c = (struct rows_cursor *)(void *)cursor;
    const struct rows_table *t = (struct rows_table *)(void *)cursor->pVtab;
    if (c->row > c->last || c->row == 0)
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

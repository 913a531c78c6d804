/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of stacks.
 *
 *     stack_symbol(STACK)                  a table: each symbol of the stack once
 *     stack_text(STACK, [SEP, [SCHEMA]])   the names of the stack's functions, outermost first
 */
#include "sql/sql_stacks.h"
#include "sql/sql_source.h"
#include "sql/sql_result.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum stack_column { T_SYMBOL, T_DEPTH, T_IS_SELF, T_NODE, T_STACK };
static const char declaration[] = "CREATE TABLE x(symbol_id INTEGER, depth INTEGER, is_self INTEGER, node_id INTEGER, "
                                  "stack_id INTEGER HIDDEN)";

struct stack_cursor {
    sqlite3_vtab_cursor base;
    const pfr_stack *stacks;
    uint32_t leaf, at; /* 0: at the end */
};

static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **to,
                         char **message) {
    struct sql_source *source = source_of_arguments(context, count, arguments, message);
    struct sql_table *table = source ? sqlite3_malloc64(sizeof *table) : NULL;
    if (!table)
        return source ? SQLITE_NOMEM : SQLITE_ERROR;
    *table = (struct sql_table){.source = source};
    const int code = sqlite3_declare_vtab(db, declaration);
    if (code == SQLITE_OK)
        *to = &table->base;
    else
        sqlite3_free(table);
    return code;
}

static int disconnect_table(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

/* The table can be read only if the stack is given. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!c->usable || c->iColumn != T_STACK || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 20;
        info->estimatedRows = 20;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    struct stack_cursor *c = sqlite3_malloc64(sizeof *c);
    (void)table;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct stack_cursor){.at = 0};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* Skips frames whose symbol also has an outer frame: a symbol is returned at its outermost frame. */
static void skip_inner(struct stack_cursor *c) {
    while (c->at && !c->stacks[c->at].is_outer)
        c->at = c->stacks[c->at].parent;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct stack_cursor *c = (struct stack_cursor *)(void *)cursor;
    struct sql_source *source = ((struct sql_table *)cursor->pVtab)->source;
    pfr_error err;
    (void)plan, (void)text;
    if (source_need_model(source, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    const sqlite3_int64 id = count ? sqlite3_value_int64(values[0]) : 0;
    const bool is_there = id > 0 && id <= pfr_model_count(source->model, PFR_TABLE_STACK);
    c->stacks = pfr_model_stacks(source->model);
    c->leaf = c->at = is_there ? (uint32_t)id : 0;
    skip_inner(c);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    struct stack_cursor *c = (struct stack_cursor *)(void *)cursor;
    c->at = c->stacks[c->at].parent;
    skip_inner(c);
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    return ((struct stack_cursor *)(void *)cursor)->at == 0;
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const struct stack_cursor *c = (struct stack_cursor *)(void *)cursor;
    const pfr_stack *node = &c->stacks[c->at];
    if (column == T_SYMBOL)
        sql_result_id(to, node->symbol);
    else if (column == T_DEPTH)
        sqlite3_result_int(to, node->depth);
    else if (column == T_IS_SELF)
        sqlite3_result_int(to, node->symbol == c->stacks[c->leaf].symbol);
    else
        sql_result_id(to, column == T_NODE ? c->at : c->leaf);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = ((struct stack_cursor *)(void *)cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module stacks_module = {
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

/* --- stack_text */

static struct sql_source *source_named(pfr_sql *sql, const char *schema) {
    for (unsigned i = 0; i < sql->nr_sources; i++)
        if (!schema || strcasecmp(sql->sources[i]->schema, schema) == 0)
            return sql->sources[i];
    return NULL;
}

static void put_stack(sqlite3_context *to, const struct sql_source *source, uint32_t stack, const char *separator) {
    char few[512];
    const size_t length = pfr_model_stack_text(source->model, stack, separator, few, sizeof few);
    if (length < sizeof few) {
        sqlite3_result_text(to, few, (int)length, SQLITE_TRANSIENT);
        return;
    }
    char *text = sqlite3_malloc64(length + 1);
    if (!text) {
        sqlite3_result_error_nomem(to);
        return;
    }
    pfr_model_stack_text(source->model, stack, separator, text, length + 1);
    sqlite3_result_text64(to, text, length, sqlite3_free, SQLITE_UTF8);
}

static void stack_text(sqlite3_context *to, int count, sqlite3_value **values) {
    pfr_sql *sql = sqlite3_user_data(to);
    const char *separator = count > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL;
    struct sql_source *source = source_named(sql, count > 2 ? (const char *)sqlite3_value_text(values[2]) : NULL);
    const sqlite3_int64 id = sqlite3_value_int64(values[0]);
    pfr_error err;
    if (!source) {
        sqlite3_result_error(to, "stack_text: there is no such recording", -1);
        return;
    }
    if (source_need_model(source, &err) < 0) {
        sqlite3_result_error(to, err.text, -1);
        return;
    }
    if (id > 0 && id <= pfr_model_count(source->model, PFR_TABLE_STACK))
        put_stack(to, source, (uint32_t)id, separator);
}

int sql_stacks_register(pfr_sql *sql) {
    int code = sqlite3_create_module_v2(sql->db, "perfray_stack_symbol", &stacks_module, sql, NULL);
    for (int arguments = 1; arguments <= 3 && code == SQLITE_OK; arguments++)
        code = sqlite3_create_function_v2(sql->db, "stack_text", arguments, SQLITE_UTF8 | SQLITE_INNOCUOUS, sql,
                                          stack_text, NULL, NULL, NULL);
    return code;
}

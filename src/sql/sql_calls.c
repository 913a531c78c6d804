/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `call`. The model returns calls by cursor, thread by thread in the order of exits. Joins look up single
 * calls by id, for example callers. So from the first query on, all calls are kept in memory, ordered by id.
 */
#include "sql/sql_calls.h"
#include "sql/sql_source.h"

#include "model/open/batch_rows.h"
#include "sql/sql_result.h"

#include <perfray/spans.h>
#include <stdlib.h>

enum call_column {
    K_ID,
    K_THREAD,
    K_TS,
    K_DUR,
    K_SELF,
    K_SYMBOL,
    K_PARENT,
    K_DEPTH,
    K_OPEN,
    K_STACK,
    K_ARGUMENT,
    K_FLAGS
};
static const char declaration[] =
    "CREATE TABLE x(id INTEGER, thread_id INTEGER, ts INTEGER, dur INTEGER, self INTEGER, symbol_id INTEGER, "
    "parent_id INTEGER, depth INTEGER, open INTEGER, stack_id INTEGER, argument INTEGER, flags INTEGER)";

enum plan { SCAN, BY_ID };

struct call_cursor {
    sqlite3_vtab_cursor base;
    uint64_t id, last;
};

/* --- All calls, by id. */

static void keep_batch(struct sql_source *source, const pfr_call_batch *b) {
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->id[i] == 0 || b->id[i] > source->nr_calls)
            continue;
        source->calls[b->id[i]] = call_of_batch(b, i);
    }
}

static pfr_status keep_all(struct sql_source *source, pfr_error *err) {
    const pfr_call_batch *batch;
    pfr_status st;
    pfr_calls *calls = pfr_calls_open(source->model, NULL, err);
    if (!calls)
        return err->status;
    while ((st = pfr_calls_next(calls, &batch, err)) == PFR_OK)
        keep_batch(source, batch);
    pfr_calls_close(calls);
    return st < 0 ? st : PFR_OK;
}

pfr_status source_need_calls(struct sql_source *source, pfr_error *err) {
    PFR_TRY(source_need_model(source, err));
    if (source->calls)
        return PFR_OK;
    source->nr_calls = pfr_model_call_count(source->model);
    source->calls = mem_zeroed(&source->sql->memory, source->nr_calls + 1, sizeof *source->calls);
    if (!source->calls)
        return mem_fail(&source->sql->memory, err, "call");
    return keep_all(source, err);
}

/* The id of the thread's last call that began at or before `time`. Ids ascend from thread to thread and, within a
   thread, in the order of entry. */
static uint64_t last_before(const struct sql_source *source, uint32_t thread, uint64_t time) {
    uint64_t low = 0, high = source->nr_calls;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        const struct pfr_call *call = &source->calls[middle];
        if (call->thread < thread || (call->thread == thread && call->start <= time))
            low = middle;
        else
            high = middle - 1;
    }
    return low && source->calls[low].thread == thread ? low : 0;
}

pfr_status source_call_at(struct sql_source *source, uint32_t thread, uint64_t time, uint64_t *call, pfr_error *err) {
    *call = 0;
    if (pfr_model_call_count(source->model) == 0 || time == PFR_NO_TIME)
        return PFR_OK;
    PFR_TRY(source_need_calls(source, err));
    for (uint64_t id = last_before(source, thread, time); id; id = source->calls[id].parent) {
        const struct pfr_call *c = &source->calls[id];
        if (c->flags & PFR_CALL_OPEN || time - c->start <= c->duration) {
            *call = id;
            return PFR_OK;
        }
    }
    return PFR_OK;
}

/* --- The table. */

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

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->idxNum = SCAN;
    info->estimatedCost = 1e5;
    info->estimatedRows = 100000;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ || (c->iColumn != K_ID && c->iColumn != -1))
            continue;
        info->idxNum = BY_ID;
        info->aConstraintUsage[i].argvIndex = 1;
        info->estimatedCost = 1;
        info->estimatedRows = 1;
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        break;
    }
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    struct call_cursor *c = sqlite3_malloc64(sizeof *c);
    (void)table;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct call_cursor){.id = 1};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct call_cursor *c = (struct call_cursor *)(void *)cursor;
    struct sql_source *source = ((struct sql_table *)cursor->pVtab)->source;
    pfr_error err;
    (void)text, (void)count;
    if (source_need_calls(source, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    c->id = 1;
    c->last = source->nr_calls;
    if (plan != BY_ID)
        return SQLITE_OK;
    const sqlite3_int64 id = sqlite3_value_int64(values[0]);
    const bool is_there = sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER && id > 0 && (uint64_t)id <= c->last;
    c->id = is_there ? (uint64_t)id : 1;
    c->last = is_there ? (uint64_t)id : 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    ((struct call_cursor *)(void *)cursor)->id++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    const struct call_cursor *c = (struct call_cursor *)(void *)cursor;
    return c->id > c->last;
}

static void result_span(sqlite3_context *to, const struct pfr_call *call, enum call_column column) {
    const bool is_open = call->flags & PFR_CALL_OPEN;
    if (column == K_TS)
        sql_result_u64(to, call->start);
    else if (column == K_DUR && !is_open)
        sql_result_u64(to, call->duration);
    else if (column == K_SELF && !is_open)
        sqlite3_result_int64(to, call->self);
    else if (column == K_OPEN)
        sqlite3_result_int(to, is_open);
    else if (column == K_ARGUMENT && call->flags & PFR_CALL_ARGUMENT)
        sql_result_u64(to, call->argument);
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const struct call_cursor *c = (struct call_cursor *)(void *)cursor;
    const struct pfr_call *call = &((struct sql_table *)cursor->pVtab)->source->calls[c->id];
    switch ((enum call_column)column) {
    case K_ID:
        sql_result_u64(to, c->id);
        break;
    case K_THREAD:
        sql_result_id(to, call->thread);
        break;
    case K_SYMBOL:
        sql_result_id(to, call->symbol);
        break;
    case K_PARENT:
        sql_result_id(to, call->parent);
        break;
    case K_DEPTH:
        sql_result_u64(to, call->depth);
        break;
    case K_STACK:
        sql_result_id(to, call->stack);
        break;
    case K_FLAGS:
        sql_result_u64(to, call->flags);
        break;
    default:
        result_span(to, call, (enum call_column)column);
        break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = (sqlite3_int64)((struct call_cursor *)(void *)cursor)->id;
    return SQLITE_OK;
}

static const sqlite3_module calls_module = {
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

int sql_calls_register(pfr_sql *sql) {
    return sqlite3_create_module_v2(sql->db, "perfray_calls", &calls_module, sql, NULL);
}

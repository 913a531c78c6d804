/* SPDX-License-Identifier: Apache-2.0 */
/* The table `sample`: a cursor of the model, to which filters on time, thread, event and CPU are passed. */
#include "sql/sql_samples.h"
#include "sql/sql_calls.h"
#include "sql/sql_source.h"
#include "sql/sql_result.h"

#include <perfray/samples.h>
#include <stdlib.h>
#include <string.h>

enum sample_column { S_ID, S_TS, S_THREAD, S_CPU, S_EVENT, S_MODE, S_WEIGHT, S_STACK, S_CALL, S_COMM, S_PERIOD };
static const char declaration[] =
    "CREATE TABLE x(id INTEGER, ts INTEGER, thread_id INTEGER, cpu INTEGER, event_id INTEGER, mode INTEGER, "
    "weight INTEGER, stack_id INTEGER, call_id INTEGER, comm TEXT, period INTEGER)";

/* Each filter of a plan is one letter of the plan's text (idxStr); the letters are in the order of the values. */
enum { BY_THREAD = 't', BY_EVENT = 'e', BY_CPU = 'c', FROM = 'f', TO = 'l', AFTER = 'a', BEFORE = 'b' };

struct sample_cursor {
    sqlite3_vtab_cursor base;
    pfr_samples *samples;
    const pfr_sample_batch *batch;
    uint32_t at;
    bool ended;
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

/* --- The plan. */

static char filter_of(const struct sqlite3_index_constraint *c) {
    const bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (!c->usable)
        return 0;
    if (equal && c->iColumn == S_THREAD)
        return BY_THREAD;
    if (equal && c->iColumn == S_EVENT)
        return BY_EVENT;
    if (equal && c->iColumn == S_CPU)
        return BY_CPU;
    if (c->iColumn != S_TS)
        return 0;
    switch (c->op) {
    case SQLITE_INDEX_CONSTRAINT_GE:
        return FROM;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return AFTER;
    case SQLITE_INDEX_CONSTRAINT_LE:
        return TO;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return BEFORE;
    default:
        return 0;
    }
}

/* The filters only exclude rows earlier: SQLite checks each condition again. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    char filters[16] = "";
    unsigned count = 0;
    double rows = 1e6;
    (void)table;
    for (int i = 0; i < info->nConstraint && count < sizeof filters - 1; i++) {
        const char filter = filter_of(&info->aConstraint[i]);
        if (!filter || strchr(filters, filter))
            continue;
        filters[count++] = filter;
        info->aConstraintUsage[i].argvIndex = (int)count;
        rows /= 4;
    }
    info->idxStr = sqlite3_mprintf("%s", filters);
    info->needToFreeIdxStr = 1;
    info->estimatedCost = 1e6 + rows;
    info->estimatedRows = (sqlite3_int64)rows;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- The cursor. */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    struct sample_cursor *c = sqlite3_malloc64(sizeof *c);
    (void)table;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct sample_cursor){.ended = true};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    struct sample_cursor *c = (struct sample_cursor *)(void *)cursor;
    pfr_samples_close(c->samples);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int next_batch(struct sample_cursor *c) {
    const struct sql_source *source = ((struct sql_table *)c->base.pVtab)->source;
    pfr_error err;
    if (source->sql->interrupted)
        return SQLITE_INTERRUPT;
    const pfr_status st = pfr_samples_next(c->samples, &c->batch, &err);
    c->at = 0;
    c->ended = st != PFR_OK;
    return st < 0 ? sql_table_failed(c->base.pVtab, &err) : SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    struct sample_cursor *c = (struct sample_cursor *)(void *)cursor;
    return ++c->at < c->batch->count ? SQLITE_OK : next_batch(c);
}

/* Sets an option from a value; false: no sample matches. A value that is not an integer is ignored here. */
static bool take_filter(pfr_samples_options *how, const pfr_model *model, char filter, sqlite3_value *given) {
    const sqlite3_int64 value = sqlite3_value_int64(given);
    if (sqlite3_value_type(given) != SQLITE_INTEGER)
        return true;
    if (filter == BY_THREAD || filter == BY_EVENT) {
        const pfr_table table = filter == BY_THREAD ? PFR_TABLE_THREAD : PFR_TABLE_EVENT;
        if (value < 1 || value > pfr_model_count(model, table))
            return false;
        *(filter == BY_THREAD ? &how->thread : &how->event) = (uint32_t)value;
    } else if (filter == BY_CPU) {
        how->by_cpu = true;
        how->cpu = (uint32_t)value;
        return value >= 0 && value < PFR_NO_CPU;
    } else if ((filter == FROM || filter == AFTER) && value > 0 && (uint64_t)value > how->first) {
        how->first = (uint64_t)value;
    } else if ((filter == TO || filter == BEFORE) && value > 0 && (!how->last || (uint64_t)value < how->last)) {
        how->last = (uint64_t)value;
    }
    return true;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *filters, int count, sqlite3_value **values) {
    struct sample_cursor *c = (struct sample_cursor *)(void *)cursor;
    struct sql_source *source = ((struct sql_table *)cursor->pVtab)->source;
    pfr_samples_options how = {.size = sizeof how};
    pfr_error err;
    bool can_be = true;
    (void)plan;
    if (source_need_model(source, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    for (int i = 0; i < count; i++)
        can_be &= take_filter(&how, source->model, filters[i], values[i]);
    pfr_samples_close(c->samples);
    c->samples = NULL;
    c->ended = true;
    if (!can_be)
        return SQLITE_OK;
    c->samples = pfr_samples_open(source->model, &how, &err);
    return c->samples ? next_batch(c) : sql_table_failed(cursor->pVtab, &err);
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    return ((struct sample_cursor *)(void *)cursor)->ended;
}

static void result_comm(sqlite3_context *to, const struct sql_source *source, uint32_t comm) {
    const char *name = pfr_model_get_comm(source->model, comm);
    if (name)
        sql_result_text(to, source->sql, name, strlen(name));
}

/* Returns the innermost call that was open at the time of the sample. */
static int result_call(sqlite3_vtab_cursor *cursor, sqlite3_context *to, uint32_t thread, uint64_t time) {
    struct sql_source *source = ((struct sql_table *)cursor->pVtab)->source;
    uint64_t call;
    pfr_error err;
    if (source_call_at(source, thread, time, &call, &err) < 0)
        return sql_table_failed(cursor->pVtab, &err);
    sql_result_id(to, call);
    return SQLITE_OK;
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const struct sample_cursor *c = (struct sample_cursor *)(void *)cursor;
    const struct sql_source *source = ((struct sql_table *)cursor->pVtab)->source;
    const pfr_sample_batch *b = c->batch;
    const uint32_t at = c->at;
    switch ((enum sample_column)column) {
    case S_ID:
        sql_result_u64(to, b->id[at]);
        break;
    case S_TS:
        if (b->time[at] != PFR_NO_TIME)
            sql_result_u64(to, b->time[at]);
        break;
    case S_THREAD:
        sql_result_id(to, b->thread[at]);
        break;
    case S_CPU:
        if (b->cpu[at] != PFR_NO_CPU)
            sql_result_u64(to, b->cpu[at]);
        break;
    case S_EVENT:
        sql_result_id(to, b->event[at]);
        break;
    case S_MODE:
        sql_result_u64(to, b->mode[at]);
        break;
    case S_WEIGHT:
        sql_result_u64(to, b->weight[at]);
        break;
    case S_STACK:
        sql_result_id(to, b->stack[at]);
        break;
    case S_CALL:
        return result_call(cursor, to, b->thread[at], b->time[at]);
    case S_COMM:
        result_comm(to, source, b->comm[at]);
        break;
    case S_PERIOD:
        sql_result_u64(to, b->period[at]);
        break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    const struct sample_cursor *c = (struct sample_cursor *)(void *)cursor;
    *id = (sqlite3_int64)c->batch->id[c->at];
    return SQLITE_OK;
}

static const sqlite3_module samples_module = {
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

int sql_samples_register(pfr_sql *sql) {
    return sqlite3_create_module_v2(sql->db, "perfray_samples", &samples_module, sql, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that read the records of a file: `record`, and one for each layout. A row is decoded when a column that needs
 * it is requested; counting rows decodes nothing.
 */
#include "sql/record_cells.h"
#include "sql/sql_records.h"
#include "sql/sql_source.h"

#include "file/read/recording.h"
#include "sql/sql_result.h"

#include <perfray/trace.h>
#include <stdlib.h>

#define RECORDS_GUESSED 1e6 /* estimated number of rows, for SQLite's planner */

struct record_table {
    struct sql_table table;
    unsigned layout; /* L_NONE: `record` */
};

struct record_cursor {
    sqlite3_vtab_cursor base;
    pfr_reader *reader;
    struct record_cells *cells; /* NULL: not needed yet */
    pfr_record rec;
    unsigned layout; /* layout of the current record; L_NONE: unknown type, or damaged */
    bool damaged, ended, has_cells, cells_fit;
    char damage[sizeof((pfr_error *)0)->text];
    sqlite3_int64 row;
    int64_t pid, tid, cpu;
    bool has_point, has_pid, has_tid, has_cpu;
};

/* Columns that every record has. In the table `record` they have these names; other tables put "record_" in front. */
enum common_column { C_OFFSET, C_PART, C_INNER, C_SIZE, C_MISC, C_EVENT, C_TS, C_PID, C_TID, C_CPU, C_TSC, COMMONS };
static const char *const common_names[] = {"record_offset", "record_part",  "record_inner", "record_size",
                                           "record_misc",   "record_event", "ts",           "record_pid",
                                           "record_tid",    "record_cpu",   "record_tsc"};

enum record_column {
    R_OFFSET,
    R_PART,
    R_TYPE,
    R_NAME,
    R_SIZE,
    R_MISC,
    R_TS,
    R_PID,
    R_TID,
    R_EVENT,
    R_FIELDS,
    R_INNER,
    R_CPU,
    R_TSC,
    R_ID,
    R_DAMAGE,
    R_BYTES
};
static const char record_schema[] =
    "CREATE TABLE x(\"offset\" INTEGER, part INTEGER, type INTEGER, name TEXT, size INTEGER, misc INTEGER, "
    "ts INTEGER, pid INTEGER, tid INTEGER, event INTEGER, fields TEXT, \"inner\" INTEGER, cpu INTEGER, tsc INTEGER, "
    "id TEXT, damage TEXT, bytes BLOB)";
/* The columns of `record` that all tables have. */
static const int8_t common_of_record[] = {
    [R_OFFSET] = C_OFFSET, [R_PART] = C_PART,   [R_TYPE] = -1,   [R_NAME] = -1,   [R_SIZE] = C_SIZE,
    [R_MISC] = C_MISC,     [R_TS] = C_TS,       [R_PID] = C_PID, [R_TID] = C_TID, [R_EVENT] = C_EVENT,
    [R_FIELDS] = -1,       [R_INNER] = C_INNER, [R_CPU] = C_CPU, [R_TSC] = C_TSC, [R_ID] = -1,
    [R_DAMAGE] = -1,       [R_BYTES] = -1};

/* --- The table. */

static void declare_columns(sqlite3_str *to, const struct layout_columns *all, unsigned layout, const char *prefix) {
    const struct layout_column *columns = all->columns[layout];
    for (unsigned i = 0; i < all->count[layout]; i++)
        sqlite3_str_appendf(to, ", \"%w%w\" %s%s", prefix, columns[i].name, columns[i].type,
                            columns[i].hidden ? " HIDDEN" : "");
}

static char *declaration(const struct layout_columns *all, unsigned layout) {
    sqlite3_str *to = sqlite3_str_new(NULL);
    sqlite3_str_appendall(to, "CREATE TABLE x(");
    for (unsigned i = 0; i < COMMONS; i++)
        sqlite3_str_appendf(to, "%s%s INTEGER", i ? ", " : "", common_names[i]);
    declare_columns(to, all, layout, "");
    declare_columns(to, all, L_sample_id, "id_");
    sqlite3_str_appendall(to, ", record_trailing BLOB HIDDEN)");
    return sqlite3_str_finish(to);
}

static int declare(sqlite3 *db, const pfr_sql *sql, unsigned layout) {
    if (layout == L_NONE)
        return sqlite3_declare_vtab(db, record_schema);
    char *text = declaration(&sql->layouts, layout);
    const int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    return code;
}

/* Arguments: the source, and the layout's number. */
static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **to,
                         char **message) {
    pfr_sql *sql = context;
    struct sql_source *source = source_of_arguments(sql, count, arguments, message);
    const unsigned layout = count > 4 ? (unsigned)atoi(arguments[4]) : L_NONE;
    if (!source || (layout && (layout >= LAYOUTS || !sql->layouts.columns[layout])))
        return SQLITE_ERROR;
    struct record_table *table = sqlite3_malloc64(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct record_table){.table = {.source = source}, .layout = layout};
    const int code = declare(db, sql, layout);
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

/* There is only one plan, which reads the whole file. */
static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->estimatedCost = RECORDS_GUESSED;
    info->estimatedRows = (sqlite3_int64)RECORDS_GUESSED;
    return SQLITE_OK;
}

/* --- The cursor. */

static struct record_table *table_of(const struct record_cursor *c) {
    return (struct record_table *)(void *)c->base.pVtab;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    (void)table;
    struct record_cursor *c = sqlite3_malloc64(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct record_cursor){.ended = true};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    struct record_cursor *c = (struct record_cursor *)(void *)cursor;
    record_cells_close(c->cells);
    pfr_close(c->reader);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* Whether the hole is a row of `record`: it must be one complete record. */
static bool take_hole(struct record_cursor *c, const pfr_error *hole) {
    if (!c->rec.bytes)
        return false;
    c->damaged = true;
    memcpy(c->damage, hole->text, sizeof c->damage);
    return true;
}

static bool is_wanted(struct record_cursor *c, unsigned layout) {
    c->layout = layout_of_type(&c->reader->context, c->rec.type);
    return layout == L_NONE || (c->layout == layout && !c->damaged);
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    struct record_cursor *c = (struct record_cursor *)(void *)cursor;
    const struct record_table *table = table_of(c);
    const pfr_sql *sql = table->table.source->sql;
    pfr_error err;
    pfr_status st;
    c->has_cells = c->has_point = false;
    while ((st = pfr_next(c->reader, &c->rec, &err)) >= 0 && st != PFR_END) {
        c->damaged = false;
        if (st == PFR_HOLE && !take_hole(c, &err))
            continue;
        c->row++;
        if (is_wanted(c, table->layout))
            return SQLITE_OK;
        if (sql->interrupted)
            return SQLITE_INTERRUPT;
    }
    c->ended = true;
    return st < 0 ? sql_table_failed(c->base.pVtab, &err) : SQLITE_OK;
}

static pfr_status start(struct record_cursor *c, struct sql_source *source, pfr_error *err) {
    PFR_TRY(source_need_clock(source, err));
    if (c->reader)
        return pfr_rewind(c->reader, err);
    c->reader = source_open_reader(source, err);
    return c->reader ? PFR_OK : err->status;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct record_cursor *c = (struct record_cursor *)(void *)cursor;
    struct sql_source *source = table_of(c)->table.source;
    pfr_error err;
    (void)plan, (void)text, (void)count, (void)values;
    c->row = 0;
    c->ended = !source->reader; /* a model has no records */
    if (c->ended)
        return SQLITE_OK;
    if (start(c, source, &err) < 0)
        return sql_table_failed(c->base.pVtab, &err);
    return next_row(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    return ((struct record_cursor *)(void *)cursor)->ended;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = ((struct record_cursor *)(void *)cursor)->row;
    return SQLITE_OK;
}

/* --- Columns that all records have. */

static void take_number(struct record_cursor *c, const char *field, bool *has, int64_t *to) {
    pfr_value value;
    if (*has || pfr_get(&c->rec, field, &value, NULL) != PFR_OK || value.kind == PFR_VALUE_ABSENT)
        return;
    *has = value.kind == PFR_VALUE_SIGNED || value.kind == PFR_VALUE_UNSIGNED;
    *to = value.as.i;
}

/* Finds the process, thread and CPU of a record. The record's own fields take precedence over those of the sample_id,
   which are 0 in records that tools add. */
static void find_point(struct record_cursor *c) {
    const bool own = c->layout && !c->damaged;
    c->has_point = true;
    c->has_pid = c->has_tid = c->has_cpu = false;
    if (own && c->layout != L_sample) {
        take_number(c, "pid", &c->has_pid, &c->pid);
        take_number(c, "tid", &c->has_tid, &c->tid);
    }
    const char *const fields[] = {"pid", "tid", "cpu", "id.pid", "id.tid", "id.cpu"};
    const unsigned from = c->layout == L_sample ? 0 : 3;
    if (c->layout == L_sample && !own)
        return;
    take_number(c, fields[from], &c->has_pid, &c->pid);
    take_number(c, fields[from + 1], &c->has_tid, &c->tid);
    take_number(c, fields[from + 2], &c->has_cpu, &c->cpu);
}

static void find_trace_point(struct record_cursor *c) {
    const pfr_trace_point *at = pfr_get_trace_point(c->reader);
    c->has_point = true;
    c->has_pid = at->has_pid;
    c->has_tid = at->has_tid;
    c->has_cpu = at->timed;
    c->pid = at->pid;
    c->tid = at->tid;
    c->cpu = at->cpu;
}

static void result_time(struct record_cursor *c, sqlite3_context *to) {
    const struct sql_source *source = table_of(c)->table.source;
    if (c->reader->trace) {
        const pfr_trace_point *at = pfr_get_trace_point(c->reader);
        if (at->timed)
            sql_result_u64(to, xray_clock_ns(&source->clock, at->tsc));
        return;
    }
    const uint64_t time = time_of(c->reader, &c->rec);
    if (time != NO_TIME)
        sql_result_u64(to, time);
}

static void result_point(struct record_cursor *c, sqlite3_context *to, enum common_column column) {
    if (!c->has_point && c->reader->trace)
        find_trace_point(c);
    else if (!c->has_point)
        find_point(c);
    const bool has = column == C_PID ? c->has_pid : column == C_TID ? c->has_tid : c->has_cpu;
    if (has)
        sqlite3_result_int64(to, column == C_PID ? c->pid : column == C_TID ? c->tid : c->cpu);
}

static void result_common(struct record_cursor *c, sqlite3_context *to, enum common_column column) {
    const pfr_record *rec = &c->rec;
    const bool is_trace = c->reader->trace != NULL;
    if (column == C_OFFSET)
        sql_result_u64(to, rec->offset);
    else if (column == C_PART)
        sql_result_u64(to, rec->part);
    else if (column == C_INNER && rec->inside)
        sql_result_u64(to, rec->inner);
    else if (column == C_SIZE)
        sql_result_u64(to, rec->size);
    else if (column == C_MISC && !is_trace)
        sql_result_u64(to, rec->misc);
    else if (column == C_EVENT && rec->event != PFR_NO_EVENT)
        sqlite3_result_int64(to, rec->event);
    else if (column == C_TS)
        result_time(c, to);
    else if (column == C_TSC && is_trace && pfr_get_trace_point(c->reader)->timed)
        sql_result_u64(to, pfr_get_trace_point(c->reader)->tsc);
    else if (column == C_PID || column == C_TID || column == C_CPU)
        result_point(c, to, column);
}

/* --- Fields. */

static pfr_status need_cells(struct record_cursor *c, pfr_error *err) {
    pfr_sql *sql = table_of(c)->table.source->sql;
    return c->cells ? PFR_OK : record_cells_open(&c->cells, c->reader, &sql->layouts, &sql->memory, err);
}

static void result_cell(struct record_cursor *c, sqlite3_context *to, const struct cell *cell) {
    const pfr_sql *sql = table_of(c)->table.source->sql;
    size_t length;
    switch (cell->kind) {
    case CELL_NULL:
        break;
    case CELL_INTEGER:
        sqlite3_result_int64(to, cell->as.integer);
        break;
    case CELL_REAL:
        sqlite3_result_double(to, cell->as.real);
        break;
    case CELL_TEXT:
        sql_result_text(to, sql, cell->as.bytes.at, cell->as.bytes.length);
        break;
    case CELL_BLOB:
        sql_result_bytes(to, cell->as.bytes.at, cell->as.bytes.length);
        break;
    case CELL_JSON:
        sqlite3_result_text64(to, out_bytes(&c->cells->to.out, &length) + cell->as.json.from,
                              cell->as.json.to - cell->as.json.from, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    }
}

/* Returns a field; `in_table` is its column, counted from the first column that is a field. */
static int result_field(struct record_cursor *c, sqlite3_context *to, unsigned in_table) {
    pfr_error err;
    if (!c->has_cells) {
        if (need_cells(c, &err) < 0)
            return sql_table_failed(c->base.pVtab, &err);
        const pfr_status st = record_cells_read(c->cells, &c->rec, c->layout, &err);
        if (st < 0 && st != PFR_ERR_DAMAGE)
            return sql_table_failed(c->base.pVtab, &err);
        c->has_cells = true;
    }
    result_cell(c, to, &c->cells->at[in_table]);
    return SQLITE_OK;
}

/* Returns the object "fields" or "id" as the dump prints it. */
static int result_json(struct record_cursor *c, sqlite3_context *to, bool of_id) {
    const char *text;
    size_t length;
    pfr_error err;
    if (need_cells(c, &err) < 0)
        return sql_table_failed(c->base.pVtab, &err);
    c->has_cells = false;
    const pfr_status st = of_id ? record_cells_id(c->cells, &c->rec, &text, &length, &err)
                                : record_cells_fields(c->cells, &c->rec, c->layout, &text, &length, &err);
    if (st == PFR_OK)
        sqlite3_result_text64(to, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
    return st < 0 && st != PFR_ERR_DAMAGE ? sql_table_failed(c->base.pVtab, &err) : SQLITE_OK;
}

static int record_column(struct record_cursor *c, sqlite3_context *to, enum record_column column) {
    const struct layout *layout = layout_at(c->layout);
    if (common_of_record[column] >= 0)
        result_common(c, to, (enum common_column)common_of_record[column]);
    else if (column == R_TYPE)
        sql_result_u64(to, c->rec.type);
    else if (column == R_NAME && layout)
        sqlite3_result_text(to, layout->name, -1, SQLITE_STATIC);
    else if (column == R_DAMAGE && c->damaged)
        sqlite3_result_text(to, c->damage, -1, SQLITE_TRANSIENT);
    else if (column == R_BYTES)
        sql_result_bytes(to, c->rec.bytes, c->rec.size);
    else if (column == R_ID || (column == R_FIELDS && layout && !c->damaged))
        return result_json(c, to, column == R_ID);
    return SQLITE_OK;
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    struct record_cursor *c = (struct record_cursor *)(void *)cursor;
    if (table_of(c)->layout == L_NONE)
        return record_column(c, to, (enum record_column)column);
    if (column >= COMMONS)
        return result_field(c, to, (unsigned)column - COMMONS);
    result_common(c, to, (enum common_column)column);
    return SQLITE_OK;
}

static const sqlite3_module records_module = {
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

int sql_records_register(pfr_sql *sql) {
    return sqlite3_create_module_v2(sql->db, "perfray_records", &records_module, sql, NULL);
}

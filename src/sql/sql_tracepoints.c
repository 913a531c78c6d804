/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for each tracepoint that has samples in the recording, named like the event ("sched:sched_switch"). Its
 * columns are the fields of the format. Arrays are blobs, except texts.
 */
#include "sql/sql_tracepoints.h"
#include "sql/sql_source.h"

#include "file/read/recording.h"
#include "file/read/tracing_blob.h"
#include "model/tracepoint/tracepoint_shape.h"
#include "sql/sql_result.h"

#include <perfray/constants.h>
#include <stdlib.h>

#define TRACING_DATA 1u

struct tracepoint_table {
    const char *name;
    struct event_format format;
    const char **columns; /* names of the fields, made unique in the table */
};

struct tracepoint_vtab {
    struct sql_table table;
    const struct tracepoint_table *of;
};

struct tracepoint_cursor {
    sqlite3_vtab_cursor base;
    pfr_reader *reader;
    pfr_record rec;
    struct pfr_rec_sample sample;
    bool ended;
    sqlite3_int64 row;
};

enum common_column { C_OFFSET, C_TS, C_PID, C_TID, C_CPU, C_EVENT, COMMONS };
static const char *const common_names[] = {"record_offset", "ts",         "record_pid",
                                           "record_tid",    "record_cpu", "record_event"};

const char *tracepoint_name(const struct sql_source *source, unsigned index) {
    return source->tracepoints[index].name;
}

/* --- Finding them. */

static bool is_known(const struct sql_source *source, const char *name) {
    for (unsigned i = 0; i < source->nr_tracepoints; i++)
        if (sqlite3_stricmp(source->tracepoints[i].name, name) == 0)
            return true;
    return false;
}

/* Names the columns. If a field has the name of a common column or of an earlier field, the number of the field is
 * appended. */
static pfr_status name_columns(struct tracepoint_table *t, struct arena *arena, pfr_error *err) {
    t->columns = arena_zeroed(arena, t->format.field_count + 1, sizeof *t->columns);
    if (!t->columns)
        return mem_fail(arena->memory, err, "tracepoint");
    for (size_t i = 0; i < t->format.field_count; i++) {
        const char *name = t->format.fields[i].name;
        bool taken = false;
        for (unsigned c = 0; c < COMMONS; c++)
            taken |= sqlite3_stricmp(common_names[c], name) == 0;
        for (size_t other = 0; other < i; other++)
            taken |= sqlite3_stricmp(t->columns[other], name) == 0;
        char numbered[160];
        sqlite3_snprintf(sizeof numbered, numbered, taken ? "%.100s_%u" : "%.140s", name, (unsigned)i);
        t->columns[i] = arena_text(arena, numbered, strlen(numbered));
        if (!t->columns[i])
            return mem_fail(arena->memory, err, "tracepoint");
    }
    return PFR_OK;
}

static pfr_status add(struct sql_source *source, const pfr_event *event, const struct tracing_format *f,
                      pfr_error *err) {
    struct arena *arena = &source->sql->arena;
    struct tracepoint_shape shape;
    const char *system = arena_text(arena, f->system.at, f->system.length);
    const char *name = arena_text(arena, event->name, strlen(event->name));
    if (!system || !name)
        return mem_fail(arena->memory, err, "tracepoint");
    PFR_TRY(tracepoint_shape_read(f->text.at, f->text.length, system, arena, &shape, err));
    if (!shape.format.fields || shape.verdict == TRACE_NEVER)
        return PFR_OK;
    struct tracepoint_table *t = &source->tracepoints[source->nr_tracepoints];
    *t = (struct tracepoint_table){.name = name, .format = shape.format};
    PFR_TRY(name_columns(t, arena, err));
    source->nr_tracepoints++;
    return PFR_OK;
}

static bool find_format(pfr_bytes bytes, uint64_t id, struct tracing_format *format) {
    struct tracing_blob blob;
    if (blob_open(&blob, bytes.at, bytes.length, 0, NULL) != PFR_OK)
        return false;
    while (blob_next_ftrace(&blob, format, NULL) == PFR_OK)
        if (format->id == id)
            return true;
    while (blob_next(&blob, format, NULL) == PFR_OK)
        if (format->id == id)
            return true;
    return false;
}

/* Whether a table can have this name: names of other tables cannot be used. */
static bool is_usable_name(const char *name) {
    return strchr(name, ':') != NULL && strlen(name) < 200;
}

pfr_status tracepoints_find(struct sql_source *source, pfr_error *err) {
    const uint32_t events = pfr_event_count(source->reader);
    const pfr_feature *feature = pfr_find_feature(source->reader, TRACING_DATA, NULL);
    if (!feature || !feature->bytes.length || source->reader->trace)
        return PFR_OK;
    uint32_t most = events < TRACEPOINTS_MOST ? events : TRACEPOINTS_MOST;
    source->tracepoints = arena_zeroed(&source->sql->arena, most + 1u, sizeof *source->tracepoints);
    if (!source->tracepoints)
        return mem_fail(&source->sql->memory, err, "tracepoint");
    for (uint32_t i = 0; i < events && source->nr_tracepoints < most; i++) {
        const pfr_event *event = pfr_get_event(source->reader, i);
        struct tracing_format format;
        if (event->attr.type == PFR_ATTR_TYPE_TRACEPOINT && is_usable_name(event->name) &&
            !is_known(source, event->name) && find_format(feature->bytes, event->attr.config, &format))
            PFR_TRY(add(source, event, &format, err));
    }
    return PFR_OK;
}

/* --- The table. */

static const char *type_of(const struct format_field *f) {
    if (f->is_string)
        return "TEXT";
    return f->is_array || f->data_loc || f->rel_loc ? "BLOB" : "INTEGER";
}

static char *declaration(const struct tracepoint_table *t) {
    sqlite3_str *to = sqlite3_str_new(NULL);
    sqlite3_str_appendall(to, "CREATE TABLE x(");
    for (unsigned i = 0; i < COMMONS; i++)
        sqlite3_str_appendf(to, "%s%s INTEGER", i ? ", " : "", common_names[i]);
    for (size_t i = 0; i < t->format.field_count; i++)
        sqlite3_str_appendf(to, ", \"%w\" %s", t->columns[i], type_of(&t->format.fields[i]));
    sqlite3_str_appendall(to, ")");
    return sqlite3_str_finish(to);
}

static int connect_table(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **to,
                         char **message) {
    struct sql_source *source = source_of_arguments(context, count, arguments, message);
    const unsigned number = count > 4 ? (unsigned)atoi(arguments[4]) : 0;
    if (!source || number >= source->nr_tracepoints)
        return SQLITE_ERROR;
    struct tracepoint_vtab *table = sqlite3_malloc64(sizeof *table);
    char *text = declaration(&source->tracepoints[number]);
    int code = table && text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code == SQLITE_OK) {
        *table = (struct tracepoint_vtab){.table = {.source = source}, .of = &source->tracepoints[number]};
        *to = &table->table.base;
    } else {
        sqlite3_free(table);
    }
    return code;
}

static int disconnect_table(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    info->estimatedCost = 1e6;
    info->estimatedRows = 100000;
    return SQLITE_OK;
}

/* --- The cursor. */

static const struct tracepoint_vtab *table_of(const struct tracepoint_cursor *c) {
    return (const struct tracepoint_vtab *)(const void *)c->base.pVtab;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **to) {
    struct tracepoint_cursor *c = sqlite3_malloc64(sizeof *c);
    (void)table;
    if (!c)
        return SQLITE_NOMEM;
    *c = (struct tracepoint_cursor){.ended = true};
    *to = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor) {
    struct tracepoint_cursor *c = (struct tracepoint_cursor *)(void *)cursor;
    pfr_close(c->reader);
    sqlite3_free(c);
    return SQLITE_OK;
}

static bool is_of_table(struct tracepoint_cursor *c) {
    if (c->rec.type != PFR_RECORD_SAMPLE || c->rec.event < 0)
        return false;
    const pfr_event *event = pfr_get_event(c->reader, (uint32_t)c->rec.event);
    return event && sqlite3_stricmp(event->name, table_of(c)->of->name) == 0 &&
           pfr_decode(&c->rec, &c->sample, sizeof c->sample, NULL) == PFR_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor) {
    struct tracepoint_cursor *c = (struct tracepoint_cursor *)(void *)cursor;
    const pfr_sql *sql = table_of(c)->table.source->sql;
    pfr_error err;
    pfr_status st;
    while ((st = pfr_next(c->reader, &c->rec, &err)) >= 0 && st != PFR_END) {
        c->row++;
        if (st == PFR_OK && is_of_table(c))
            return SQLITE_OK;
        if (sql->interrupted)
            return SQLITE_INTERRUPT;
    }
    c->ended = true;
    return st < 0 ? sql_table_failed(c->base.pVtab, &err) : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int count, sqlite3_value **values) {
    struct tracepoint_cursor *c = (struct tracepoint_cursor *)(void *)cursor;
    pfr_error err;
    (void)plan, (void)text, (void)count, (void)values;
    c->row = 0;
    c->ended = false;
    if (c->reader) {
        if (pfr_rewind(c->reader, &err) < 0)
            return sql_table_failed(cursor->pVtab, &err);
    } else if (!(c->reader = source_open_reader(table_of(c)->table.source, &err))) {
        return sql_table_failed(cursor->pVtab, &err);
    }
    return next_row(cursor);
}

static int is_at_end(sqlite3_vtab_cursor *cursor) {
    return ((struct tracepoint_cursor *)(void *)cursor)->ended;
}

static void result_common(const struct tracepoint_cursor *c, sqlite3_context *to, enum common_column column) {
    const uint64_t time = time_of(c->reader, &c->rec);
    const uint64_t has = pfr_get_event(c->reader, (uint32_t)c->rec.event)->attr.sample_type;
    if (column == C_OFFSET)
        sql_result_u64(to, c->rec.offset);
    else if (column == C_TS && time != NO_TIME)
        sql_result_u64(to, time);
    else if ((column == C_PID || column == C_TID) && has & PFR_SAMPLE_TID)
        sqlite3_result_int64(to, (int32_t)(column == C_PID ? c->sample.pid : c->sample.tid));
    else if (column == C_CPU && has & PFR_SAMPLE_CPU)
        sqlite3_result_int64(to, (int32_t)c->sample.cpu);
    else if (column == C_EVENT)
        sqlite3_result_int64(to, c->rec.event);
}

static int64_t integer_at(const uint8_t *at, uint32_t size, bool is_signed, bool swap) {
    if (size == 1)
        return is_signed ? (int64_t)(int8_t)*at : (int64_t)*at;
    if (size == 2)
        return is_signed ? (int64_t)(int16_t)load_u16(at, swap) : (int64_t)load_u16(at, swap);
    if (size == 4)
        return is_signed ? (int64_t)(int32_t)load_u32(at, swap) : (int64_t)load_u32(at, swap);
    return (int64_t)load_u64(at, swap);
}

static void result_array(const pfr_sql *sql, sqlite3_context *to, const struct format_field *f, const uint8_t *at,
                         size_t length) {
    if (f->is_string)
        sql_result_text(to, sql, (const char *)at, strnlen((const char *)at, length));
    else
        sql_result_bytes(to, at, length);
}

/* Returns the value of a field; NULL if the record is too short. */
static void result_field(const struct tracepoint_cursor *c, sqlite3_context *to, const struct format_field *f) {
    const pfr_sql *sql = table_of(c)->table.source->sql;
    const pfr_bytes *raw = &c->sample.raw.data;
    const bool swap = c->rec.context->swap;
    if (f->size > raw->length || f->offset > raw->length - f->size)
        return;
    const uint8_t *at = raw->at + f->offset;
    if ((f->data_loc || f->rel_loc) && f->size == 4) {
        const uint32_t place = load_u32(at, swap);
        const uint64_t from = (f->rel_loc ? f->offset + (uint64_t)4 : 0) + (uint16_t)place, length = place / 65536;
        if (from <= raw->length && length <= raw->length - from)
            result_array(sql, to, f, raw->at + from, length);
    } else if (f->is_array || f->is_string) {
        result_array(sql, to, f, at, f->size);
    } else if (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) {
        sqlite3_result_int64(to, integer_at(at, f->size, f->is_signed, swap));
    } else {
        sql_result_bytes(to, at, f->size);
    }
}

static int result_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column) {
    const struct tracepoint_cursor *c = (struct tracepoint_cursor *)(void *)cursor;
    if (column < COMMONS)
        result_common(c, to, (enum common_column)column);
    else
        result_field(c, to, &table_of(c)->of->format.fields[column - COMMONS]);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) {
    *id = ((struct tracepoint_cursor *)(void *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module tracepoints_module = {
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

int sql_tracepoints_register(pfr_sql *sql) {
    return sqlite3_create_module_v2(sql->db, "perfray_tracepoints", &tracepoints_module, sql, NULL);
}

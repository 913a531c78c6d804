/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_PARTS_H
#define PFR_SQL_PARTS_H
/*
 * What the files of SQL share.
 *
 *     sql.c                  the handle: open, close, parameters
 *     sql_guard.c            what a query may do
 *     sql_source.c           a recording: its readers, its model
 *     sql_schema.c           the tables and views of a schema
 *     sql_query.c            statements to rows
 *     sql_format.c, sql_format_text.c      rows to text
 *     sql_functions.c        hex, regexp, percentile
 *     sql_model.c, sql_tables.c, sql_samples.c, sql_calls.c, sql_stacks.c, stack_lists.c   the tables of a model
 *     sql_recipes.c, sql_save.c, sqlite_extension.c
 *     sql_result.c           values to SQLite
 *     layout_columns.c       columns of record layouts, from their tables
 *     record_cells.c         the fields of a record as cells
 *     sql_records.c          the table `record` and one for each layout
 *     sql_tracepoints.c      a table for each tracepoint
 */
#include "base/memory/fail.h"
#include "base/memory/memory.h"
#include "base/memory/arena.h"
#include "file/xray/xray_clock.h"
#include "sql/layout_columns.h"
#include "sql/sqlite_api.h"

#include <perfray/sql.h>
#include <signal.h>

/* A recording, or a model, as the tables of one schema. */
struct sql_source {
    struct pfr_sql *sql;
    unsigned index;
    char *schema;
    char *path;         /* NULL: a model */
    int spooled;        /* a stream is kept in this file; -1: it is no stream */
    pfr_reader *reader; /* knows events and features, and after a whole pass what is damaged */
    bool reader_read;   /* was read to the end */
    struct trace_clock clock;
    bool clock_known;
    const pfr_model *model; /* NULL: not made yet */
    pfr_model *own_model;   /* to close, before the reader that belongs to it */
    pfr_reader *model_reader;
    uint64_t *self, *total; /* of the first event, by stack; NULL: not summed yet */
    size_t nr_sums;
    struct function_sum {
        uint64_t self, total;
    } * functions; /* of the first event, by symbol; NULL: not summed yet */
    size_t nr_functions;
    uint32_t *waits; /* intervals that are rows of `wait`; NULL: not looked for yet */
    size_t nr_waits;
    /* Stacks in lists: of a symbol, of a parent, from the first to the last; NULL: not made yet. */
    uint32_t *of_symbol, *next_of_symbol, *of_parent, *next_of_parent;
    struct pfr_call *calls; /* by id; NULL: not kept yet */
    uint64_t nr_calls;
    struct tracepoint_table *tracepoints;
    unsigned nr_tracepoints;
};

struct sql_parameter {
    char *name, *value;
    struct sql_parameter *next;
};

struct pfr_sql {
    struct memory memory;
    struct arena arena; /* names, parameters, columns of layouts: as long as the handle */
    pfr_alloc alloc;
    pfr_limits limits;
    pfr_open_options opening;
    pfr_model_options modelling;
    sqlite3 *db;
    bool guarded;  /* the authorizer refuses what is no question */
    bool portable; /* texts that are no UTF-8 are escaped: others will read them */
    bool borrowed; /* the connection is somebody else's */
    struct sql_source *sources[PFR_SQL_RECORDINGS_MOST];
    unsigned nr_sources;
    struct sql_parameter *parameters;
    struct layout_columns layouts;
    pfr_error failure; /* of a table, while a statement runs; status PFR_OK: no error */
    volatile sig_atomic_t interrupted;
};

/* A table as SQLite sees it. */
struct sql_table {
    sqlite3_vtab base;
    struct sql_source *source;
};

/* sql.c: a handle on a connection, its own or somebody else's */
pfr_sql *sql_open_on(sqlite3 *db, const pfr_sql_options *options, pfr_error *err);

/* sql_fail.c: SQLite's own error as ours; that of a table where it was one */
pfr_status sql_fail(pfr_sql *sql, int code, pfr_error *err);

/* sql_guard.c */
void sql_guard(pfr_sql *sql);

/* sql_source.c: another reader of the recording; the same file as the first one read, or CHANGED */
pfr_reader *source_open_reader(struct sql_source *source, pfr_error *err);
pfr_status source_need_clock(struct sql_source *source, pfr_error *err);
pfr_status source_need_model(struct sql_source *source, pfr_error *err);
/* stack_lists.c */
void stack_lists_free(struct sql_source *source);

/* sql_calls.c */
pfr_status source_need_calls(struct sql_source *source, pfr_error *err);
/* *call: the id of the innermost call of a thread that was open at a time; 0: no call was open, or the model has no
 * calls. */
pfr_status source_call_at(struct sql_source *source, uint32_t thread, uint64_t time, uint64_t *call, pfr_error *err);
pfr_status source_open(struct sql_source *source, pfr_error *err);
void source_close(struct sql_source *source);

/* sql_schema.c */
pfr_status schema_create(struct sql_source *source, pfr_error *err);
const char *schema_view(void); /* sample_text, from " AS" on */

/* sql_functions.c */
int sql_functions_register(sqlite3 *db);

/* Modules, registered with the handle as their data. */
int sql_records_register(pfr_sql *sql);
int sql_tracepoints_register(pfr_sql *sql);
int sql_model_register(pfr_sql *sql);
int sql_samples_register(pfr_sql *sql);
int sql_calls_register(pfr_sql *sql);
int sql_stacks_register(pfr_sql *sql);

/* sql_tracepoints.c */
#define TRACEPOINTS_MOST 4096u
pfr_status tracepoints_find(struct sql_source *source, pfr_error *err);
const char *tracepoint_name(const struct sql_source *source, unsigned index);

/* sql_result.c */
/* The source that the arguments of a module name; NULL: there is no such source, *message says so. */
struct sql_source *source_of_arguments(pfr_sql *sql, int count, const char *const *arguments, char **message);
/* Remembers the failure for pfr_sql_print, and puts its text where SQLite looks for it. Returns SQLITE_ERROR. */
int sql_table_failed(sqlite3_vtab *table, const pfr_error *err);
void sql_result_text(sqlite3_context *to, const pfr_sql *sql, const char *at, size_t length);
void sql_result_bytes(sqlite3_context *to, const void *at, size_t length);
static inline void sql_result_u64(sqlite3_context *to, uint64_t value) {
    sqlite3_result_int64(to, (sqlite3_int64)value);
}
static inline void sql_result_id(sqlite3_context *to, uint64_t id) {
    if (id)
        sqlite3_result_int64(to, (sqlite3_int64)id);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_PARTS_H
#define PFR_SQL_PARTS_H
/*
 * Data that the files of SQL share.
 *
 *     sql.c                  the handle: open, close, parameters
 *     sql_guard.c            makes queries read-only
 *     sql_source.c           a recording: its readers, its model
 *     sql_schema.c           the tables and views of a schema
 *     sql_query.c            runs statements
 *     sql_format.c, sql_format_text.c      print rows
 *     sql_functions.c        hex, regexp, percentile
 *     sql_model.c, sql_tables.c, sql_samples.c, sql_calls.c, sql_stacks.c, stack_lists.c   the tables of a model
 *     sql_recipes.c, sql_save.c, sqlite_extension.c
 *     sql_result.c           passes values to SQLite
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
    int spooled;        /* descriptor of the file that keeps a stream; -1: not a stream */
    pfr_reader *reader; /* for events and features; also for damage once reader_read is set */
    bool reader_read;   /* `reader` was read to the end */
    struct xray_clock clock;
    bool clock_known;
    const pfr_model *model; /* NULL: not made yet */
    pfr_model *own_model;   /* `model` if this source closes it, before model_reader; or NULL */
    pfr_reader *model_reader;
    uint64_t *self, *total; /* weights of the first event, by stack; NULL: not summed yet */
    size_t nr_sums;
    struct function_sum {
        uint64_t self, total;
    } * functions; /* sums of the first event, by symbol; NULL: not summed yet */
    size_t nr_functions;
    uint32_t *waits; /* numbers of the intervals that are rows of `wait`; NULL: not searched yet */
    size_t nr_waits;
    /* Lists of stacks by symbol and by parent, in ascending order; NULL: not made yet. */
    uint32_t *of_symbol, *next_of_symbol, *of_parent, *next_of_parent;
    struct pfr_call *calls; /* calls by id; NULL: not loaded yet */
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
    struct arena arena; /* names, parameters and columns of layouts, which live as long as the handle */
    pfr_alloc alloc;
    pfr_limits limits;
    pfr_open_options opening;
    pfr_model_options modelling;
    sqlite3 *db;
    bool guarded;  /* the authorizer refuses everything but queries */
    bool portable; /* escape texts that are not UTF-8, because other programs will read them */
    bool borrowed; /* the connection belongs to the caller */
    struct sql_source *sources[PFR_SQL_RECORDINGS_MOST];
    unsigned nr_sources;
    struct sql_parameter *parameters;
    struct layout_columns layouts;
    pfr_error failure; /* error of a table, while a statement runs; status PFR_OK: no error */
    volatile sig_atomic_t interrupted;
};

/* A virtual table of SQLite. */
struct sql_table {
    sqlite3_vtab base;
    struct sql_source *source;
};

/* sql.c: makes a handle that uses `db`, a connection of its own or of the caller */
pfr_sql *sql_open_on(sqlite3 *db, const pfr_sql_options *options, pfr_error *err);

#define TRACEPOINTS_MOST 4096u

/* sql_result.c */
static inline void sql_result_u64(sqlite3_context *to, uint64_t value) {
    sqlite3_result_int64(to, (sqlite3_int64)value);
}
static inline void sql_result_id(sqlite3_context *to, uint64_t id) {
    if (id)
        sqlite3_result_int64(to, (sqlite3_int64)id);
}

#endif

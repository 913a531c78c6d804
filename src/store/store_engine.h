/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_ENGINE_H
#define PFR_STORE_STORE_ENGINE_H
/*
 * The interface between the core of a store and the database that stores it.
 *
 * The core knows recordings, labels, filters and views; an engine knows tables, batches of columns and a fixed list of
 * queries. An engine is a struct of functions: one row of `store_engines` (store_engines.c).
 *
 * Order of calls of a push:
 *
 *     open, version                         version: newer than STORE_VERSION is refused by the core
 *     begin(upload)                         removes rows left by an unfinished push of the same upload
 *     insert(table, batch) ...              dictionaries (SHARED) first, then the other tables; batches of 1 to
 *                                           STORE_BATCH_ROWS rows
 *     complete(batch of one row of `upload`)    from here on, and not before, queries see the upload
 *     close
 *
 * Exactly once: no query returns rows of an upload that has no row in table `upload`, so the process may be killed at
 * any time between begin and complete. If two processes push the same upload at the same time, queries return the rows
 * of only one of them: if the other process has already written its row of `upload`, complete sets *already and keeps
 * the rows of that process.
 *
 * Texts are bytes from recordings. They are bound as parameters or sent as data, never inserted into SQL. They may
 * contain any byte but NUL, and need not be UTF-8.
 *
 * Errors: If the store cannot be reached now (no server; server overloaded; locked by another process for longer than
 * the timeout), PFR_ERR_IO with err->where STORE_AWAY, so that the core may spool. Otherwise PFR_ERR_USAGE (a malformed
 * URL; a store that does not exist; a statement of `sql`), PFR_ERR_FORMAT (not a database), PFR_ERR_PERMISSION,
 * PFR_ERR_MEMORY, or PFR_ERR_IO for other failures. After a failure, the handle can only be closed.
 *
 * Threads: a handle belongs to one thread at a time; several handles of one store may be open in several processes.
 */
#include "base/memory/memory.h"

#include <perfray/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the schema, which is stored in table `setting` under the name "version". Increases with every change
   of store_tables.def. */
#define STORE_VERSION 2u

/* pfr_error.where of failures that may be temporary. */
#define STORE_AWAY "store.away"

/* --- The schema, expanded from store_tables.def by store_schema.c. */

enum store_kind { STORE_U8, STORE_U32, STORE_U64, STORE_I64, STORE_DAY, STORE_TEXT, STORE_LIST };

struct store_column {
    const char *name, *doc;
    enum store_kind kind;
};

enum store_partition { STORE_BY_DAY, STORE_SHARED };

struct store_table {
    const char *name, *doc, *order; /* order: names of columns, separated by ", " */
    enum store_partition partition;
    const struct store_column *columns;
    uint32_t nr_columns;
};

#define TABLE(name, ...) STORE_TABLE_##name,
#define C(...)
#define END
enum store_table_number {
#include "store/store_tables.def"
    STORE_TABLES
};

extern const struct store_table store_tables[STORE_TABLES];

/* --- Batches: columns in the order of the table. */

struct store_text {
    const char *bytes; /* no NUL at the end */
    size_t length;
};

struct store_list {
    const uint64_t *at;
    size_t count;
};

#define STORE_COLUMNS_MOST 20u
#define STORE_BATCH_ROWS 16384u /* maximum number of rows of a batch, for inserts and for queries */

/* Arrays of `rows` values, by kind: uint8_t, uint32_t, uint64_t, int64_t, uint32_t, struct store_text, struct
   store_list. They belong to the caller that made the batch and are valid during the call. */
struct store_batch {
    uint32_t rows;
    const void *column[STORE_COLUMNS_MOST];
};

/* --- Queries: each returns all columns of one table, in the order of store_tables.def, for complete uploads only. */

enum store_query {
    STORE_UPLOADS, /* table upload, sorted by first, then upload: the rows with params.ids; or, if that is NULL, at
                      least the rows of params.service that have no times or overlap params.first to params.last */
    STORE_SAMPLES, /* table sample: the rows of params.uploads with first <= time <= last, or with time 0, in any order.
                      Rows with equal (upload, time, event, comm, stack) may be summed */
    STORE_DAILY,   /* table daily: as STORE_SAMPLES */
    STORE_LATENCIES, /* table latency: the rows of params.uploads */
    STORE_EVENTS,    /* dictionaries: the rows with params.ids, once each, in any order; may return more rows */
    STORE_COMMS,
    STORE_OBJECTS,
    STORE_FRAMES,
    STORE_STACKS,
    STORE_QUERIES
};

struct store_params {
    const uint64_t *uploads; /* ascending */
    size_t nr_uploads;
    uint32_t first_day, last_day; /* first and last day of these uploads: the partitions to read */
    uint64_t first, last;         /* ns since 1970, inclusive; last UINT64_MAX: no upper bound */
    const uint64_t *ids; /* for STORE_UPLOADS and STORE_EVENTS to STORE_STACKS: ascending, distinct; NULL: the whole
                            table */
    size_t nr_ids;
    const char *service; /* for STORE_UPLOADS; NULL: any */
};

/* Receives the rows of a query, batch by batch. A result < 0 ends the query with that status. */
typedef pfr_status store_rows(void *context, const struct store_batch *batch, pfr_error *err);

/* Receives the answer of `sql`: first the names of columns (`values` is NULL), then each row as texts, in which NULL is
   SQL's NULL. */
typedef pfr_status store_sql_row(void *context, uint32_t columns, const struct store_text *const *values,
                                 const char *const *names, pfr_error *err);

/* --- The engine. */

struct store_handle; /* defined by each engine */

struct store_open_options {
    struct memory *memory; /* from which everything is allocated */
    bool create;           /* for `store init`: creates the database and tables if they are missing */
    bool read_only;        /* for views, list, sql */
    uint32_t timeout_ms;   /* limit for connecting, and for waiting for a lock of another process; 0: 10 s */
};

struct store_engine {
    const char *name; /* "sqlite", "clickhouse" */
    const char
        *prefix; /* of its URLs: "sqlite:", "clickhouse://"; a URL without a prefix is the path of a SQLite file */
    /* *handle is NULL after a failure. If `create` is not set, a store that does not exist is PFR_ERR_USAGE. */
    pfr_status (*open)(struct store_handle **handle, const char *url, const struct store_open_options *options,
                       pfr_error *err);
    void (*close)(struct store_handle *handle); /* NULL is fine */
    /* The version of the schema in the store; 0: the database has no tables. */
    pfr_status (*version)(struct store_handle *handle, uint32_t *version, pfr_error *err);
    /* Upgrades the tables from version `from` to version `to`; if `from` is 0, creates all tables. If it was
       interrupted, it can be run again, with the same result. */
    pfr_status (*migrate)(struct store_handle *handle, uint32_t from, uint32_t to, pfr_error *err);
    pfr_status (*begin)(struct store_handle *handle, uint64_t upload, pfr_error *err);
    pfr_status (*insert)(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                         pfr_error *err);
    pfr_status (*complete)(struct store_handle *handle, const struct store_batch *upload, bool *already,
                           pfr_error *err);
    /* Replaces the row of a complete upload, whose labels have changed. */
    pfr_status (*relabel)(struct store_handle *handle, const struct store_batch *upload, pfr_error *err);
    /* Removes these uploads: first their rows of `upload`, then their other rows. If params has all uploads of a day,
       the whole day may be dropped at once. */
    pfr_status (*drop)(struct store_handle *handle, const struct store_params *params, pfr_error *err);
    /* Removes rows of dictionaries to which no upload refers, and rows of incomplete uploads that were begun more than
       a day ago. */
    pfr_status (*collect)(struct store_handle *handle, pfr_error *err);
    /* Between hold(handle, true) and hold(handle, false), all queries see the same uploads. If another process drops
       one of them, later queries still return its rows (SQLite) or fail (ClickHouse). hold(handle, false) must be
       called even if a query failed. */
    pfr_status (*hold)(struct store_handle *handle, bool begin, pfr_error *err);
    pfr_status (*query)(struct store_handle *handle, enum store_query query, const struct store_params *params,
                        store_rows *rows, void *context, pfr_error *err);
    /* Runs one statement of the user, which cannot change the store. */
    pfr_status (*sql)(struct store_handle *handle, const char *statement, store_sql_row *row, void *context,
                      pfr_error *err);
    /* For `store check`: returns the size on disk in bytes, and reports facts about the database, one sentence each.
       PFR_HOLE if one of these facts is a fault. */
    pfr_status (*check)(struct store_handle *handle, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                        void *context, pfr_error *err);
};

extern const struct store_engine store_sqlite, store_clickhouse;

/* The engine of a URL; *rest is the part of the URL for the engine's `open`. NULL: no engine that was built in has this
   prefix. */
const struct store_engine *store_engine_of(const char *url, const char **rest);

#endif

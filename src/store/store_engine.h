/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_ENGINE_H
#define PFR_STORE_STORE_ENGINE_H
/*
 * The interface between the core of a store and the database that keeps it.
 *
 * The core knows recordings, labels, filters and views; an engine knows tables, batches of columns and a fixed list of
 * queries. An engine is a struct of functions: one row of `store_engines` (store_engines.c).
 *
 * Order of calls of a push:
 *
 *     open, version                         version: newer than STORE_VERSION is refused by the core
 *     begin(upload)                         removes what an unfinished push of the same upload left
 *     insert(table, batch) ...              dictionaries (SHARED) first, then the others; any sizes
 *     complete(batch of one row of `upload`)    from here on, and not before, queries see the upload
 *     close
 *
 * Exactly once: no query returns rows of an upload that has no row in table `upload`; between begin and complete the
 * process may die at any moment. Two processes may push the same upload at once: queries return the rows of one of
 * them; complete sets *already if the other one's row of `upload` is there first, and then keeps the other one's rows.
 *
 * Texts are bytes that come from recordings: they are bound as parameters or sent as data, never pasted into SQL. They
 * may contain every byte but NUL, and need not be UTF-8.
 *
 * Errors: PFR_ERR_IO with err->where STORE_AWAY if the store cannot be reached now (no server, overloaded, locked by
 * another process beyond the timeout), so that the core may spool; PFR_ERR_IO for other failures, PFR_ERR_PERMISSION,
 * PFR_ERR_MEMORY, PFR_ERR_USAGE (a malformed URL; a store that does not exist; a statement of `sql`). A handle that
 * failed can only be closed.
 *
 * Threads: a handle belongs to one thread at a time; several handles of one store may be open in several processes.
 */
#include "base/memory/memory.h"

#include <perfray/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the schema, in table `setting` under the name "version". Grows with every change of store_tables.def. */
#define STORE_VERSION 2u

/* pfr_error.where of failures that may pass. */
#define STORE_AWAY "store.away"

/* --- The schema, expanded from store_tables.def by store_schema.c. */

enum store_kind { STORE_U8, STORE_U32, STORE_U64, STORE_I64, STORE_DAY, STORE_TEXT, STORE_LIST };

struct store_column {
    const char *name, *doc;
    enum store_kind kind;
};

enum store_partition { STORE_BY_DAY, STORE_SHARED };

struct store_table {
    const char *name, *doc, *order; /* order: names of columns, comma and blank between */
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
#define STORE_BATCH_ROWS 16384u /* rows of a batch at most, both ways */

/* Arrays of `rows` values: uint8_t, uint32_t, uint64_t, int64_t, uint32_t, struct store_text, struct store_list by
   kind. They belong to whoever made the batch and live during the call. */
struct store_batch {
    uint32_t rows;
    const void *column[STORE_COLUMNS_MOST];
};

/* --- Queries: each returns all columns of one table in the order of store_tables.def, complete uploads only. */

enum store_query {
    STORE_UPLOADS,   /* table upload: all; no parameters. By first, then upload */
    STORE_SAMPLES,   /* table sample: of params.uploads, with first <= time <= last, or time 0. Rows with equal (upload,
                        time, event, comm, stack) may be summed or not, and come in any order */
    STORE_DAILY,     /* table daily: as STORE_SAMPLES */
    STORE_LATENCIES, /* table latency: of params.uploads */
    STORE_EVENTS,    /* dictionaries, whole or more than asked for: rows with params.ids, once each, in any order */
    STORE_COMMS,
    STORE_OBJECTS,
    STORE_FRAMES,
    STORE_STACKS,
    STORE_QUERIES
};

struct store_params {
    const uint64_t *uploads; /* ascending */
    size_t nr_uploads;
    uint32_t first_day, last_day; /* of these uploads: partitions to be read */
    uint64_t first, last;         /* ns since 1970, both included; last UINT64_MAX: no upper bound */
    const uint64_t *ids;          /* of STORE_EVENTS to STORE_STACKS: ascending, distinct; NULL: the whole table */
    size_t nr_ids;
};

/* Receives the rows of a query, batch by batch; < 0 ends the query with that status. */
typedef pfr_status store_rows(void *context, const struct store_batch *batch, pfr_error *err);

/* Receives the answer of `sql`: names of columns first (values NULL), then each row as texts; NULL: SQL's NULL. */
typedef pfr_status store_sql_row(void *context, uint32_t columns, const struct store_text *const *values,
                                 const char *const *names, pfr_error *err);

/* --- The engine. */

struct store_handle; /* of the engine's own kind */

struct store_open_options {
    struct memory *memory; /* everything is allocated from it */
    bool create;           /* `store init`: makes the database and tables that are missing */
    bool read_only;        /* views, list, sql */
    uint32_t timeout_ms;   /* to connect, and for a lock of another process; 0: 10 s */
};

struct store_engine {
    const char *name;   /* "sqlite", "clickhouse" */
    const char *prefix; /* of URLs: "sqlite:", "clickhouse://"; a URL without any is a path of SQLite */
    /* *handle is NULL after a failure. Not creating: a store that does not exist is PFR_ERR_USAGE. */
    pfr_status (*open)(struct store_handle **handle, const char *url, const struct store_open_options *options,
                       pfr_error *err);
    void (*close)(struct store_handle *handle); /* NULL is fine */
    /* Of the schema in the store; 0: the database has no tables. */
    pfr_status (*version)(struct store_handle *handle, uint32_t *version, pfr_error *err);
    /* Makes the tables of version `to` out of those of version `from`; from 0: all of them. Done again after it was
       interrupted, it ends the same. */
    pfr_status (*migrate)(struct store_handle *handle, uint32_t from, uint32_t to, pfr_error *err);
    pfr_status (*begin)(struct store_handle *handle, uint64_t upload, pfr_error *err);
    pfr_status (*insert)(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                         pfr_error *err);
    pfr_status (*complete)(struct store_handle *handle, const struct store_batch *upload, bool *already,
                           pfr_error *err);
    /* Replaces the row of a complete upload: labels changed. */
    pfr_status (*relabel)(struct store_handle *handle, const struct store_batch *upload, pfr_error *err);
    /* Removes these uploads: the row of `upload` first, then their other rows. A whole day may be dropped at once where
       params name all uploads of it. */
    pfr_status (*drop)(struct store_handle *handle, const struct store_params *params, pfr_error *err);
    /* Removes rows of dictionaries that no upload refers to, and of uploads that were never completed and begun more
       than a day ago. */
    pfr_status (*collect)(struct store_handle *handle, pfr_error *err);
    pfr_status (*query)(struct store_handle *handle, enum store_query query, const struct store_params *params,
                        store_rows *rows, void *context, pfr_error *err);
    /* One statement of the user's, which cannot change the store. */
    pfr_status (*sql)(struct store_handle *handle, const char *statement, store_sql_row *row, void *context,
                      pfr_error *err);
    /* Bytes on disk, and whatever the engine says of its health, a sentence each (`store check`): PFR_HOLE if some
       sentence is a fault. */
    pfr_status (*check)(struct store_handle *handle, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                        void *context, pfr_error *err);
};

extern const struct store_engine store_sqlite, store_clickhouse;

/* The engine of a URL, and in *rest what the engine opens. NULL: no engine that was built in has this prefix. */
const struct store_engine *store_engine_of(const char *url, const char **rest);

#endif

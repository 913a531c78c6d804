/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_PARTS_H
#define PFR_STORE_CLICK_PARTS_H
/*
 * Declarations that the files of the ClickHouse engine share. Each server is a shard: for each of its uploads it has
 * all rows, and all dictionary rows to which these refer. No table is Distributed; this program queries every shard and
 * merges the answers.
 *
 * Queries do not see the rows of a push before its row of `upload` is written. Servers have no transactions. Therefore
 * each push is an attempt with a number of its own, and tables have these additional columns:
 *
 * - attempt, in tables with a day: set by begin; seconds since 1970 by the clock of the shard << 32 | random bits.
 * - revision, in upload: first 0; increases when labels change and when the upload is dropped. The greatest is valid.
 * - dropped, in upload: 1 if the upload was dropped; its rows may be deleted.
 * - at, in dictionaries: when the push began, in seconds since 1970 by the clock of the shard. Rows of running pushes
 *   are recognised by it and are not deleted.
 *
 * The rows of an upload are those of its valid attempt, which is the least of all attempts, on any shard, that are
 * complete and not dropped. So the rows of a push that was killed are invisible, two simultaneous pushes of one
 * recording count once, and a push need not delete anything first. Tables are named all_sample and so on; `sample`, for
 * users, is a view of the complete rows without these columns.
 *
 *     click_engine.c     the handle, and the struct of functions
 *     click_url.c        URLs
 *     click_ask.c        sends queries, receives blocks
 *     click_schema.c     tables and views
 *     click_upgrade.c    tables of older versions
 *     click_push.c       begin, insert, complete, relabel
 *     click_known.c      finds rows of dictionaries that need not be sent
 *     click_attempts.c   finds the valid attempts
 *     click_query.c, click_uploads.c, click_batch.c      rows of complete uploads
 *     click_remove.c, click_collect.c     drop, collect
 *     click_sql.c        statements of users
 *     click_check.c      health
 */
#include "base/io/output.h"
#include "base/memory/arena.h"
#include "base/memory/fail.h"
#include "store/clickhouse/http.h"
#include "store/clickhouse/native.h"
#include "store/store_engine.h"

#define CLICK_ALL "all_"
#define CLICK_ATTEMPT_SHIFT 32u    /* position of the seconds in an attempt */
#define CLICK_KEPT_SECONDS 86400u  /* a younger attempt may still be running */
#define CLICK_FRESH_SECONDS 43200u /* a younger row of a dictionary need not be sent again */

struct click_attempt {
    uint64_t upload, attempt, rows, sums, revision;
    unsigned server;
};

struct click_attempts {
    struct click_attempt *at; /* sorted by upload */
    size_t count, room;
};

struct store_handle {
    struct memory *memory;
    struct arena arena; /* texts of the URL */
    struct http *http;
    unsigned nr_servers;
    const char *database;
    bool is_held, is_listed;
    struct click_attempts listed; /* if is_listed: valid attempts, as found by the last query of uploads since `hold` */
    /* The push. */
    uint64_t upload, attempt;
    uint64_t began;              /* when the push began: seconds since 1970, by the shard's clock */
    unsigned server;             /* shard of the push */
    uint64_t sent[STORE_TABLES]; /* number of rows sent, by table */
    bool is_begun, is_encoding;
    enum store_table_number table; /* the table whose rows are being encoded */
    struct native_column columns[NATIVE_COLUMNS_MOST];
    struct native_encoder encoder;
};

/* --- click_ask.c */

/* Receives a block of the answer of server number `server`. */
typedef pfr_status click_block(void *context, unsigned server, const struct native_block *block, pfr_error *err);

/* Runs the query in `query` on all servers, and passes the blocks of their answers to `each`, server by server. `query`
   is always closed. */
pfr_status click_ask(struct store_handle *handle, struct output *query, const struct http_table *table,
                     const struct native_column *columns, unsigned count, click_block *each, void *context,
                     pfr_error *err);
/* As click_ask, for a statement without an answer. */
pfr_status click_run(struct store_handle *handle, struct output *query, const struct http_table *table, pfr_error *err);
/* As click_run and click_ask, for one server. */
pfr_status click_run_one(struct store_handle *handle, unsigned server, struct output *query, pfr_error *err);
pfr_status click_ask_one(struct store_handle *handle, unsigned server, struct output *query,
                         const struct http_table *table, const struct native_column *columns, unsigned count,
                         click_block *each, void *context, pfr_error *err);

/* Gets the time in seconds since 1970 by the slowest clock of these servers. The clocks of pushing hosts are not used,
   because they may be days off. */
pfr_status click_now(struct store_handle *handle, unsigned first, unsigned count, uint64_t *seconds, pfr_error *err);

void click_begin_query(struct store_handle *handle, struct output *query);
/* Appends texts up to a NULL. A `$` in them becomes the quoted name of the database and a dot. */
void click_add(struct store_handle *handle, struct output *query, ...) __attribute__((sentinel));

/* --- click_schema.c */

/* The columns of a table as the core has them or, if `stored`, as they are stored. Returns their number. */
unsigned click_columns(enum store_table_number table, bool stored, struct native_column columns[NATIVE_COLUMNS_MOST]);
/* Whether the column is stored as two columns, like the time of samples. */
bool click_is_split(enum store_table_number table, unsigned column);
/* The columns by which the server sorts rows of `sample` and `daily`, most significant first. Returns their number; 0
   for other tables, which have few rows. */
unsigned click_sorting_columns(enum store_table_number table, unsigned keys[NATIVE_COLUMNS_MOST]);
/* Appends the names of the first `count` columns: `a`,`b`,... */
void click_add_names(struct output *query, const struct native_column *columns, unsigned count);
pfr_status click_version(struct store_handle *handle, uint32_t *version, pfr_error *err);
pfr_status click_migrate(struct store_handle *handle, uint32_t from, uint32_t to, pfr_error *err);
/* --- click_upgrade.c: upgrades tables of older versions on all servers that have them. Can be run again. */
pfr_status click_upgrade(struct store_handle *handle, pfr_error *err);

/* Checks that every server has the database, or creates it. USAGE: a server does not have it. */
pfr_status click_need_database(struct store_handle *handle, bool create, pfr_error *err);

/* --- click_push.c */

pfr_status click_begin(struct store_handle *handle, uint64_t upload, pfr_error *err);
pfr_status click_insert(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                        pfr_error *err);
pfr_status click_complete(struct store_handle *handle, const struct store_batch *upload, bool *already, pfr_error *err);
pfr_status click_relabel(struct store_handle *handle, const struct store_batch *upload, pfr_error *err);

/* --- click_known.c: finds the ids of a dictionary batch whose rows the shard already has. Only rows less than half a
   day old count, because these are not removed during the push. */
struct u64_map;
pfr_status click_find_known(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                            struct u64_map *known, pfr_error *err);

/* --- click_attempts.c */

/* Finds the valid attempts of these uploads (ids NULL: of all uploads). Free the list with click_attempts_free, also on
   failure. */
pfr_status click_attempts_find(struct store_handle *handle, const uint64_t *ids, size_t count,
                               struct click_attempts *attempts, pfr_error *err);
/* Finds all attempts that a query with the clauses `from` returns. Members other than upload, attempt and server are
   0. */
pfr_status click_attempts_select(struct store_handle *handle, const char *from, const struct http_table *ids,
                                 struct click_attempts *attempts, pfr_error *err);
pfr_status click_attempts_add(struct store_handle *handle, struct click_attempts *attempts,
                              const struct click_attempt *attempt, pfr_error *err);
/* Sorts the list by upload, and keeps only the smallest attempt of each upload. */
void click_attempts_keep_least(struct click_attempts *attempts);
void click_attempts_free(struct store_handle *handle, struct click_attempts *attempts);
/* NULL: there is no complete upload with this id. */
const struct click_attempt *click_attempts_of(const struct click_attempts *attempts, uint64_t upload);

/* --- Tables that are sent with a query, which calls them `ids`: a table of numbers (id), and a table of attempts
   (upload, attempt). `bytes` gets the bytes of the table; the caller closes `bytes`, unless the call failed. */
pfr_status click_table_of_ids(struct store_handle *handle, const uint64_t *ids, size_t count, struct output *bytes,
                              struct http_table *table, pfr_error *err);
pfr_status click_table_of_attempts(struct store_handle *handle, const struct click_attempt *at, size_t count,
                                   struct output *bytes, struct http_table *table, pfr_error *err);

/* --- Other files. */

pfr_status click_query_uploads(struct store_handle *handle, const struct store_params *params, store_rows *rows,
                               void *context, pfr_error *err);
/* While the store is held, the valid attempts are those of the last query of uploads. Rows of an upload that is dropped
   meanwhile may be missing from later answers; click_query reports that. */
pfr_status click_hold(struct store_handle *handle, bool begin, pfr_error *err);

pfr_status click_query(struct store_handle *handle, enum store_query query, const struct store_params *params,
                       store_rows *rows, void *context, pfr_error *err);
pfr_status click_drop(struct store_handle *handle, const struct store_params *params, pfr_error *err);
pfr_status click_collect(struct store_handle *handle, pfr_error *err);
pfr_status click_sql(struct store_handle *handle, const char *statement, store_sql_row *row, void *context,
                     pfr_error *err);
pfr_status click_check(struct store_handle *handle, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                       void *context, pfr_error *err);

#endif

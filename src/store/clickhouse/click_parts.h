/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_PARTS_H
#define PFR_STORE_CLICK_PARTS_H
/*
 * What the files of the ClickHouse engine share. Each server is a shard: it has all rows of an upload and all rows of
 * dictionaries that these name. Nothing is Distributed: this program asks every shard and merges the answers.
 *
 * A push writes rows that no query sees until its row of `upload` is there. Servers have no transactions, so rows say
 * which push, here called an attempt, wrote them:
 *
 * - attempt, of tables with a day: drawn by begin, seconds since 1970 by the clock of the shard << 32 | random bits.
 * - revision, of upload: 0; grows when labels change and when the upload is dropped. The greatest counts.
 * - dropped, of upload: 1: the upload was dropped, its rows may go.
 * - at, of dictionaries: seconds since 1970 by the clock of the shard when the push began: rows of one that is under
 *   way stay.
 *
 * An upload's rows are those of its least attempt that is complete and not dropped, on whatever shard it is. So a push
 * that was killed leaves rows that nobody sees, two pushes at once count once, and nothing has to be deleted first.
 * Tables are called all_sample and so on; `sample`, for people, is a view of what is complete, without these columns.
 *
 *     click_engine.c     the handle, the struct of functions
 *     click_url.c        URLs
 *     click_ask.c        queries to blocks
 *     click_schema.c     tables and views
 *     click_upgrade.c    tables of older versions
 *     click_push.c       begin, insert, complete, relabel
 *     click_known.c      rows of dictionaries that need not be sent
 *     click_attempts.c   which attempts count
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
#define CLICK_ATTEMPT_SHIFT 32u    /* of the seconds in an attempt */
#define CLICK_KEPT_SECONDS 86400u  /* an attempt that is younger may be under way */
#define CLICK_FRESH_SECONDS 43200u /* a row of a dictionary that is younger need not be sent again */

struct store_handle {
    struct memory *memory;
    struct arena arena; /* texts of the URL */
    struct http *http;
    unsigned nr_servers;
    const char *database;
    /* The push. */
    uint64_t upload, attempt;
    uint64_t began;              /* by the clock of its shard, seconds since 1970 */
    unsigned server;             /* its shard */
    uint64_t sent[STORE_TABLES]; /* rows of each table */
    bool is_begun, is_encoding;
    enum store_table_number table; /* whose rows are encoded */
    struct native_column columns[NATIVE_COLUMNS_MOST];
    struct native_encoder encoder;
};

/* --- click_ask.c */

/* Receives a block of the answer of server `server`. */
typedef pfr_status click_block(void *context, unsigned server, const struct native_block *block, pfr_error *err);

/* Runs a query, NUL-terminated in `query`, on all servers, and hands over the blocks of their answers, server by
   server. `query` is closed in any case. */
pfr_status click_ask(struct store_handle *handle, struct output *query, const struct http_table *table,
                     const struct native_column *columns, unsigned count, click_block *each, void *context,
                     pfr_error *err);
/* The same for a statement without an answer. */
pfr_status click_run(struct store_handle *handle, struct output *query, const struct http_table *table, pfr_error *err);
/* For one server. */
pfr_status click_run_one(struct store_handle *handle, unsigned server, struct output *query, pfr_error *err);
pfr_status click_ask_one(struct store_handle *handle, unsigned server, struct output *query,
                         const struct http_table *table, const struct native_column *columns, unsigned count,
                         click_block *each, void *context, pfr_error *err);

/* Seconds since 1970 of the server whose clock is the slowest of these: hosts that push may be days off. */
pfr_status click_now(struct store_handle *handle, unsigned first, unsigned count, uint64_t *seconds, pfr_error *err);

void click_begin_query(struct store_handle *handle, struct output *query);
/* Texts up to a NULL. In them `$` is the quoted name of the database with a dot. */
void click_add(struct store_handle *handle, struct output *query, ...) __attribute__((sentinel));

/* --- click_schema.c */

/* Columns of a table: those of the core, or those that are stored. Returns their number. */
unsigned click_columns(enum store_table_number table, bool stored, struct native_column columns[NATIVE_COLUMNS_MOST]);
/* Whether the column is not stored as it is: the time of samples, which is two columns. */
bool click_is_split(enum store_table_number table, unsigned column);
/* `a`,`b`,...: the first `count` names of columns. */
void click_add_names(struct output *query, const struct native_column *columns, unsigned count);
pfr_status click_version(struct store_handle *handle, uint32_t *version, pfr_error *err);
pfr_status click_migrate(struct store_handle *handle, uint32_t from, uint32_t to, pfr_error *err);
/* --- click_upgrade.c: brings tables of older versions up to date, whichever servers have them. Can be run again. */
pfr_status click_upgrade(struct store_handle *handle, pfr_error *err);

/* USAGE where a server has no such database, unless it is made. */
pfr_status click_need_database(struct store_handle *handle, bool create, pfr_error *err);

/* --- click_push.c */

pfr_status click_begin(struct store_handle *handle, uint64_t upload, pfr_error *err);
pfr_status click_insert(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                        pfr_error *err);
pfr_status click_complete(struct store_handle *handle, const struct store_batch *upload, bool *already, pfr_error *err);
pfr_status click_relabel(struct store_handle *handle, const struct store_batch *upload, pfr_error *err);

/* --- click_known.c: ids of a batch of a dictionary that the shard has since less than half a day, so that they will
   not be collected while the push goes on. */
struct u64_map;
pfr_status click_find_known(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                            struct u64_map *known, pfr_error *err);

/* --- click_attempts.c */

struct click_attempt {
    uint64_t upload, attempt, rows, sums, revision;
    unsigned server;
};

struct click_attempts {
    struct click_attempt *at; /* by upload */
    size_t count, room;
};

/* The attempts that count, of these uploads (ids NULL: of all). Freed by click_attempts_free, also after a failure. */
pfr_status click_attempts_find(struct store_handle *handle, const uint64_t *ids, size_t count,
                               struct click_attempts *attempts, pfr_error *err);
/* All attempts of a query that goes on with `from`, one for each; the other numbers are 0. */
pfr_status click_attempts_select(struct store_handle *handle, const char *from, const struct http_table *ids,
                                 struct click_attempts *attempts, pfr_error *err);
void click_attempts_free(struct store_handle *handle, struct click_attempts *attempts);
/* NULL: no complete upload of this name. */
const struct click_attempt *click_attempts_of(const struct click_attempts *attempts, uint64_t upload);

/* --- Tables that are sent with a query, called ids: of numbers (id), and of attempts (upload, attempt). The bytes are
   in `bytes`, to be closed unless the call failed. */
pfr_status click_table_of_ids(struct store_handle *handle, const uint64_t *ids, size_t count, struct output *bytes,
                              struct http_table *table, pfr_error *err);
pfr_status click_table_of_attempts(struct store_handle *handle, const struct click_attempt *at, size_t count,
                                   struct output *bytes, struct http_table *table, pfr_error *err);

/* --- The others. */

pfr_status click_query_uploads(struct store_handle *handle, store_rows *rows, void *context, pfr_error *err);

pfr_status click_query(struct store_handle *handle, enum store_query query, const struct store_params *params,
                       store_rows *rows, void *context, pfr_error *err);
pfr_status click_drop(struct store_handle *handle, const struct store_params *params, pfr_error *err);
pfr_status click_collect(struct store_handle *handle, pfr_error *err);
pfr_status click_sql(struct store_handle *handle, const char *statement, store_sql_row *row, void *context,
                     pfr_error *err);
pfr_status click_check(struct store_handle *handle, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                       void *context, pfr_error *err);

#endif

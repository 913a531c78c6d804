/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_PARTS_H
#define PFR_STORE_STORE_PARTS_H
/*
 * A store (perfray/store.h), one file per concern:
 *
 *     store_tables.def      the tables; store_schema.c has the descriptors of the tables
 *     store_engine.h        the interface of engines; store_engines.c lists them
 *     store_columns.c       batches
 *     store_sqlite.c, store_sqlite_query.c, store_sqlite_statement.c
 *                           the engine for SQLite files: see store_sqlite.h
 *     store_open.c          handles and versions
 *     store_hash.c          ids computed from content
 *     store_content.c       the id of a recording
 *     store_push.c          converts a recording to rows: the steps, the row of `upload`
 *     store_push_rows.c     frames, stacks and sums of a profile
 *     store_push_sums.c     sums by day and function
 *     store_push_calls.c    latencies of a trace
 *     store_push_next.c     sends full batches to the engine; remembers which dictionary rows were sent
 *     store_uploads.c       rows of `upload`
 *     store_where.c         parses expressions that select rows
 *     store_where_match.c   evaluates such expressions for uploads and rows
 *     store_where_time.c    reads and writes times in such expressions
 *     store_select.c        loads the rows that an expression selects
 *     stored_names.c        loads the dictionaries of the selected rows
 *     stored_reader.c       a reader of the selected rows
 *     stored_profile.c, stored_model.c, stored_costs.c
 *                           make the profile, the model and the latencies of the selected rows
 *     store_list.c          prints uploads and the results of SQL statements
 *     store_manage.c        removes uploads; checks that uploads are complete
 */
#include "base/memory/fail.h"
#include "base/memory/memory.h"
#include "base/tables/hashmap.h"
#include "store/store_columns.h"

#include <perfray/store.h>

struct pfr_store {
    struct memory memory;
    pfr_limits limits;
    const struct store_engine *engine;
    struct store_handle *handle;
    uint64_t now; /* 0: the current time */
    bool read_only;
};

#define DAY_NS ((uint64_t)86400 * 1000000000)
#define SECOND_NS ((uint64_t)1000000000)

uint64_t store_now(const struct pfr_store *store);

/* --- store_hash.c: the id of a row of a dictionary. */

/* Hashes the content of the row piece by piece. */
struct store_hash {
    uint64_t so_far;
};
void store_hash_begin(struct store_hash *h);
void store_hash_number(struct store_hash *h, uint64_t number);
void store_hash_bytes(struct store_hash *h, const void *bytes, size_t length);
uint64_t store_hash_end(const struct store_hash *h); /* never 0 */

/* --- store_uploads.c */

#define LABEL_ROOM 256u

/* A row of `upload`. */
struct store_upload {
    uint64_t id, pushed, first, last, slot, samples, rows, lost, holes, frequency, sums;
    char content[33], service[LABEL_ROOM], version[LABEL_ROOM], host[LABEL_ROOM], clock[12], kind[12];
};
struct store_uploads {
    struct memory *memory;
    struct store_upload *at;
    size_t count, room;
};
struct where;
/* Loads the rows of `upload` that `where` may match (NULL: all), allocated from `memory`. Free them with
   store_uploads_free, also on failure. */
pfr_status store_uploads_load(struct pfr_store *store, struct memory *memory, const struct where *where,
                              struct store_uploads *all, pfr_error *err);
/* Loads the row of `upload` with this id, if there is one, in the same way. */
pfr_status store_uploads_find(struct pfr_store *store, struct memory *memory, uint64_t id, struct store_uploads *all,
                              pfr_error *err);
void store_uploads_free(struct store_uploads *all);
/* Puts the row, as a batch of one row, into `c`, which is open for table `upload`. */
pfr_status store_upload_put(struct store_columns *c, const struct store_upload *u, pfr_error *err);
static inline bool store_upload_is_trace(const struct store_upload *u) {
    return u->kind[0] == 'c';
}

#endif

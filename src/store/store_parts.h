/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_PARTS_H
#define PFR_STORE_STORE_PARTS_H
/*
 * A store (perfray/store.h), one file per concern:
 *
 *     store_tables.def      the tables; store_schema.c: as descriptors
 *     store_engine.h        what an engine is; store_engines.c: their list
 *     store_columns.c       batches
 *     store_sqlite.c, store_sqlite_query.c
 *     store_open.c          handles and versions
 *     store_hash.c          ids made of content
 *     store_push.c          a recording to rows: the steps, the row of `upload`
 *     store_push_rows.c     frames, stacks and sums of a profile
 *     store_push_sums.c     sums by day and function
 *     store_push_calls.c    latencies of a trace
 *     store_uploads.c       rows of `upload`
 *     store_where.c         expressions
 *     store_select.c        rows that an expression selects
 *     store_names.c         dictionaries of them
 *     stored_reader.c       a reader over them; stored_profile.c, stored_model.c, stored_costs.c: for the views
 *     store_list.c, store_manage.c
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
    uint64_t now; /* 0: ask the clock */
    bool read_only;
};

#define DAY_NS ((uint64_t)86400 * 1000000000)
#define SECOND_NS ((uint64_t)1000000000)

uint64_t store_now(const struct pfr_store *store);

/* --- store_hash.c: an id of a row of a dictionary. */

/* What it is made of, put piece by piece. */
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
/* Rows in `memory`. */
pfr_status store_uploads_load(struct pfr_store *store, struct memory *memory, struct store_uploads *all,
                              pfr_error *err);
void store_uploads_free(struct store_uploads *all);
/* The row as a batch of one, in `c`, which is open for this table. */
pfr_status store_upload_put(struct store_columns *c, const struct store_upload *u, pfr_error *err);
static inline bool store_upload_is_trace(const struct store_upload *u) {
    return u->kind[0] == 'c';
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts rows of the table `upload` to a struct and back. */
#include "store/store_where.h"

#include <string.h>

/* Columns of the table `upload`, in the order of store_tables.def. */
enum {
    U_DAY,
    U_ID,
    U_CONTENT,
    U_SERVICE,
    U_VERSION,
    U_HOST,
    U_CLOCK,
    U_KIND,
    U_PUSHED,
    U_FIRST,
    U_LAST,
    U_SLOT,
    U_SAMPLES,
    U_ROWS,
    U_LOST,
    U_HOLES,
    U_FREQUENCY,
    U_SUMS
};

/* Members of struct store_upload that are texts or numbers. */
static const struct member {
    uint32_t column;
    size_t at, room; /* `room` 0: a number */
} members[] = {
#define TEXT(column, member)                                                                                           \
    { column, offsetof(struct store_upload, member), sizeof((struct store_upload *)0)->member }
#define NUMBER(column, member)                                                                                         \
    { column, offsetof(struct store_upload, member), 0 }
    NUMBER(U_ID, id),       TEXT(U_CONTENT, content), TEXT(U_SERVICE, service), TEXT(U_VERSION, version),
    TEXT(U_HOST, host),     TEXT(U_CLOCK, clock),     TEXT(U_KIND, kind),       NUMBER(U_PUSHED, pushed),
    NUMBER(U_FIRST, first), NUMBER(U_LAST, last),     NUMBER(U_SLOT, slot),     NUMBER(U_SAMPLES, samples),
    NUMBER(U_ROWS, rows),   NUMBER(U_LOST, lost),     NUMBER(U_HOLES, holes),   NUMBER(U_FREQUENCY, frequency),
    NUMBER(U_SUMS, sums),
};
#define MEMBERS (sizeof members / sizeof *members)

static void read_row(const struct store_batch *b, uint32_t row, struct store_upload *u) {
    memset(u, 0, sizeof *u);
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct member *m = &members[i];
        char *const to = (char *)u + m->at;
        if (!m->room) {
            *(uint64_t *)(void *)to = store_u64(b, m->column, row);
            continue;
        }
        const struct store_text text = store_text_at(b, m->column, row);
        memcpy(to, text.bytes, text.length < m->room ? text.length : m->room - 1);
    }
}

struct upload_loading {
    struct store_uploads *all;
    const struct where *where; /* NULL: all rows are kept */
};

/* A row that does not match is overwritten by the next row, because a store may have far more uploads than a view
   selects. */
static pfr_status take(void *context, const struct store_batch *b, pfr_error *err) {
    const struct upload_loading *loading = context;
    struct store_uploads *all = loading->all;
    for (uint32_t i = 0; i < b->rows; i++) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 64, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "uploads");
        all->at = more;
        read_row(b, i, &all->at[all->count]);
        all->count += !loading->where || where_of_upload(loading->where, &all->at[all->count]) != WHERE_NO;
    }
    return PFR_OK;
}

static pfr_status ask(struct pfr_store *store, struct memory *memory, const struct store_params *params,
                      struct upload_loading *loading, pfr_error *err) {
    *loading->all = (struct store_uploads){.memory = memory};
    return store->engine->query(store->handle, STORE_UPLOADS, params, take, loading, err);
}

pfr_status store_uploads_load(struct pfr_store *store, struct memory *memory, const struct where *where,
                              struct store_uploads *all, pfr_error *err) {
    struct store_params params = {.last = UINT64_MAX};
    if (where) {
        where_times(where, &params.first, &params.last);
        params.service = where_service(where);
    }
    return ask(store, memory, &params, &(struct upload_loading){all, where}, err);
}

pfr_status store_uploads_find(struct pfr_store *store, struct memory *memory, uint64_t id, struct store_uploads *all,
                              pfr_error *err) {
    const struct store_params params = {.last = UINT64_MAX, .ids = &id, .nr_ids = 1};
    return ask(store, memory, &params, &(struct upload_loading){all, NULL}, err);
}

void store_uploads_free(struct store_uploads *all) {
    if (all->memory)
        mem_free(all->memory, all->at, all->room, sizeof *all->at);
    all->at = NULL;
}

pfr_status store_upload_put(struct store_columns *c, const struct store_upload *u, pfr_error *err) {
    store_columns_number(c, U_DAY, u->first / DAY_NS);
    for (size_t i = 0; i < MEMBERS; i++) {
        const struct member *m = &members[i];
        const char *const from = (const char *)u + m->at;
        if (m->room)
            PFR_TRY(store_columns_text(c, m->column, from, strlen(from), err));
        else
            store_columns_number(c, m->column, *(const uint64_t *)(const void *)from);
    }
    store_columns_next(c);
    return PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of uploads over all shards, in time order, with the valid row of each upload. */
#include "store/clickhouse/click_batch.h"
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include <stdlib.h>
#include <string.h>

#define UPLOADS_FIRST 64u

struct listed_upload {
    struct click_row row; /* in a block in listing.arena */
    uint64_t upload, attempt, first;
};

struct listing {
    struct store_handle *handle;
    struct arena arena;                                /* memory of the blocks */
    struct native_column columns[NATIVE_COLUMNS_MOST]; /* columns of every block; blocks refer to this array */
    struct listed_upload *at;
    size_t count, room;
    unsigned upload, first, attempt, rows, sums; /* indexes of columns */
};

static unsigned column_of(const struct native_column *columns, unsigned count, const char *name) {
    unsigned column = 0;
    while (column < count && strcmp(columns[column].name, name) != 0)
        column++;
    return column;
}

static bool add_row(struct listing *listing, const struct native_block *block, size_t row) {
    struct listed_upload *grown =
        mem_grow(listing->handle->memory, listing->at, listing->count, &listing->room, UPLOADS_FIRST, sizeof *grown);
    if (!grown)
        return false;
    listing->at = grown;
    grown[listing->count++] = (struct listed_upload){{block, row},
                                                     native_u64(block, listing->upload, row),
                                                     native_u64(block, listing->attempt, row),
                                                     native_u64(block, listing->first, row)};
    return true;
}

/* Copies a block with the positions of its texts, which are freed after the call. The bytes of the answer are valid
   until the next query. */
static pfr_status keep_block(struct listing *listing, const struct native_block *block, pfr_error *err) {
    struct native_block *own = arena_copy(&listing->arena, block, sizeof *block, _Alignof(struct native_block));
    bool kept = own != NULL;
    for (unsigned i = 0; kept && i < block->count; i++)
        if (block->data[i].texts) {
            own->data[i].texts = arena_copy(&listing->arena, block->data[i].texts,
                                            block->rows * sizeof *block->data[i].texts, _Alignof(struct native_text));
            kept = own->data[i].texts != NULL;
        }
    for (size_t row = 0; kept && row < block->rows; row++)
        kept = add_row(listing, own, row);
    return kept ? PFR_OK : mem_fail(listing->handle->memory, err, "store");
}

/* --- While the store is held. */

static pfr_status take_attempts(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    struct listing *const listing = context;
    struct store_handle *const handle = listing->handle;
    for (size_t row = 0; handle->is_held && row < block->rows; row++) {
        const struct click_attempt one = {.upload = native_u64(block, listing->upload, row),
                                          .attempt = native_u64(block, listing->attempt, row),
                                          .rows = native_u64(block, listing->rows, row),
                                          .sums = native_u64(block, listing->sums, row),
                                          .server = server};
        PFR_TRY(click_attempts_add(handle, &handle->listed, &one, err));
    }
    return keep_block(listing, block, err);
}

pfr_status click_hold(struct store_handle *handle, bool begin, pfr_error *err) {
    (void)err;
    handle->is_held = begin;
    handle->is_listed = false;
    click_attempts_free(handle, &handle->listed);
    return PFR_OK;
}

/* --- Order. */

static int compare_u64(uint64_t one, uint64_t other) {
    return (one > other) - (one < other);
}

static int by_attempt(const void *a, const void *b) {
    const struct listed_upload *one = a, *other = b;
    const int order = compare_u64(one->upload, other->upload);
    return order ? order : compare_u64(one->attempt, other->attempt);
}

static int by_time(const void *a, const void *b) {
    const struct listed_upload *one = a, *other = b;
    const int order = compare_u64(one->first, other->first);
    return order ? order : compare_u64(one->upload, other->upload);
}

static void order_rows(struct listing *listing) {
    size_t kept = 0;
    if (!listing->count)
        return;
    qsort(listing->at, listing->count, sizeof *listing->at, by_attempt);
    for (size_t i = 0; i < listing->count; i++)
        if (!kept || listing->at[kept - 1].upload != listing->at[i].upload)
            listing->at[kept++] = listing->at[i];
    listing->count = kept;
    qsort(listing->at, listing->count, sizeof *listing->at, by_time);
}

static pfr_status hand_listing(struct listing *listing, store_rows *rows, void *context, pfr_error *err) {
    struct memory *memory = listing->handle->memory;
    struct click_row *at = mem_alloc(memory, listing->count, sizeof *at);
    struct arena arena;
    if (!at)
        return mem_fail(memory, err, "store");
    for (size_t i = 0; i < listing->count; i++)
        at[i] = listing->at[i].row;
    arena_init(&arena, memory);
    const pfr_status st = click_hand_rows(STORE_TABLE_upload, at, listing->count, &arena, rows, context, err);
    arena_free(&arena);
    mem_free(memory, at, listing->count, sizeof *at);
    return st;
}

/* --- The query. */

/* Selects by id, because attempts and revisions of one upload may differ in service and times: if one of them matches,
   all on that server are returned, and the caller chooses the valid one. All attempts are on one server, unless clients
   with different lists of servers pushed the upload at the same time. */
static void add_candidates(struct store_handle *handle, struct output *query, const struct store_params *params) {
    const bool by_time = params->first || params->last != UINT64_MAX;
    if (!by_time && !params->service)
        return;
    click_add(handle, query, " AND upload IN (SELECT upload FROM $" CLICK_ALL "upload WHERE 1", NULL);
    if (params->service) {
        click_add(handle, query, " AND service = ", NULL);
        quote_text(query, params->service, strlen(params->service));
    }
    if (by_time) {
        click_add(handle, query, " AND (first = 0 OR (last >= ", NULL);
        quote_u64(query, params->first);
        click_add(handle, query, " AND first <= ", NULL);
        quote_u64(query, params->last);
        click_add(handle, query, "))", NULL);
    }
    click_add(handle, query, ")", NULL);
}

static pfr_status ask_uploads(struct listing *listing, const struct store_params *params, pfr_error *err) {
    struct store_handle *handle = listing->handle;
    struct native_column *columns = listing->columns;
    struct http_table ids;
    struct output query, bytes;
    const unsigned count = click_columns(STORE_TABLE_upload, true, columns);
    listing->upload = column_of(columns, count, "upload");
    listing->first = column_of(columns, count, "first");
    listing->attempt = column_of(columns, count, "attempt");
    listing->rows = column_of(columns, count, "rows");
    listing->sums = column_of(columns, count, "sums");
    if (params->ids)
        PFR_TRY(click_table_of_ids(handle, params->ids, params->nr_ids, &bytes, &ids, err));
    click_begin_query(handle, &query);
    click_add(handle, &query, "SELECT ", NULL);
    click_add_names(&query, columns, count);
    click_add(handle, &query, " FROM $" CLICK_ALL "upload FINAL WHERE dropped = 0", NULL);
    if (params->ids)
        click_add(handle, &query, " AND upload IN (SELECT id FROM ids)", NULL);
    else
        add_candidates(handle, &query, params);
    const pfr_status st =
        click_ask(handle, &query, params->ids ? &ids : NULL, columns, count, take_attempts, listing, err);
    if (params->ids)
        out_close(&bytes, NULL);
    return st;
}

pfr_status click_query_uploads(struct store_handle *handle, const struct store_params *params, store_rows *rows,
                               void *context, pfr_error *err) {
    struct listing listing = {.handle = handle};
    click_attempts_free(handle, &handle->listed);
    arena_init(&listing.arena, handle->memory);
    pfr_status st = ask_uploads(&listing, params, err);
    click_attempts_keep_least(&handle->listed);
    handle->is_listed = st >= 0 && handle->is_held;
    order_rows(&listing);
    if (st >= 0 && listing.count)
        st = hand_listing(&listing, rows, context, err);
    mem_free(handle->memory, listing.at, listing.room, sizeof *listing.at);
    arena_free(&listing.arena);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Queries rows of complete uploads and of dictionaries. Several shards may have the same row of a dictionary; it is
   passed on once. */
#include "base/memory/sizes.h"
#include "base/tables/hashmap.h"
#include "store/clickhouse/click_batch.h"
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_ROOM 24u

/* State while the answer of a query is passed to the core. */
struct answering {
    struct store_handle *handle;
    enum store_table_number table;
    struct u64_map *seen; /* ids of rows already passed on; NULL: not a dictionary, all rows are passed on */
    unsigned id_column;
    store_rows *rows;
    void *context;
    uint64_t received; /* number of rows */
};

/* Sets *is_new if the row is the first one with its id. */
static pfr_status is_first(struct answering *answering, const struct native_block *block, size_t row, bool *is_new,
                           pfr_error *err) {
    *is_new = true;
    if (!answering->seen)
        return PFR_OK;
    return u64_map_at(answering->seen, native_u64(block, answering->id_column, row), 1, is_new)
               ? PFR_OK
               : mem_fail(answering->handle->memory, err, "store");
}

static pfr_status pick_rows(struct answering *answering, const struct native_block *block, struct click_row *at,
                            size_t *count, pfr_error *err) {
    for (size_t row = 0; row < block->rows; row++) {
        bool is_new;
        PFR_TRY(is_first(answering, block, row, &is_new, err));
        if (is_new)
            at[(*count)++] = (struct click_row){block, row};
    }
    return PFR_OK;
}

static pfr_status hand_block(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)server;
    struct answering *answering = context;
    struct memory *memory = answering->handle->memory;
    struct click_row *at = mem_alloc(memory, block->rows, sizeof *at);
    struct arena arena;
    size_t count = 0;
    answering->received += block->rows;
    if (!at)
        return mem_fail(memory, err, "store");
    pfr_status st = pick_rows(answering, block, at, &count, err);
    arena_init(&arena, memory);
    if (st >= 0)
        st = click_hand_rows(answering->table, at, count, &arena, answering->rows, answering->context, err);
    arena_free(&arena);
    mem_free(memory, at, block->rows, sizeof *at);
    return st;
}

static void begin_select(struct store_handle *handle, enum store_table_number table, struct output *query,
                         struct native_column *columns, unsigned *count) {
    *count = click_columns(table, false, columns);
    click_begin_query(handle, query);
    click_add(handle, query, "SELECT ", NULL);
    click_add_names(query, columns, *count);
    click_add(handle, query, " FROM $" CLICK_ALL, store_tables[table].name, NULL);
}

/* --- Dictionaries. */

static pfr_status ask_dictionary(struct answering *answering, const struct http_table *ids, pfr_error *err) {
    struct store_handle *handle = answering->handle;
    const char *key = store_tables[answering->table].order;
    struct native_column columns[NATIVE_COLUMNS_MOST];
    struct output query;
    unsigned count;
    begin_select(handle, answering->table, &query, columns, &count);
    if (ids)
        click_add(handle, &query, " WHERE `", key, "` IN (SELECT id FROM ids)", NULL);
    click_add(handle, &query, " LIMIT 1 BY `", key, "`", NULL);
    return click_ask(handle, &query, ids, columns, count, hand_block, answering, err);
}

/* Queries the rows of params->ids; if it is NULL, the whole table. */
static pfr_status query_dictionary(struct store_handle *handle, enum store_table_number table,
                                   const struct store_params *params, store_rows *rows, void *context, pfr_error *err) {
    struct u64_map seen;
    struct answering answering = {.handle = handle, .table = table, .seen = &seen, .rows = rows, .context = context};
    struct http_table ids;
    struct output bytes;
    if (params->ids && !params->nr_ids)
        return PFR_OK;
    if (params->ids)
        PFR_TRY(click_table_of_ids(handle, params->ids, params->nr_ids, &bytes, &ids, err));
    u64_map_init(&seen, handle->memory);
    const pfr_status st = ask_dictionary(&answering, params->ids ? &ids : NULL, err);
    u64_map_free(&seen);
    if (params->ids)
        out_close(&bytes, NULL);
    return st;
}

/* --- Rows of uploads. */

struct part_of_uploads {
    const struct click_attempt *at;
    size_t count;
    unsigned part, parts; /* number of the part, and number of parts; the column part_of divides rows into parts */
};

/* The column by which rows are divided into parts. */
static const char *const part_of[STORE_TABLES] = {
    [STORE_TABLE_sample] = "stack", [STORE_TABLE_daily] = "frame", [STORE_TABLE_latency] = "function"};

static void add_condition(struct store_handle *handle, struct output *query, enum store_table_number table,
                          const struct part_of_uploads *part, const struct store_params *params) {
    char numbers[2][NUMBER_ROOM];
    click_add(handle, query, " WHERE (upload, attempt) IN (SELECT upload, attempt FROM ids)", NULL);
    if (table != STORE_TABLE_latency && (params->first || params->last != UINT64_MAX)) {
        click_add(handle, query, " AND (time = 0 OR (time >= ", NULL);
        quote_u64(query, params->first);
        click_add(handle, query, " AND time <= ", NULL);
        quote_u64(query, params->last);
        click_add(handle, query, "))", NULL);
    }
    if (part->parts < 2)
        return;
    snprintf(numbers[0], NUMBER_ROOM, "%u", part->parts);
    snprintf(numbers[1], NUMBER_ROOM, "%u", part->part);
    click_add(handle, query, " AND modulo(", part_of[table], ", ", numbers[0], ") = ", numbers[1], NULL);
}

static pfr_status query_part(struct answering *answering, const struct part_of_uploads *part,
                             const struct store_params *params, pfr_error *err) {
    struct store_handle *handle = answering->handle;
    struct native_column columns[NATIVE_COLUMNS_MOST];
    struct output ids, query;
    struct http_table sent;
    unsigned count;
    PFR_TRY(click_table_of_attempts(handle, part->at, part->count, &ids, &sent, err));
    begin_select(handle, answering->table, &query, columns, &count);
    add_condition(handle, &query, answering->table, part, params);
    const pfr_status st = click_ask(handle, &query, &sent, columns, count, hand_block, answering, err);
    out_close(&ids, NULL);
    return st;
}

static uint64_t rows_of(const struct answering *answering, const struct click_attempt *of) {
    return answering->table == STORE_TABLE_daily ? of->sums : of->rows;
}

/* Uploads are queried together if they have up to sizes.answer_rows rows; an upload with more rows is queried in
   parts. */
static pfr_status query_uploads(struct answering *answering, const struct click_attempts *attempts,
                                const struct store_params *params, pfr_error *err) {
    for (size_t at = 0; at < attempts->count;) {
        struct part_of_uploads part = {.at = &attempts->at[at], .count = 1};
        uint64_t rows = rows_of(answering, part.at);
        while (at + part.count < attempts->count && rows < sizes.answer_rows &&
               rows_of(answering, &attempts->at[at + part.count]) < sizes.answer_rows - rows)
            rows += rows_of(answering, &attempts->at[at + part.count++]);
        const uint64_t parts = rows / sizes.answer_rows + 1;
        part.parts = parts < UINT16_MAX ? (unsigned)parts : UINT16_MAX;
        for (part.part = 0; part.part < part.parts; part.part++)
            PFR_TRY(query_part(answering, &part, params, err));
        at += part.count;
    }
    return PFR_OK;
}

/* Compares the rows received with the number in the row of `upload`. Rows are missing if the upload was dropped after
   the uploads were listed. */
static pfr_status check_received(const struct answering *answering, const struct click_attempts *attempts,
                                 const struct store_params *params, pfr_error *err) {
    uint64_t wanted = 0;
    for (size_t i = 0; i < attempts->count; i++)
        wanted += rows_of(answering, &attempts->at[i]);
    if (answering->table == STORE_TABLE_latency || params->first || params->last != UINT64_MAX ||
        answering->received >= wanted)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "store",
                    "only %" PRIu64 " of %" PRIu64
                    " rows were read, because another process removed an upload; try again",
                    answering->received, wanted);
}

/* Picks the attempts of these uploads from the list that is held. */
static pfr_status pick_attempts(struct store_handle *handle, const struct store_params *params,
                                struct click_attempts *attempts, pfr_error *err) {
    pfr_status st = PFR_OK;
    for (size_t i = 0; i < params->nr_uploads && st >= 0; i++) {
        const struct click_attempt *const one = click_attempts_of(&handle->listed, params->uploads[i]);
        st = one ? click_attempts_add(handle, attempts, one, err) : PFR_OK;
    }
    return st;
}

static pfr_status query_day_table(struct store_handle *handle, enum store_table_number table,
                                  const struct store_params *params, store_rows *rows, void *context, pfr_error *err) {
    struct answering answering = {.handle = handle, .table = table, .rows = rows, .context = context};
    struct click_attempts attempts = {0};
    if (!params->nr_uploads)
        return PFR_OK;
    pfr_status st = handle->is_listed
                        ? pick_attempts(handle, params, &attempts, err)
                        : click_attempts_find(handle, params->uploads, params->nr_uploads, &attempts, err);
    if (st >= 0)
        st = query_uploads(&answering, &attempts, params, err);
    if (st >= 0)
        st = check_received(&answering, &attempts, params, err);
    click_attempts_free(handle, &attempts);
    return st;
}

pfr_status click_query(struct store_handle *handle, enum store_query query, const struct store_params *params,
                       store_rows *rows, void *context, pfr_error *err) {
    static const enum store_table_number tables[] = {
        [STORE_UPLOADS] = STORE_TABLE_upload, [STORE_SAMPLES] = STORE_TABLE_sample,
        [STORE_DAILY] = STORE_TABLE_daily,    [STORE_LATENCIES] = STORE_TABLE_latency,
        [STORE_EVENTS] = STORE_TABLE_event,   [STORE_COMMS] = STORE_TABLE_comm,
        [STORE_OBJECTS] = STORE_TABLE_object, [STORE_FRAMES] = STORE_TABLE_frame,
        [STORE_STACKS] = STORE_TABLE_stack,
    };
    switch (query) {
    case STORE_UPLOADS:
        return click_query_uploads(handle, params, rows, context, err);
    case STORE_SAMPLES:
    case STORE_DAILY:
    case STORE_LATENCIES:
        return query_day_table(handle, tables[query], params, rows, context, err);
    default:
        return query_dictionary(handle, tables[query], params, rows, context, err);
    }
}

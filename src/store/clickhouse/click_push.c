/* SPDX-License-Identifier: Apache-2.0 */
/* A push: rows are collected in memory and sent to the shard in INSERTs of some megabytes. */
#include "base/tables/hashmap.h"
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SEND_ROWS 262144u
#define SEND_BYTES (16u << 20)
#define DAY_MOST 49709u /* the last complete day that 32 bits of seconds can represent */
#define SECOND_NS 1000000000u
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio: mixes an id into its high bits */

static uint64_t nanoseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

pfr_status click_begin(struct store_handle *handle, uint64_t upload, pfr_error *err) {
    uint32_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return pfr_fail_errno(err, errno, "cannot draw a random number", "store");
    handle->upload = upload;
    handle->server = (unsigned)((upload * GOLDEN >> 32) % handle->nr_servers);
    PFR_TRY(click_now(handle, handle->server, 1, &handle->began, err));
    handle->attempt = handle->began << CLICK_ATTEMPT_SHIFT | drawn;
    handle->is_begun = true;
    memset(handle->sent, 0, sizeof handle->sent);
    return PFR_OK;
}

/* --- Rows. */

static void put_value(struct native_encoder *encoder, unsigned column, enum store_kind kind, const void *values,
                      size_t row) {
    const struct store_text *text;
    const struct store_list *list;
    switch (kind) {
    case STORE_U8:
        native_put_u64(encoder, column, ((const uint8_t *)values)[row]);
        break;
    case STORE_U32:
    case STORE_DAY:
        native_put_u64(encoder, column, ((const uint32_t *)values)[row]);
        break;
    case STORE_U64:
    case STORE_I64:
        native_put_u64(encoder, column, ((const uint64_t *)values)[row]);
        break;
    case STORE_TEXT:
        text = (const struct store_text *)values + row;
        native_put_text(encoder, column, text->bytes, text->length);
        break;
    case STORE_LIST:
        list = (const struct store_list *)values + row;
        native_put_list(encoder, column, list->at, list->count);
        break;
    }
}

/* The times of the batch if the table stores its time as two columns; otherwise NULL. */
static const uint64_t *split_times(enum store_table_number table, const struct store_batch *batch) {
    for (unsigned column = 0; column < store_tables[table].nr_columns; column++)
        if (click_is_split(table, column))
            return batch->column[column];
    return NULL;
}

static pfr_status refuse_time(pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                    "a store in ClickHouse has no times after 6 February 2106");
}

static pfr_status check_times(enum store_table_number table, const struct store_batch *batch, pfr_error *err) {
    const uint64_t *times = split_times(table, batch);
    if (store_tables[table].columns[0].kind == STORE_DAY)
        for (uint32_t row = 0; row < batch->rows; row++)
            if (((const uint32_t *)batch->column[0])[row] > DAY_MOST)
                return refuse_time(err);
    for (uint32_t row = 0; times && row < batch->rows; row++)
        if (times[row] / SECOND_NS > UINT32_MAX)
            return refuse_time(err);
    return PFR_OK;
}

/* Writes the core's columns of a row. Returns the number of columns written. */
static unsigned put_row(struct native_encoder *encoder, enum store_table_number table, const struct store_batch *batch,
                        uint32_t row) {
    const struct store_table *of = &store_tables[table];
    unsigned to = 0;
    for (unsigned column = 0; column < of->nr_columns; column++)
        if (!click_is_split(table, column))
            put_value(encoder, to++, of->columns[column].kind, batch->column[column], row);
    return to;
}

/* Writes the columns that only this engine has, which follow the core's columns. */
static void put_own(struct native_encoder *encoder, unsigned column, enum store_table_number table, uint64_t own,
                    uint64_t time) {
    native_put_u64(encoder, column++, own);
    if (table == STORE_TABLE_sample) {
        native_put_u64(encoder, column++, time / SECOND_NS);
        native_put_u64(encoder, column++, time % SECOND_NS);
    }
    encoder->rows++;
}

/* --- Sending. */

static pfr_status send_block(struct store_handle *handle, unsigned server, enum store_table_number table,
                             struct native_encoder *encoder, pfr_error *err) {
    struct output query, block;
    size_t length, query_length;
    out_open_memory(&block, handle->memory);
    click_begin_query(handle, &query);
    click_add(handle, &query, "INSERT INTO $" CLICK_ALL, store_tables[table].name, " (", NULL);
    click_add_names(&query, encoder->columns, encoder->count);
    out_write(&query, ") FORMAT Native", sizeof ") FORMAT Native");
    pfr_status st = out_flush(&query, err);
    if (st >= 0)
        st = native_encode(encoder, &block, err);
    const char *bytes = out_bytes(&block, &length);
    if (st >= 0 && length)
        st = http_send(handle->http, server, out_bytes(&query, &query_length), bytes, length, err);
    out_close(&block, NULL);
    out_close(&query, NULL);
    return st;
}

static pfr_status send_encoded(struct store_handle *handle, pfr_error *err) {
    unsigned keys[NATIVE_COLUMNS_MOST];
    if (!handle->is_encoding || !handle->encoder.rows)
        return PFR_OK;
    const unsigned nr_keys = click_sorting_columns(handle->table, keys);
    if (nr_keys)
        PFR_TRY(native_encoder_sort(&handle->encoder, keys, nr_keys, handle->memory, err));
    return send_block(handle, handle->server, handle->table, &handle->encoder, err);
}

static pfr_status turn_to(struct store_handle *handle, enum store_table_number table, pfr_error *err) {
    if (handle->is_encoding && handle->table == table)
        return PFR_OK;
    PFR_TRY(send_encoded(handle, err));
    if (handle->is_encoding)
        native_encoder_free(&handle->encoder);
    handle->table = table;
    handle->is_encoding = true;
    native_encoder_init(&handle->encoder, handle->columns, click_columns(table, true, handle->columns), handle->memory);
    return PFR_OK;
}

static pfr_status put_rows(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                           pfr_error *err) {
    const bool is_shared = store_tables[table].partition == STORE_SHARED;
    const uint64_t own = is_shared ? handle->began : handle->attempt;
    const uint64_t *times = split_times(table, batch);
    struct u64_map known;
    u64_map_init(&known, handle->memory);
    pfr_status st = is_shared ? click_find_known(handle, table, batch, &known, err) : PFR_OK;
    for (uint32_t row = 0; row < batch->rows && st >= 0; row++) {
        uint64_t ignored;
        if (is_shared && u64_map_get(&known, ((const uint64_t *)batch->column[0])[row], &ignored))
            continue;
        const unsigned column = put_row(&handle->encoder, table, batch, row);
        put_own(&handle->encoder, column, table, own, times ? times[row] : 0);
        handle->sent[table]++;
    }
    u64_map_free(&known);
    return st;
}

pfr_status click_insert(struct store_handle *handle, enum store_table_number table, const struct store_batch *batch,
                        pfr_error *err) {
    PFR_TRY(check_times(table, batch, err));
    PFR_TRY(turn_to(handle, table, err));
    PFR_TRY(put_rows(handle, table, batch, err));
    if (handle->encoder.rows >= SEND_ROWS || native_encoded_size(&handle->encoder) >= SEND_BYTES)
        return send_encoded(handle, err);
    return PFR_OK;
}

/* --- Rows of `upload`. */

static pfr_status write_upload(struct store_handle *handle, unsigned server, const struct store_batch *upload,
                               uint64_t attempt, uint64_t revision, pfr_error *err) {
    struct native_column columns[NATIVE_COLUMNS_MOST];
    struct native_encoder encoder;
    PFR_TRY(check_times(STORE_TABLE_upload, upload, err));
    native_encoder_init(&encoder, columns, click_columns(STORE_TABLE_upload, true, columns), handle->memory);
    const unsigned own = put_row(&encoder, STORE_TABLE_upload, upload, 0);
    native_put_u64(&encoder, own, attempt);
    native_put_u64(&encoder, own + 1, revision);
    native_put_u64(&encoder, own + 2, 0);
    encoder.rows = 1;
    const pfr_status st = send_block(handle, server, STORE_TABLE_upload, &encoder, err);
    native_encoder_free(&encoder);
    return st;
}

static pfr_status take_count(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)server;
    (void)err;
    *(uint64_t *)context = native_u64(block, 0, 0);
    return PFR_OK;
}

/* Counts the rows on the server. If the answer to an INSERT was lost, the INSERT may have been executed, or executed
   twice if a proxy repeated it. */
static pfr_status check_arrived(struct store_handle *handle, enum store_table_number table, pfr_error *err) {
    static const struct native_column column = {"number", NATIVE_UINT64};
    struct output query;
    uint64_t arrived = 0;
    click_begin_query(handle, &query);
    click_add(handle, &query, "SELECT toUInt64(count()) AS number FROM $" CLICK_ALL, store_tables[table].name,
              " WHERE upload = ", NULL);
    quote_u64(&query, handle->upload);
    click_add(handle, &query, " AND attempt = ", NULL);
    quote_u64(&query, handle->attempt);
    PFR_TRY(click_ask_one(handle, handle->server, &query, NULL, &column, 1, take_count, &arrived, err));
    if (arrived == handle->sent[table])
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY,
                    "%s: has %llu of the %llu rows of table %s that were sent: push again",
                    http_host(handle->http, handle->server), (unsigned long long)arrived,
                    (unsigned long long)handle->sent[table], store_tables[table].name);
}

static pfr_status check_all_arrived(struct store_handle *handle, pfr_error *err) {
    for (unsigned table = 0; table < STORE_TABLES; table++)
        if (store_tables[table].partition == STORE_BY_DAY && handle->sent[table])
            PFR_TRY(check_arrived(handle, (enum store_table_number)table, err));
    return PFR_OK;
}

pfr_status click_complete(struct store_handle *handle, const struct store_batch *upload, bool *already,
                          pfr_error *err) {
    struct click_attempts attempts;
    *already = false;
    if (!handle->is_begun || upload->rows != 1)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "no push is begun");
    PFR_TRY(send_encoded(handle, err));
    PFR_TRY(check_all_arrived(handle, err));
    pfr_status st = click_attempts_find(handle, &handle->upload, 1, &attempts, err);
    if (st >= 0 && attempts.count)
        *already = true;
    else if (st >= 0)
        st = write_upload(handle, handle->server, upload, handle->attempt, 0, err);
    click_attempts_free(handle, &attempts);
    handle->is_begun = false;
    return st;
}

static uint64_t upload_of(const struct store_batch *upload) {
    unsigned column = 0;
    while (strcmp(store_tables[STORE_TABLE_upload].columns[column].name, "upload") != 0)
        column++;
    return *(const uint64_t *)upload->column[column];
}

pfr_status click_relabel(struct store_handle *handle, const struct store_batch *upload, pfr_error *err) {
    const uint64_t id = upload_of(upload);
    struct click_attempts attempts;
    pfr_status st = click_attempts_find(handle, &id, 1, &attempts, err);
    const uint64_t now = nanoseconds_now();
    if (st >= 0 && !attempts.count) {
        st = pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "upload %016llx is not in the store",
                      (unsigned long long)id);
    } else if (st >= 0) {
        const struct click_attempt *of = attempts.at;
        st = write_upload(handle, of->server, upload, of->attempt, of->revision < now ? now : of->revision + 1, err);
    }
    click_attempts_free(handle, &attempts);
    return st;
}

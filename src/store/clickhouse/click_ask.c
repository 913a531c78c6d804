/* SPDX-License-Identifier: Apache-2.0 */
/* Sends queries to all shards at once and passes on the answers as blocks. */
#include "store/clickhouse/click_parts.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void click_begin_query(struct store_handle *handle, struct output *query) {
    out_open_memory(query, handle->memory);
}

static void add_text(struct store_handle *handle, struct output *query, const char *text) {
    for (const char *dollar; (dollar = strchr(text, '$')) != NULL; text = dollar + 1) {
        out_write(query, text, (size_t)(dollar - text));
        out_text(query, "`");
        out_text(query, handle->database);
        out_text(query, "`.");
    }
    out_text(query, text);
}

void click_add(struct store_handle *handle, struct output *query, ...) {
    va_list texts;
    va_start(texts, query);
    for (const char *text; (text = va_arg(texts, const char *)) != NULL;)
        add_text(handle, query, text);
    va_end(texts);
}

/* Adds the name of the server, which the decoder does not know, to the error. */
static pfr_status name_server(const struct store_handle *handle, unsigned server, const pfr_error *own,
                              pfr_error *err) {
    return pfr_fail(err, own->status, own->offset, own->length, own->where, "%s: %s", http_host(handle->http, server),
                    own->text);
}

static pfr_status read_answer(struct store_handle *handle, unsigned server, const struct native_column *columns,
                              unsigned count, click_block *each, void *context, pfr_error *err) {
    const struct http_answer *answer = http_answer(handle->http, server);
    struct cursor in = cursor_on(answer->bytes, answer->length, 0, false);
    struct arena arena;
    struct native_block block;
    pfr_error own = {.status = PFR_OK};
    pfr_status st, handed = PFR_OK;
    arena_init(&arena, handle->memory);
    while ((st = native_decode(&in, columns, count, &arena, &block, &own)) == PFR_OK && handed >= 0) {
        handed = block.rows ? each(context, server, &block, err) : PFR_OK;
        arena_free(&arena);
    }
    arena_free(&arena);
    if (handed < 0)
        return handed;
    return st < 0 ? name_server(handle, server, &own, err) : PFR_OK;
}

static pfr_status ask(struct store_handle *handle, unsigned first, unsigned count, struct output *query,
                      const struct http_table *table, pfr_error *err) {
    size_t length;
    out_write(query, "", 1);
    pfr_status st = out_flush(query, err);
    if (st >= 0)
        st = http_ask(handle->http, first, count, out_bytes(query, &length), table, err);
    out_close(query, NULL);
    return st;
}

pfr_status click_run(struct store_handle *handle, struct output *query, const struct http_table *table,
                     pfr_error *err) {
    return ask(handle, 0, handle->nr_servers, query, table, err);
}

pfr_status click_run_one(struct store_handle *handle, unsigned server, struct output *query, pfr_error *err) {
    return ask(handle, server, 1, query, NULL, err);
}

pfr_status click_ask(struct store_handle *handle, struct output *query, const struct http_table *table,
                     const struct native_column *columns, unsigned count, click_block *each, void *context,
                     pfr_error *err) {
    out_text(query, " FORMAT Native");
    PFR_TRY(ask(handle, 0, handle->nr_servers, query, table, err));
    for (unsigned server = 0; server < handle->nr_servers; server++)
        PFR_TRY(read_answer(handle, server, columns, count, each, context, err));
    return PFR_OK;
}

pfr_status click_ask_one(struct store_handle *handle, unsigned server, struct output *query,
                         const struct http_table *table, const struct native_column *columns, unsigned count,
                         click_block *each, void *context, pfr_error *err) {
    out_text(query, " FORMAT Native");
    PFR_TRY(ask(handle, server, 1, query, table, err));
    return read_answer(handle, server, columns, count, each, context, err);
}

/* --- The time. */

static pfr_status take_now(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    uint64_t *const least = context;
    (void)server, (void)err;
    for (size_t row = 0; row < block->rows; row++)
        if (native_u64(block, 0, row) < *least)
            *least = native_u64(block, 0, row);
    return PFR_OK;
}

pfr_status click_now(struct store_handle *handle, unsigned first, unsigned count, uint64_t *seconds, pfr_error *err) {
    static const struct native_column column = {"number", NATIVE_UINT64};
    *seconds = UINT64_MAX;
    for (unsigned server = first; server < first + count; server++) {
        struct output query;
        click_begin_query(handle, &query);
        click_add(handle, &query, "SELECT toUInt64(toUInt32(now())) AS number", NULL);
        PFR_TRY(click_ask_one(handle, server, &query, NULL, &column, 1, take_now, seconds, err));
    }
    if (*seconds > CLICK_KEPT_SECONDS && *seconds <= UINT32_MAX)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY, "%s: the clock of the server is wrong",
                    http_host(handle->http, first));
}

/* --- Tables to send. */

static void put_u64(struct output *to, uint64_t value) {
    const uint64_t little = htole64(value);
    out_write(to, &little, sizeof little);
}

static pfr_status finish_table(const char *structure, struct output *bytes, struct http_table *table, pfr_error *err) {
    size_t length;
    const pfr_status st = out_flush(bytes, err);
    const char *at = out_bytes(bytes, &length);
    *table = (struct http_table){"ids", structure, at, length};
    if (st < 0)
        out_close(bytes, NULL);
    return st;
}

pfr_status click_table_of_ids(struct store_handle *handle, const uint64_t *ids, size_t count, struct output *bytes,
                              struct http_table *table, pfr_error *err) {
    out_open_memory(bytes, handle->memory);
    for (size_t i = 0; i < count; i++)
        put_u64(bytes, ids[i]);
    return finish_table("id UInt64", bytes, table, err);
}

pfr_status click_table_of_attempts(struct store_handle *handle, const struct click_attempt *at, size_t count,
                                   struct output *bytes, struct http_table *table, pfr_error *err) {
    out_open_memory(bytes, handle->memory);
    for (size_t i = 0; i < count; i++) {
        put_u64(bytes, at[i].upload);
        put_u64(bytes, at[i].attempt);
    }
    return finish_table("upload UInt64, attempt UInt64", bytes, table, err);
}

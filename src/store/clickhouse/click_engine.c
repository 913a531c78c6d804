/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of a ClickHouse store, and the engine's struct of functions for the core. */
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/click_url.h"

#include <string.h>

#define REQUEST_OF_CONNECT 30u /* a query may take this many times as long as connecting */

static void click_close(struct store_handle *handle) {
    if (!handle)
        return;
    if (handle->is_encoding)
        native_encoder_free(&handle->encoder);
    click_attempts_free(handle, &handle->listed);
    http_close(handle->http);
    arena_free(&handle->arena);
    mem_free(handle->memory, handle, 1, sizeof *handle);
}

static pfr_status open_servers(struct store_handle *handle, const char *text, const struct store_open_options *options,
                               pfr_error *err) {
    struct click_url url;
    PFR_TRY(click_url_parse(text, &handle->arena, &url, err));
    handle->database = url.database;
    handle->nr_servers = url.nr_hosts;
    url.options.connect_ms = options->timeout_ms;
    url.options.request_ms = options->timeout_ms * REQUEST_OF_CONNECT;
    handle->http = http_open(url.hosts, url.nr_hosts, &url.options, handle->memory, err);
    if (!handle->http)
        return err ? err->status : PFR_ERR_MEMORY;
    /* without .create, click_version reports a missing database; this saves a query per command */
    return options->create ? click_need_database(handle, true, err) : PFR_OK;
}

static pfr_status click_open(struct store_handle **handle, const char *url, const struct store_open_options *options,
                             pfr_error *err) {
    pfr_error own = {.status = PFR_OK};
    struct store_handle *made = mem_zeroed(options->memory, 1, sizeof *made);
    *handle = NULL;
    if (!made)
        return mem_fail(options->memory, err, "store");
    made->memory = options->memory;
    arena_init(&made->arena, options->memory);
    const pfr_status st = open_servers(made, url, options, &own);
    if (st >= 0) {
        *handle = made;
        return st;
    }
    click_close(made);
    if (err)
        *err = own;
    return st;
}

const struct store_engine store_clickhouse = {
    .name = "clickhouse",
    .prefix = "clickhouse",
    .open = click_open,
    .close = click_close,
    .version = click_version,
    .migrate = click_migrate,
    .begin = click_begin,
    .insert = click_insert,
    .complete = click_complete,
    .relabel = click_relabel,
    .drop = click_drop,
    .collect = click_collect,
    .hold = click_hold,
    .query = click_query,
    .sql = click_sql,
    .check = click_check,
};

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_HTTP_H
#define PFR_STORE_HTTP_H
/*
 * Requests to ClickHouse servers over HTTP, on libcurl. A request to several servers runs on all of them at once; the
 * answers are kept in memory.
 *
 * An error names the server as HOST:PORT and has the server's own words. Redirects are not followed. Answers are
 * limited in bytes and requests in time, so a server can neither fill the memory nor stop the program. A password is in
 * no message.
 */
#include "base/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_SERVERS_MOST 64u

struct http_options {
    const char *user, *password; /* NULL: the server's default user */
    const char *ca_file;         /* certificates of authorities that are trusted, PEM; NULL: the system's */
    bool tls;
    uint32_t connect_ms, request_ms; /* 0: 10 s and 5 min */
    uint64_t answer_most;            /* bytes of one answer; 0: half of the memory's limit */
};

struct http_answer {
    uint8_t *bytes;
    size_t length, room;
};

struct http;

/* Texts are copied. `hosts` are "HOST:PORT", 1 to HTTP_SERVERS_MOST of them. Nothing is sent yet. NULL, with *err:
   USAGE (no libcurl), MEMORY, LIMIT. */
struct http *http_open(const char *const *hosts, unsigned count, const struct http_options *options,
                       struct memory *memory, pfr_error *err);
/* NULL is fine. */
void http_close(struct http *http);

const char *http_host(const struct http *http, unsigned server);

/* Rows that a query reads as the table `name`: RowBinary of `structure`, "id UInt64". */
struct http_table {
    const char *name, *structure;
    const void *bytes;
    size_t length;
};

/*
 * Runs `query` on the servers `first` to `first + count - 1` and waits for all answers, which are valid until the next
 * call for that server. `table` NULL: the query reads tables of the server only. Errors, of the first server that has
 * one: IO: it could not be reached, took too long, or broke off (err->where is STORE_AWAY); USAGE: it refuses the
 * query; PERMISSION: it refuses the user; LIMIT: the answer is too long; MEMORY.
 */
pfr_status http_ask(struct http *http, unsigned first, unsigned count, const char *query,
                    const struct http_table *table, pfr_error *err);
/* The same with a body of data for one server: `query` is an INSERT. */
pfr_status http_send(struct http *http, unsigned server, const char *query, const void *body, size_t length,
                     pfr_error *err);
/* The same by GET, for which servers refuse every statement that changes something. Columns are tab-separated, the
   first two rows are their names and types; names of tables without a database are those of `database`. */
pfr_status http_read_only(struct http *http, unsigned server, const char *database, const char *query, pfr_error *err);

const struct http_answer *http_answer(const struct http *http, unsigned server);

#endif

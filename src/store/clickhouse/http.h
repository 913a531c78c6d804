/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_HTTP_H
#define PFR_STORE_HTTP_H
/*
 * Requests to ClickHouse servers over HTTP, with libcurl. A request to several servers runs on all of them at the same
 * time. The answers are kept in memory.
 *
 * An error names the server as HOST:PORT and contains the server's message. Redirects are not followed. Answers are
 * limited in size and requests in time, so a server can neither fill the memory nor stop the program. No message
 * contains a password.
 */
#include "base/memory/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_SERVERS_MOST 64u

struct http_options {
    const char *user, *password; /* NULL: the server's default user */
    const char *ca_file;         /* certificates of trusted authorities, PEM; NULL: the system's */
    bool tls;
    uint32_t connect_ms, request_ms; /* 0: 10 s and 5 min */
    uint64_t answer_most;            /* limit of one answer in bytes; 0: half of the memory limit */
};

struct http_answer {
    uint8_t *bytes;
    size_t length, room;
};

struct http;

/* Texts are copied. `hosts` are 1 to HTTP_SERVERS_MOST texts "HOST:PORT". Nothing is sent yet. NULL, with *err:
   USAGE (no libcurl), MEMORY, LIMIT. */
struct http *http_open(const char *const *hosts, unsigned count, const struct http_options *options,
                       struct memory *memory, pfr_error *err);
/* `http` may be NULL. */
void http_close(struct http *http);

const char *http_host(const struct http *http, unsigned server);

/* Rows that a query reads as the table `name`, in format RowBinary; `structure` is for example "id UInt64". */
struct http_table {
    const char *name, *structure;
    const void *bytes;
    size_t length;
};

/*
 * Runs `query` on the servers `first` to `first + count - 1` and waits for all answers; each is valid until the next
 * call for its server. If `table` is NULL, the query reads only tables of the server. The error is
 * that of the first server that has one: IO (the server could not be reached, took too long, or broke the connection;
 * err->where is STORE_AWAY), USAGE (it refuses the query), PERMISSION (it refuses the user), LIMIT (the answer is too
 * long), MEMORY.
 */
pfr_status http_ask(struct http *http, unsigned first, unsigned count, const char *query,
                    const struct http_table *table, pfr_error *err);
/* Sends data to one server: `query` is an INSERT, `body` its data. */
pfr_status http_send(struct http *http, unsigned server, const char *query, const void *body, size_t length,
                     pfr_error *err);
/* Runs `query` with GET, for which servers refuse every statement that changes something. In the answer, columns are
   tab-separated, and the first two rows are their names and types. Table names without a database refer to
   `database`. */
pfr_status http_read_only(struct http *http, unsigned server, const char *database, const char *query, pfr_error *err);

const struct http_answer *http_answer(const struct http *http, unsigned server);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each server has a libcurl handle. One multi handle runs them all, and keeps connections open between requests.
 *
 * With `wait_end_of_query=1` a server sends its answer only after the query has ended, so that a late error is a status
 * instead of a text within the answer.
 */
#include "store/clickhouse/http.h"

#include "base/memory/arena.h"
#include "base/io/output.h"
#include "base/memory/fail.h"
#include "store/clickhouse/curl_api.h"
#include "store/clickhouse/http_error.h"
#include "store/store_engine.h"

#include <stdio.h>
#include <string.h>

#define CONNECT_MS 10000u
#define REQUEST_MS 300000u
#define POLL_MS 1000
#define ANSWER_FIRST 4096u
#define URL_PARAMETERS "wait_end_of_query=1"

struct http_server {
    struct http *http;
    CURL *handle;
    const char *host;
    char *url;
    curl_mime *form; /* form of the running request; NULL: it has no form */
    struct http_answer answer;
    bool too_long, no_memory;
    CURLcode outcome;
    char reason[CURL_ERROR_SIZE]; /* text of the outcome; empty: libcurl gives only the code */
};

struct http {
    const struct curl_api *curl;
    struct memory *memory;
    struct arena arena;
    struct http_options options;
    CURLM *multi;
    struct curl_slist *headers;
    unsigned nr_servers;
    struct http_server servers[];
};

/* --- Opening. */

static const char *own_text(struct http *http, const char *text) {
    return text ? arena_text(&http->arena, text, strlen(text)) : NULL;
}

static bool open_server(struct http *http, unsigned server, const char *host) {
    struct http_server *one = &http->servers[server];
    const size_t length = strlen(host) + sizeof "https:///?" URL_PARAMETERS;
    one->http = http;
    one->host = own_text(http, host);
    one->url = arena_zeroed(&http->arena, length, 1);
    one->handle = http->curl->p_curl_easy_init();
    if (!one->host || !one->url || !one->handle)
        return false;
    snprintf(one->url, length, "%s://%s/?" URL_PARAMETERS, http->options.tls ? "https" : "http", host);
    return true;
}

static bool own_options(struct http *http, const struct http_options *options) {
    http->options = *options;
    http->options.user = own_text(http, options->user);
    http->options.password = own_text(http, options->password);
    http->options.ca_file = own_text(http, options->ca_file);
    if (!options->connect_ms)
        http->options.connect_ms = CONNECT_MS;
    if (!options->request_ms)
        http->options.request_ms = REQUEST_MS;
    if (!options->answer_most)
        http->options.answer_most = http->memory->limit / 2;
    return !http->memory->failed;
}

static bool open_parts(struct http *http, const char *const *hosts, unsigned count,
                       const struct http_options *options) {
    http->multi = http->curl->p_curl_multi_init();
    /* Disables "Expect: 100-continue", with which libcurl would wait for the server's reply before sending more than 1
       MB. */
    http->headers = http->curl->p_curl_slist_append(NULL, "Expect:");
    if (!http->multi || !http->headers || !own_options(http, options))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!open_server(http, i, hosts[i]))
            return false;
    return true;
}

struct http *http_open(const char *const *hosts, unsigned count, const struct http_options *options,
                       struct memory *memory, pfr_error *err) {
    const struct curl_api *curl = curl_api_load(err);
    if (!curl)
        return NULL;
    struct http *http = mem_zeroed(memory, 1, sizeof *http + count * sizeof *http->servers);
    if (!http) {
        mem_fail(memory, err, "store");
        return NULL;
    }
    http->curl = curl;
    http->memory = memory;
    http->nr_servers = count;
    arena_init(&http->arena, memory);
    if (open_parts(http, hosts, count, options))
        return http;
    http_close(http);
    pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "store", "out of memory for connections");
    return NULL;
}

void http_close(struct http *http) {
    if (!http)
        return;
    for (unsigned i = 0; i < http->nr_servers; i++) {
        struct http_server *server = &http->servers[i];
        if (server->handle)
            http->curl->p_curl_easy_cleanup(server->handle);
        mem_free(http->memory, server->answer.bytes, server->answer.room, 1);
    }
    if (http->multi)
        http->curl->p_curl_multi_cleanup(http->multi);
    http->curl->p_curl_slist_free_all(http->headers);
    if (http->options.password)
        explicit_bzero((char *)(uintptr_t)http->options.password, strlen(http->options.password));
    arena_free(&http->arena);
    mem_free(http->memory, http, 1, sizeof *http + http->nr_servers * sizeof *http->servers);
}

const char *http_host(const struct http *http, unsigned server) {
    return http->servers[server].host;
}

const struct http_answer *http_answer(const struct http *http, unsigned server) {
    return &http->servers[server].answer;
}

/* --- One request. */

/* If this returns fewer bytes than it was given, libcurl ends the request. */
static size_t take_answer(char *bytes, size_t size, size_t count, void *context) {
    struct http_server *server = context;
    struct http_answer *answer = &server->answer;
    const size_t length = size * count;
    if (length > server->http->options.answer_most - answer->length) {
        server->too_long = true;
        return 0;
    }
    if (length > answer->room - answer->length) {
        uint8_t *grown =
            mem_grow(server->http->memory, answer->bytes, answer->length + length, &answer->room, ANSWER_FIRST, 1);
        if (!grown) {
            server->no_memory = true;
            return 0;
        }
        answer->bytes = grown;
    }
    memcpy(answer->bytes + answer->length, bytes, length);
    answer->length += length;
    return length;
}

static void set_safety(struct http_server *server) {
    const struct http *http = server->http;
    const struct http_options *options = &http->options;
    __typeof__(curl_easy_setopt) *set = http->curl->p_curl_easy_setopt;
    set(server->handle, CURLOPT_NOSIGNAL, 1L);
    set(server->handle, CURLOPT_ERRORBUFFER, server->reason);
    set(server->handle, CURLOPT_FOLLOWLOCATION, 0L);
    set(server->handle, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms);
    set(server->handle, CURLOPT_TIMEOUT_MS, (long)options->request_ms);
    set(server->handle, CURLOPT_SSL_VERIFYPEER, 1L);
    set(server->handle, CURLOPT_SSL_VERIFYHOST, 2L);
    if (options->ca_file)
        set(server->handle, CURLOPT_CAINFO, options->ca_file);
    if (options->user) {
        set(server->handle, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        set(server->handle, CURLOPT_USERNAME, options->user);
        set(server->handle, CURLOPT_PASSWORD, options->password ? options->password : "");
    }
}

/* Sets the options that all requests have. */
static void set_request(struct http_server *server, const char *url) {
    __typeof__(curl_easy_setopt) *set = server->http->curl->p_curl_easy_setopt;
    server->http->curl->p_curl_easy_reset(server->handle);
    set_safety(server);
    set(server->handle, CURLOPT_URL, url);
    set(server->handle, CURLOPT_HTTPHEADER, server->http->headers);
    set(server->handle, CURLOPT_WRITEFUNCTION, take_answer);
    set(server->handle, CURLOPT_WRITEDATA, server);
    set(server->handle, CURLOPT_PRIVATE, server);
    server->answer.length = 0;
    server->too_long = server->no_memory = false;
    server->outcome = CURLE_OK;
    server->reason[0] = '\0';
}

static void set_body(struct http_server *server, const void *body, size_t length) {
    __typeof__(curl_easy_setopt) *set = server->http->curl->p_curl_easy_setopt;
    set(server->handle, CURLOPT_POST, 1L);
    set(server->handle, CURLOPT_POSTFIELDS, body);
    set(server->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
}

/* Adds a form with one file. In the query, the file is a table with the file's name. */
static bool set_table(struct http_server *server, const struct http_table *table) {
    const struct curl_api *curl = server->http->curl;
    server->form = curl->p_curl_mime_init(server->handle);
    curl_mimepart *part = server->form ? curl->p_curl_mime_addpart(server->form) : NULL;
    return part && curl->p_curl_mime_name(part, table->name) == CURLE_OK &&
           curl->p_curl_mime_filename(part, table->name) == CURLE_OK &&
           curl->p_curl_mime_data(part, table->bytes, table->length) == CURLE_OK &&
           curl->p_curl_easy_setopt(server->handle, CURLOPT_MIMEPOST, server->form) == CURLE_OK;
}

static void take_outcomes(struct http *http) {
    int left;
    for (CURLMsg *message; (message = http->curl->p_curl_multi_info_read(http->multi, &left));) {
        struct http_server *server = NULL;
        http->curl->p_curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &server);
        if (message->msg == CURLMSG_DONE && server)
            server->outcome = message->data.result;
    }
}

static CURLMcode run(struct http *http) {
    int running = 1;
    CURLMcode code = CURLM_OK;
    while (code == CURLM_OK && running) {
        code = http->curl->p_curl_multi_perform(http->multi, &running);
        take_outcomes(http);
        if (code == CURLM_OK && running)
            code = http->curl->p_curl_multi_poll(http->multi, NULL, 0, POLL_MS, NULL);
    }
    return code;
}

/* A server with an untrusted certificate will not be trusted later either, so this is not STORE_AWAY and nothing is
   spooled for it. */
static pfr_status fail_transfer(const struct http_server *server, pfr_error *err) {
    const struct http *http = server->http;
    const char *const general = http->curl->p_curl_easy_strerror(server->outcome);
    const char *const reason = *server->reason ? server->reason : general;
    switch (server->outcome) {
    case CURLE_PEER_FAILED_VERIFICATION:
        return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "store", "%s: the server is not trusted: %s",
                        server->host, reason);
    case CURLE_SSL_CACERT_BADFILE:
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "PERFRAY_CLICKHOUSE_CA: %s", reason);
    case CURLE_SSL_CONNECT_ERROR:
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY, "%s: no TLS connection: %s", server->host,
                        reason);
    default:
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, STORE_AWAY, "%s: %s", server->host, general);
    }
}

static pfr_status check(const struct http_server *server, pfr_error *err) {
    const struct http *http = server->http;
    long status = 0;
    if (server->too_long)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "store", "%s: the answer has more than %llu bytes",
                        server->host, (unsigned long long)http->options.answer_most);
    if (server->no_memory)
        return mem_fail(http->memory, err, "store");
    if (server->outcome != CURLE_OK)
        return fail_transfer(server, err);
    http->curl->p_curl_easy_getinfo(server->handle, CURLINFO_RESPONSE_CODE, &status);
    return http_check_status(server->host, status, server->answer.bytes, server->answer.length, err);
}

static pfr_status run_all(struct http *http, unsigned first, unsigned count, pfr_error *err) {
    unsigned added = 0;
    CURLMcode code = CURLM_OK;
    for (; added < count && code == CURLM_OK; added++)
        code = http->curl->p_curl_multi_add_handle(http->multi, http->servers[first + added].handle);
    if (code == CURLM_OK)
        code = run(http);
    for (unsigned i = 0; i < added; i++)
        http->curl->p_curl_multi_remove_handle(http->multi, http->servers[first + i].handle);
    if (code != CURLM_OK)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "store", "%s", http->curl->p_curl_multi_strerror(code));
    for (unsigned i = 0; i < count; i++)
        PFR_TRY(check(&http->servers[first + i], err));
    return PFR_OK;
}

/* --- The three kinds of requests. */

static pfr_status out_of_memory(pfr_error *err) {
    return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "store", "out of memory for a request");
}

/* Appends "&name=value"; `value` may contain any byte but NUL. */
static bool add_parameter(struct http *http, struct output *url, const char *name, const char *value) {
    char *escaped = http->curl->p_curl_easy_escape(http->servers->handle, value, 0);
    if (!escaped)
        return false;
    out_text(url, "&");
    out_text(url, name);
    out_text(url, "=");
    out_text(url, escaped);
    http->curl->p_curl_free(escaped);
    return true;
}

static bool add_table(struct http *http, struct output *url, const struct http_table *table) {
    char name[64];
    snprintf(name, sizeof name, "%s_structure", table->name);
    if (!add_parameter(http, url, name, table->structure))
        return false;
    snprintf(name, sizeof name, "%s_format", table->name);
    return add_parameter(http, url, name, "RowBinary");
}

/* Makes the part of the URL after the server's part. */
static pfr_status make_parameters(struct http *http, struct output *url, const char *query,
                                  const struct http_table *table, const char *database, pfr_error *err) {
    out_open_memory(url, http->memory);
    if ((table && !add_table(http, url, table)) ||
        (database && (!add_parameter(http, url, "default_format", "TabSeparatedWithNamesAndTypes") ||
                      !add_parameter(http, url, "database", database))) ||
        (query && !add_parameter(http, url, "query", query)))
        return out_of_memory(err);
    out_write(url, "", 1);
    return out_flush(url, err);
}

static pfr_status set_url(struct http_server *server, const struct output *parameters, pfr_error *err) {
    struct output url;
    size_t length;
    out_open_memory(&url, server->http->memory);
    out_text(&url, server->url);
    out_text(&url, out_bytes(parameters, &length));
    out_write(&url, "", 1);
    const pfr_status st = out_flush(&url, err);
    if (st >= 0)
        set_request(server, out_bytes(&url, &length));
    out_close(&url, NULL);
    return st;
}

static void free_forms(struct http *http, unsigned first, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        http->curl->p_curl_mime_free(http->servers[first + i].form);
        http->servers[first + i].form = NULL;
    }
}

pfr_status http_ask(struct http *http, unsigned first, unsigned count, const char *query,
                    const struct http_table *table, pfr_error *err) {
    struct output parameters;
    pfr_status st = make_parameters(http, &parameters, table ? query : NULL, table, NULL, err);
    for (unsigned i = 0; i < count && st >= 0; i++) {
        struct http_server *server = &http->servers[first + i];
        st = set_url(server, &parameters, err);
        if (st >= 0 && !table)
            set_body(server, query, strlen(query));
        else if (st >= 0 && !set_table(server, table))
            st = out_of_memory(err);
    }
    if (st >= 0)
        st = run_all(http, first, count, err);
    free_forms(http, first, count);
    out_close(&parameters, NULL);
    return st;
}

pfr_status http_send(struct http *http, unsigned server, const char *query, const void *body, size_t length,
                     pfr_error *err) {
    struct output parameters;
    pfr_status st = make_parameters(http, &parameters, query, NULL, NULL, err);
    if (st >= 0)
        st = set_url(&http->servers[server], &parameters, err);
    if (st >= 0) {
        set_body(&http->servers[server], body, length);
        /* Uses a new connection: if the server closes a kept connection, libcurl sends the rows again. */
        http->curl->p_curl_easy_setopt(http->servers[server].handle, CURLOPT_FRESH_CONNECT, 1L);
        st = run_all(http, server, 1, err);
    }
    out_close(&parameters, NULL);
    return st;
}

pfr_status http_read_only(struct http *http, unsigned server, const char *database, const char *query, pfr_error *err) {
    struct output parameters;
    pfr_status st = make_parameters(http, &parameters, query, NULL, database, err);
    if (st >= 0)
        st = set_url(&http->servers[server], &parameters, err);
    if (st >= 0)
        st = run_all(http, server, 1, err);
    out_close(&parameters, NULL);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_URL_H
#define PFR_STORE_CLICK_URL_H
/*
 * URLs of ClickHouse stores:
 *
 *     clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]...]/DATABASE     each HOST is a shard; PORT is that of HTTP
 *     clickhouses://...                                             the same over TLS
 *
 * A password is taken from the environment (PERFRAY_CLICKHOUSE_PASSWORD), or from the first line of the file named by
 * PERFRAY_CLICKHOUSE_PASSWORD_FILE. It cannot be in the URL, because every process on a machine can read command lines.
 * PERFRAY_CLICKHOUSE_CA names a file with the certificates of trusted authorities.
 */
#include "base/memory/arena.h"
#include "store/clickhouse/http.h"

struct click_url {
    const char *hosts[HTTP_SERVERS_MOST]; /* with ports */
    unsigned nr_hosts;
    const char *database;
    struct http_options options; /* user, password, ca_file, tls */
};

/* Texts are in the arena. Errors: USAGE (the URL is wrong or contains a password), MEMORY, LIMIT, and those of reading
   the password file. No message contains a password. */
pfr_status click_url_parse(const char *text, struct arena *arena, struct click_url *url, pfr_error *err);

#endif

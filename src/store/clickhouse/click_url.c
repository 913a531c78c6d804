/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a URL, and what the environment adds to them. */
#include "store/clickhouse/click_url.h"

#include "base/memory/fail.h"
#include "base/text/text.h"
#include "store/clickhouse/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCHEME "clickhouse://"
#define SCHEME_TLS "clickhouses://"
#define PORT ":8123"
#define PORT_TLS ":8443"
#define PORT_MOST 65535u
#define PASSWORD_MOST 1024u
#define PASSWORD_ENV "PERFRAY_CLICKHOUSE_PASSWORD"
#define PASSWORD_FILE_ENV "PERFRAY_CLICKHOUSE_PASSWORD_FILE"
#define CA_ENV "PERFRAY_CLICKHOUSE_CA"
#define FORM "clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]...]/DATABASE"

static pfr_status wrong(const char *problem, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "%s; a store is %s", problem, FORM);
}

/* Allows only characters of names, IPv4 addresses and, in brackets, IPv6 addresses. Other characters could change the
   meaning of the URL of a request. */
static bool is_host(const char *host, size_t length) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    if (length > 2 && host[0] == '[')
        return host[length - 1] == ']' && strspn(host + 1, "0123456789abcdefABCDEF:.") == length - 2;
    return length > 0 && strspn(host, letters) >= length;
}

static pfr_status add_host(const char *text, size_t length, struct arena *arena, struct click_url *url,
                           pfr_error *err) {
    const char *bracket = memrchr(text, ']', length);
    const char *from = bracket ? bracket : text;
    const char *colon = memchr(from, ':', length - (size_t)(from - text));
    const size_t host = colon ? (size_t)(colon - text) : length;
    uint64_t port = 1;
    if (url->nr_hosts == HTTP_SERVERS_MOST)
        return wrong("more than 64 hosts", err);
    if (!is_host(text, host))
        return wrong("a host is empty or has characters that no host has", err);
    if (colon && (!parse_u64_part(colon + 1, length - host - 1, &port) || port < 1 || port > PORT_MOST))
        return wrong("a port is a number from 1 to 65535", err);
    const char *added = colon ? "" : url->options.tls ? PORT_TLS : PORT;
    char *own = arena_zeroed(arena, length + strlen(added) + 1, 1);
    if (!own)
        return mem_fail(arena->memory, err, "store");
    memcpy(own, text, length);
    memcpy(own + length, added, strlen(added));
    url->hosts[url->nr_hosts++] = own;
    return PFR_OK;
}

static pfr_status take_hosts(const char *at, const char *end, struct arena *arena, struct click_url *url,
                             pfr_error *err) {
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        PFR_TRY(add_host(at, (size_t)((comma ? comma : end) - at), arena, url, err));
        if (!comma)
            break;
        at = comma + 1;
    }
    for (unsigned i = 0; i < url->nr_hosts; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(url->hosts[i], url->hosts[j]) == 0)
                return wrong("a host is named twice", err);
    return PFR_OK;
}

static pfr_status take_user(const char *at, const char *end, struct arena *arena, struct click_url *url,
                            pfr_error *err) {
    if (memchr(at, ':', (size_t)(end - at)))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                        "a password in a URL can be read by every user of this machine: use the environment variable "
                        "%s or %s",
                        PASSWORD_ENV, PASSWORD_FILE_ENV);
    if (at == end)
        return wrong("the user before @ is empty", err);
    url->options.user = arena_text(arena, at, (size_t)(end - at));
    return url->options.user ? PFR_OK : mem_fail(arena->memory, err, "store");
}

/* --- The environment. */

static pfr_status read_password(const char *path, struct arena *arena, const char **password, pfr_error *err) {
    char line[PASSWORD_MOST + 1];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const ssize_t got = fd >= 0 ? read(fd, line, PASSWORD_MOST) : -1;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return pfr_fail_errno(err, error, "cannot read the password file", path);
    line[got] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    *password = arena_text(arena, line, strlen(line));
    explicit_bzero(line, sizeof line);
    return *password ? PFR_OK : mem_fail(arena->memory, err, "store");
}

static pfr_status take_environment(struct arena *arena, struct click_url *url, pfr_error *err) {
    const char *file = getenv(PASSWORD_FILE_ENV), *ca_file = getenv(CA_ENV);
    url->options.password = getenv(PASSWORD_ENV);
    url->options.ca_file = ca_file && *ca_file ? ca_file : NULL;
    if (!url->options.password && file)
        PFR_TRY(read_password(file, arena, &url->options.password, err));
    if (url->options.password && !url->options.user)
        url->options.user = "default";
    return PFR_OK;
}

pfr_status click_url_parse(const char *text, struct arena *arena, struct click_url *url, pfr_error *err) {
    *url = (struct click_url){.options = {.tls = strncmp(text, SCHEME_TLS, strlen(SCHEME_TLS)) == 0}};
    const char *scheme = url->options.tls ? SCHEME_TLS : SCHEME;
    if (strncmp(text, scheme, strlen(scheme)) != 0)
        return wrong("the URL begins otherwise", err);
    const char *at = text + strlen(scheme), *slash = strchr(at, '/');
    if (!slash || !is_database_name(slash + 1))
        return wrong("the name of a database has 1 to 64 letters, digits and _", err);
    const char *user = memrchr(at, '@', (size_t)(slash - at));
    if (user) {
        PFR_TRY(take_user(at, user, arena, url, err));
        at = user + 1;
    }
    PFR_TRY(take_hosts(at, slash, arena, url, err));
    url->database = arena_text(arena, slash + 1, strlen(slash + 1));
    return url->database ? take_environment(arena, url, err) : mem_fail(arena->memory, err, "store");
}

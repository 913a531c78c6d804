/* SPDX-License-Identifier: Apache-2.0 */
/* The list of engines. */
#include "store/store_engine.h"

#include <string.h>

static const struct store_engine *const engines[] = {
#ifdef PFR_HAVE_SQLITE
    &store_sqlite,
#endif
#ifdef PFR_HAVE_CURL
    &store_clickhouse,
#endif
    NULL,
};

/* Whether the URL begins with a scheme "NAME:". NAME has at least two characters and no slash; otherwise, the URL is a
   path. */
static bool has_scheme(const char *url) {
    const size_t length = strcspn(url, ":/");
    return length > 1 && url[length] == ':';
}

const struct store_engine *store_engine_of(const char *url, const char **rest) {
    const char *const sqlite = "sqlite:";
    for (size_t i = 0; engines[i]; i++) {
        const struct store_engine *e = engines[i];
        const size_t length = strlen(e->prefix);
        const bool is_path = strcmp(e->prefix, sqlite) == 0 && !has_scheme(url);
        if (!is_path && strncmp(url, e->prefix, length) != 0)
            continue;
        /* engines on servers get the whole URL */
        *rest = is_path || strcmp(e->prefix, sqlite) != 0 ? url : url + length;
        return e;
    }
    return NULL;
}

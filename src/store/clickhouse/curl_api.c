/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libcurl once per process. */
#include "store/clickhouse/curl_api.h"

#include "base/memory/fail.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CURL_LIBRARY "libcurl.so.4"

static struct curl_api api;
static char problem[120]; /* empty: the library is loaded */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    if (!found && !*problem)
        snprintf(problem, sizeof problem, "%s has no %s: a newer one is needed", CURL_LIBRARY, name);
    memcpy(to, &found, sizeof found);
}

static void load(void) {
    void *library = dlopen(CURL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(problem, sizeof problem, "a ClickHouse store needs %s (Debian: libcurl4)", CURL_LIBRARY);
        return;
    }
#define CURL_FIND(name) find(library, #name, &api.p_##name);
    CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
    if (!*problem && api.p_curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        snprintf(problem, sizeof problem, "%s cannot be initialised", CURL_LIBRARY);
}

const struct curl_api *curl_api_load(pfr_error *err) {
    pthread_once(&once, load);
    if (!*problem)
        return &api;
    pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "%s", problem);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char own_place[PATH_MAX];

static bool write_place(const char *home, const char *below) {
    const int length =
        home && *home == '/' ? snprintf(own_place, sizeof own_place, "%s%s/perfray/store.db", home, below) : -1;
    return length > 0 && (size_t)length < sizeof own_place;
}

static bool write_own_place(void) {
    return write_place(getenv("XDG_DATA_HOME"), "") || write_place(getenv("HOME"), "/.local/share");
}

const char *store_place(const char *given) {
    const char *const named = given ? given : getenv("PERFRAY_STORE");
    if (named && *named)
        return named;
    return write_own_place() ? own_place : NULL;
}

void store_place_prepare(const char *place) {
    if (place != own_place && (!write_own_place() || strcmp(place, own_place) != 0))
        return;
    /* if a folder cannot be made, opening the store fails with the reason */
    for (char *at = strchr(own_place + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(own_place, 0700);
        *at = '/';
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The cache folder: see caching.h, and the XDG Base Directory Specification. */
#include "caching.h"

#include <stdio.h>
#include <stdlib.h>

#define FOLDER_ROOM 4096

const char *cache_folder(bool wanted) {
    static char folder[FOLDER_ROOM];
    const char *const shared = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    int length = 0;
    if (!wanted)
        return NULL;
    if (shared && *shared == '/')
        length = snprintf(folder, sizeof folder, "%s/perfray", shared);
    else if (home && *home == '/')
        length = snprintf(folder, sizeof folder, "%s/.cache/perfray", home);
    return length > 0 && (size_t)length < sizeof folder ? folder : NULL;
}

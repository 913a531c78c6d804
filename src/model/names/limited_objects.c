/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of objects that met a limit: see limited_objects.h. */
#include "model/names/limited_objects.h"

#include "base/text/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CUT "..."

/* The length of the path when it is escaped, as in errors. */
static size_t shown_length(const char *path, size_t length) {
    char shown[LIMITED_PATH_ROOM * 4];
    return escape_into(shown, sizeof shown, path, length);
}

/* The longest end of the path that fits when it is escaped. */
static const char *end_of(const char *path, size_t length) {
    const size_t most = LIMITED_PATH_ROOM - sizeof CUT;
    size_t from = length > most ? length - most : 0;
    while (shown_length(path + from, length - from) > most)
        from++;
    return path + from;
}

void limited_objects_add(struct limited_objects *objects, const char *path) {
    char text[LIMITED_PATH_ROOM] = "";
    const char *const end = path ? end_of(path, strlen(path)) : "";
    snprintf(text, sizeof text, "%s%s", end > path && path ? CUT : "", end);
    if (objects->count++ == 0 || strcmp(text, objects->first) < 0)
        memcpy(objects->first, text, sizeof text);
}

const char *limited_objects_text(const struct limited_objects *objects, const char *joint,
                                 char text[LIMITED_TEXT_ROOM]) {
    char others[40] = "";
    if (objects->count > 1)
        snprintf(others, sizeof others, " and %s %" PRIu32 " other object%s", joint, objects->count - 1,
                 objects->count > 2 ? "s" : "");
    snprintf(text, LIMITED_TEXT_ROOM, "%s%s", *objects->first ? objects->first : "an object", others);
    return text;
}

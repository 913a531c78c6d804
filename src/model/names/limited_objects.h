/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_LIMITED_OBJECTS_H
#define PFR_MODEL_LIMITED_OBJECTS_H
/*
 * The objects that met a limit, as a sentence names them: one by its path, and how many others there are. Threads meet
 * objects in any order: of all paths the least is named.
 */
#include <stdint.h>

#define LIMITED_PATH_ROOM 52u /* a sentence with it, and with counts, must fit pfr_error.text */
#define LIMITED_TEXT_ROOM (LIMITED_PATH_ROOM + 40u)

struct limited_objects {
    uint32_t count;
    char first[LIMITED_PATH_ROOM]; /* the least path; of a long one its end */
};

/* Each object once. `path` NULL: not known. */
void limited_objects_add(struct limited_objects *objects, const char *path);

/* "PATH and of 2 other objects", with `joint` for "of". Returns `text`. */
const char *limited_objects_text(const struct limited_objects *objects, const char *joint,
                                 char text[LIMITED_TEXT_ROOM]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_LIMITED_OBJECTS_H
#define PFR_MODEL_LIMITED_OBJECTS_H
/*
 * The objects that met a limit, for a sentence that gives the path of one object and the number of others. Threads meet
 * objects in any order, so the alphabetically first path is given.
 */
#include <stdint.h>

#define LIMITED_PATH_ROOM 52u /* a sentence with a path of this length, and with counts, must fit pfr_error.text */
#define LIMITED_TEXT_ROOM (LIMITED_PATH_ROOM + 40u)

struct limited_objects {
    uint32_t count;
    char first[LIMITED_PATH_ROOM]; /* the first path in alphabetical order; only the end of a long path */
};

/* Adds an object; call it once per object. `path` NULL: not known. */
void limited_objects_add(struct limited_objects *objects, const char *path);

/* Writes "PATH and of 2 other objects", where `joint` is "of". Returns `text`. */
const char *limited_objects_text(const struct limited_objects *objects, const char *joint,
                                 char text[LIMITED_TEXT_ROOM]);

#endif

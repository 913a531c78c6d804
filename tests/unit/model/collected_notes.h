/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_COLLECTED_NOTES_H
#define PFR_TESTS_COLLECTED_NOTES_H
/* Collects notes reported while a recording is read, one sentence per line: `char notes[NOTES_ROOM] = ""` is the
 * context. */
#include <stdio.h>
#include <string.h>

enum { NOTES_ROOM = 1000 };

static inline void take_note(void *context, const char *sentence) {
    char *notes = context;
    const size_t length = strlen(notes);
    snprintf(notes + length, NOTES_ROOM - length, "%s\n", sentence);
}

#endif

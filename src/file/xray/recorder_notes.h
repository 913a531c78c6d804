/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDER_NOTES_H
#define PFR_FILE_RECORDER_NOTES_H
/*
 * What traces of perfray's own runtime tell beside calls (wire/recorder_file.h): where buffers may lie while the trace
 * is written, and which function of which object each id is.
 *
 *     struct recorder_notes notes;
 *     PFR_TRY(recorder_notes_read(reader, memory, &notes, err));    other traces: no functions
 *     if (id <= notes.nr_functions)
 *         ... notes.functions[id - 1].address, notes.objects[notes.functions[id - 1].object - 1].path
 *     recorder_notes_free(&notes, memory);
 */
#include "base/memory/memory.h"
#include "wire/recorder_file.h"

#include <perfray/reader.h>

struct recorder_notes {
    struct rtf_function *functions; /* functions[id - 1] */
    struct rtf_object *objects;     /* objects[number - 1] */
    size_t nr_functions, functions_room, nr_objects, objects_room;
};

/* The trace begins with these bytes (behind its header): learns whether it lies in slots. */
void recorder_learn(pfr_reader *r, const uint8_t *bytes, size_t have);

/* Calls that took less than *ns ns were taken back by the recorder; false: the trace does not tell. */
bool recorder_threshold(const pfr_reader *r, uint64_t *ns);

/* Bytes of slots behind `end`, where the trace ends, that its control block tells of: it was cut. */
uint64_t recorder_missing(const pfr_reader *r, uint64_t end);

/* Nothing begins at `at`, which is room in a slot that is not used yet: *next is where the next slot begins. */
bool recorder_room_ends(const pfr_reader *r, uint64_t at, uint64_t *next);

/* Reads them, wherever the reader stands. A trace that cannot be read in any order tells nothing. */
pfr_status recorder_notes_read(pfr_reader *r, struct memory *memory, struct recorder_notes *notes, pfr_error *err);
void recorder_notes_free(struct recorder_notes *notes, struct memory *memory);

#endif

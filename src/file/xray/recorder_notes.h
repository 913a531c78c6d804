/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDER_NOTES_H
#define PFR_FILE_RECORDER_NOTES_H
/*
 * Data that traces of perfray's own runtime have in addition to calls (wire/recorder_file.h): where buffers may be
 * while the runtime writes the trace, and the function and object of each id.
 *
 *    struct recorder_notes notes;
 *    PFR_TRY(recorder_notes_read(reader, memory, &notes, err));    other traces: no functions
 *    if (id <= notes.nr_functions)
 *        ... notes.functions[id - 1].address, notes.objects[notes.functions[id - 1].object - 1].path
 *    recorder_notes_free(&notes, memory);
 */
#include "base/memory/memory.h"
#include "wire/recorder_file.h"

#include <perfray/reader.h>

struct recorder_notes {
    struct rtf_function *functions; /* functions[id - 1] */
    struct rtf_object *objects;     /* objects[number - 1] */
    size_t nr_functions, functions_room, nr_objects, objects_room;
};

/* Determines from the first bytes after the header whether the trace is in slots. */
void recorder_learn(pfr_reader *r, const uint8_t *bytes, size_t have);

/* The recorder discarded calls shorter than *ns ns; false: the trace does not state a threshold. */
bool recorder_threshold(const pfr_reader *r, uint64_t *ns);

/* Number of bytes of slots that the control block promises after `end`, the end of the trace. If it is not 0, the trace
   was cut. */
uint64_t recorder_missing(const pfr_reader *r, uint64_t end);

/* Whether `at` is in a slot: the bytes from `at` to the next slot are then unused; *next is the start of that slot. */
bool recorder_room_ends(const pfr_reader *r, uint64_t at, uint64_t *next);

/* Reads the notes without moving the reader. A trace that is not seekable has no notes. */
pfr_status recorder_notes_read(pfr_reader *r, struct memory *memory, struct recorder_notes *notes, pfr_error *err);
void recorder_notes_free(struct recorder_notes *notes, struct memory *memory);

#endif

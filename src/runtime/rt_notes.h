/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_NOTES_H
#define PFR_RUNTIME_RT_NOTES_H
/* Notes in the trace: see rt_notes.c. */
#include "runtime/rt_recorder.h"

/* Writes a buffer of `size` bytes with one custom event, except the contents of the event, which may be written before
 * or later. */
void rt_note_write(uint8_t *buffer, uint32_t kind, uint32_t first, uint64_t size);

/* Returns the entry with this number (from 1) in a list of notes. `known` has slot + 1 for each of the list's `most`
 * blocks; a missing block is made. NULL: no room. */
void *rt_note_entry(uint32_t *known, uint32_t most, uint32_t kind, uint32_t number, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_NOTES_H
#define PFR_RUNTIME_RT_NOTES_H
/* What other files use of rt_notes.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* A buffer of `size` bytes that is one custom event, what it tells being there already or coming. */
void rt_note_write(uint8_t *buffer, uint32_t kind, uint32_t first, uint64_t size);

/* Where a list of notes has its entry of this number, from 1; *known: its slots, of which one is made where it is
   missing. NULL: there is no room. */
void *rt_note_entry(uint32_t *known, uint32_t most, uint32_t kind, uint32_t number, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_NOTES_H
#define PFR_VIEW_OFFCPU_NOTES_H
/* Interface of offcpu_notes.c; offcpu_parts.h describes how the files work together. */
#include "view/offcpu/offcpu_parts.h"

/* Writes note `number` (from 0) about limits and losses; returns false if there are no more notes. */
bool offcpu_note(const struct offcpu *o, unsigned number, char text[OFFCPU_NOTE_ROOM]);

#endif

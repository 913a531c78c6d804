/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_NOTES_H
#define PFR_VIEW_LATENCY_NOTES_H
/* Interface of latency_notes.c; latency_parts.h describes how the files work together. */
#include "view/latency/latency_parts.h"

/* Writes note `number` (from 0) of the notes printed above a table and in JSON; returns false if there are no more
 * notes. */
#define LATENCY_NOTE_ROOM 240u

bool latency_note(const struct latency *l, unsigned number, char text[LATENCY_NOTE_ROOM]);

/* The kind of input, for example "XRay flight-recorder trace" or "stored calls". */
const char *latency_kind(const struct latency *l);
const char *latency_unit(const struct latency *l);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_NOTES_H
#define PFR_VIEW_LATENCY_NOTES_H
/* Interface of latency_notes.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

/* The sentences that stand above a table and in JSON, one after the other; false: there are no more. */
#define LATENCY_NOTE_ROOM 240u

bool latency_note(const struct latency *l, unsigned number, char text[LATENCY_NOTE_ROOM]);

/* What the trace is: "XRay flight-recorder trace", "xray-fdr". */
const char *latency_kind(const struct latency *l);
const char *latency_unit(const struct latency *l);

#endif

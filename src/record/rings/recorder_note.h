/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_NOTE_H
#define PFR_RECORD_RECORDER_NOTE_H
/* Messages of the recorder: see recorder_note.c. */
#include "record/rings/recorder_parts.h"

void recorder_note(const pfr_recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

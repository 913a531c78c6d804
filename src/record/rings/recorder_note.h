/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_NOTE_H
#define PFR_RECORD_RECORDER_NOTE_H
/* What other files use of recorder_note.c, which says how it works. */
#include "record/rings/recorder_parts.h"

void recorder_note(const pfr_recorder *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENT_NAMES_H
#define PFR_FILE_EVENT_NAMES_H
/* Recorded names of events. */
#include "file/read/recording.h"

pfr_status events_name(pfr_reader *r, pfr_error *err);

/* Notes that the name of an event with a name has changed. */
pfr_status events_note_name(pfr_reader *r, size_t index, pfr_error *err);

#endif

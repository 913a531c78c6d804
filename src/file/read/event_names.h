/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENT_NAMES_H
#define PFR_FILE_EVENT_NAMES_H
/* Recorded names of events. */
#include "file/read/recording.h"

pfr_status events_name(pfr_reader *r, pfr_error *err);

/* Notes that an event which already had a name got a different one. */
pfr_status events_note_name(pfr_reader *r, size_t index, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENT_NAMES_H
#define PFR_FILE_EVENT_NAMES_H
/* What other files use of event_names.c, which says how it works. */
#include "file/read/recording.h"

pfr_status events_name(pfr_reader *r, pfr_error *err);

/* An event that had a name has another now. */
pfr_status events_note_name(pfr_reader *r, size_t index, pfr_error *err);

#endif

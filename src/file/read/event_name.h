/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENT_NAME_H
#define PFR_FILE_EVENT_NAME_H
/* Names of events whose name was not recorded, and units of events. */
#include "file/read/recording.h"

/* Builds the name, in the arena; NULL: out of memory. */
const char *event_name_make(pfr_reader *r, const struct pfr_rec_attr *attr);

/* Unit of the event's periods: "ns" for the kernel's clocks, or a recorded unit with scale 1; NULL: periods count the
   event itself. */
const char *event_unit(const pfr_event *event);

#endif

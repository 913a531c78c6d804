/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_EVENTS_H
#define PFR_VIEW_INFO_EVENTS_H
/* Interface of info_events.c; that file describes how it works. */
#include "view/info/info_parts.h"

pfr_status info_events(struct info *info, pfr_error *err);

/* Reads to the end of the recording, because streams have facts between the records. */
pfr_status read_to_end(pfr_reader *reader, pfr_error *err);

#endif

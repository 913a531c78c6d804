/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_REPAIR_EVENTS_H
#define PFR_FILE_REPAIR_EVENTS_H
/* Restores attrs and ids of events from EVENT_DESC or ID_INDEX, if the header lost them. */
#include "file/read/recording.h"

pfr_status mend_events(pfr_reader *r, pfr_error *err); /* call it when the features are known */

#endif

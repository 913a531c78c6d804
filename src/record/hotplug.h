/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HOTPLUG_H
#define PFR_RECORD_HOTPLUG_H
/* What other files use of hotplug.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* Looks every half second, and where the recorder has nothing to do */
pfr_status hotplug_look(pfr_recorder *r, bool idle, uint64_t now_ns, pfr_error *err);

#endif

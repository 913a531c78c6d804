/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HOTPLUG_H
#define PFR_RECORD_HOTPLUG_H
/* CPUs that go online and offline: see hotplug.c. */
#include "record/rings/recorder_parts.h"

/* Reads the list of online CPUs and handles its changes: when half a second has passed, or the recorder is idle. */
pfr_status hotplug_look(pfr_recorder *r, bool idle, uint64_t now_ns, pfr_error *err);

#endif

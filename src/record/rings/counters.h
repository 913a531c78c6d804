/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_COUNTERS_H
#define PFR_RECORD_COUNTERS_H
/* Counters: see counters.c. */
#include "record/rings/recorder_parts.h"

pfr_status counters_open(pfr_recorder *r, pfr_error *err);

/* Opens counters of all events on one more CPU. On failure, closes those that it opened. */
pfr_status counters_open_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err);

/* Enables only the event that reports maps and tasks, before counting begins. */
void counters_track(pfr_recorder *r);
void counters_switch(pfr_recorder *r, bool on);
void counters_close(pfr_recorder *r);

#endif

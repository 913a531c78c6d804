/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_COUNTERS_H
#define PFR_RECORD_COUNTERS_H
/* What other files use of counters.c, which says how it works. */
#include "record/rings/recorder_parts.h"

pfr_status counters_open(pfr_recorder *r, pfr_error *err);

/* All events on one cpu more; on failure none. */
pfr_status counters_open_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err);

/* Maps and tasks are told from now on, whenever counting begins. */
void counters_track(pfr_recorder *r);
void counters_switch(pfr_recorder *r, bool on);
void counters_close(pfr_recorder *r);

#endif

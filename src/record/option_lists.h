/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_OPTION_LISTS_H
#define PFR_RECORD_OPTION_LISTS_H
/* List options: see option_lists.c. */
#include "record/rings/recorder_parts.h"

pfr_status plan_synthesis(pfr_recorder *r, pfr_error *err);

/* Sets the times at which counting is switched on and off, from delay_ms or on_times. */
pfr_status plan_turns(pfr_recorder *r, pfr_error *err);

/* Checks --mmap-flush. Call it when the rings are mapped. */
pfr_status plan_drain(pfr_recorder *r, pfr_error *err);

#endif

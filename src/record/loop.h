/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_LOOP_H
#define PFR_RECORD_LOOP_H
/* The main loop of a recording: see loop.c. */
#include "record/rings/recorder_parts.h"

pfr_status loop_run(pfr_recorder *r, pfr_error *err);

#endif

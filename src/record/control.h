/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_CONTROL_H
#define PFR_RECORD_CONTROL_H
/* Control commands: see control.c. */
#include "record/rings/recorder_parts.h"

pfr_status control_open(pfr_recorder *r, pfr_error *err);
void control_obey(pfr_recorder *r);
void control_close(pfr_recorder *r);

#endif

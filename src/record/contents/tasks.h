/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_TASKS_H
#define PFR_RECORD_TASKS_H
/* Running tasks: see tasks.c. */
#include "record/rings/recorder_parts.h"

pfr_status tasks_put_kernel(pfr_recorder *r, pfr_error *err);
pfr_status tasks_put_tail(pfr_recorder *r, pfr_error *err);
pfr_status tasks_put_all(pfr_recorder *r, pfr_error *err);

#endif

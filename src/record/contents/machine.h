/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_MACHINE_H
#define PFR_RECORD_MACHINE_H
/* Features about the machine: see machine.c. */
#include "record/rings/recorder_parts.h"

pfr_status machine_put(pfr_recorder *r, pfr_error *err);
pfr_status machine_put_events(pfr_recorder *r, pfr_error *err);

#endif

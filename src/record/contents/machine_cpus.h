/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_MACHINE_CPUS_H
#define PFR_RECORD_MACHINE_CPUS_H
/* CPU, cache and memory features: see machine_cpus.c. */
#include "record/rings/recorder_parts.h"

pfr_status machine_put_cpus(pfr_recorder *r, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_PRIVILEGES_H
#define PFR_RECORD_PRIVILEGES_H
/* Dropping of privileges: see privileges.c. */
#include "record/rings/recorder_parts.h"

/* Drops privileges beyond the user's own permanently. Returns true on success. */
bool privileges_drop(void);

/* Drops privileges, if the options request it. */
pfr_status privileges_end(const pfr_recorder *r, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_PRIVILEGES_H
#define PFR_RECORD_PRIVILEGES_H
/* What other files use of privileges.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* Drops the privileges beyond the user's, for good. */
bool privileges_drop(void);

/* The same where the options ask for it. */
pfr_status privileges_end(const pfr_recorder *r, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_FALLBACK_H
#define PFR_RECORD_FALLBACK_H
/* What to give up: see fallback.c. */
#include "record/rings/recorder_parts.h"

/* Changes the attrs because the kernel answered `why` for event e; false: nothing is left to give up. */
bool fallback_next(pfr_recorder *r, struct typed_event *e, int why);

/* Reports what was given up, once all counters are open. */
void fallback_tell(pfr_recorder *r);
pfr_status fallback_failed(const pfr_recorder *r, const struct typed_event *e, int why, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_FALLBACK_H
#define PFR_RECORD_FALLBACK_H
/* Fallbacks: see fallback.c. */
#include "record/rings/recorder_parts.h"

/* Drops a feature from the attrs because the kernel returned error `why` for event e. False: no feature is left to
   drop. */
bool fallback_next(pfr_recorder *r, struct typed_event *e, int why);

/* Reports the dropped features, once all counters are open. */
void fallback_report(pfr_recorder *r);
pfr_status fallback_failed(const pfr_recorder *r, const struct typed_event *e, int why, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RINGS_H
#define PFR_RECORD_RINGS_H
/* Rings: see rings.c. */
#include "record/rings/recorder_parts.h"

pfr_status rings_map(pfr_recorder *r, pfr_error *err);
pfr_status rings_map_from(pfr_recorder *r, size_t counter, pfr_error *err);

/* Writes the contents of all rings except overwriting rings. Sets *any if there were records. */
pfr_status rings_drain(pfr_recorder *r, bool *any, pfr_error *err);
pfr_status rings_snapshot(pfr_recorder *r, pfr_error *err);
bool rings_are_filling(const pfr_recorder *r);

/* Drains the rings if one of them is more than half full. Call it during long operations. */
pfr_status rings_drain_filling(pfr_recorder *r, pfr_error *err);
void rings_free(pfr_recorder *r);

#endif

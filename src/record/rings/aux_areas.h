/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_AUX_AREAS_H
#define PFR_RECORD_AUX_AREAS_H
/* AUX areas: see aux_areas.c. */
#include "record/rings/recorder_parts.h"

bool aux_is_recorded(const pfr_recorder *r);

/* Whether samples of the event contain a piece of the area. */
bool aux_samples(const pfr_recorder *r, const struct typed_event *e);
pfr_status aux_check(const pfr_recorder *r, pfr_error *err);
void aux_plan(const pfr_recorder *r, struct typed_event *e);
pfr_status aux_map(pfr_recorder *r, const struct open_counter *counter, struct ring *ring, pfr_error *err);
void aux_unmap(pfr_recorder *r, struct ring *ring);
pfr_status aux_put_info(pfr_recorder *r, pfr_error *err);
pfr_status aux_put_clock(pfr_recorder *r, pfr_error *err);
pfr_status aux_drain(pfr_recorder *r, struct ring *ring, bool *any, pfr_error *err);
void aux_look(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length);

#endif

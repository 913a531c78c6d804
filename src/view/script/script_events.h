/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_EVENTS_H
#define PFR_VIEW_SCRIPT_EVENTS_H
/* Interface of script_events.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Processes events that were added or renamed since the last call. */
pfr_status script_prepare(struct script *s, pfr_error *err);
void script_events_free(struct script *s);

/* Returns the event with this id; NULL: there is no such event. */
const struct script_event *script_event_of_id(const struct script *s, uint64_t id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_EVENT_NAMES_H
#define PFR_VIEW_SCRIPT_EVENT_NAMES_H
/* Interface of script_event_names.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Makes the labels of events from index `from` on, and remakes those of events renamed since the last call. */
pfr_status script_labels_make(struct script *s, uint32_t from, pfr_error *err);
void script_labels_free(struct script *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_SWITCH_H
#define PFR_VIEW_SCRIPT_SWITCH_H
/* Interface of script_switch.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* script_switch_make finds the events that switch printing on and off; script_is_on tells whether a sample is between
   them. Call script_is_on for every sample that the other filters select, in the order of printing. */
pfr_status script_switch_make(struct script *s, pfr_error *err);
bool script_is_on(struct script *s, const struct moment *m);

#endif

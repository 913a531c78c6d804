/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_SWITCH_H
#define PFR_VIEW_SCRIPT_SWITCH_H
/* Interface of script_switch.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Finds the events that turn printing on and off; whether this one is between them. Asked of every
 * sample that is wanted otherwise, in order. */
pfr_status script_switch_make(struct script *s, pfr_error *err);
bool script_is_on(struct script *s, const struct moment *m);

#endif

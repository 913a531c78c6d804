/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_OUT_OF_ORDER_H
#define PFR_VIEW_SCRIPT_OUT_OF_ORDER_H
/* Interface of script_out_of_order.c; that file describes how it works. */
#include "view/script/script_parts.h"

pfr_status script_disorder_begin(struct script *s, pfr_error *err);
void script_disorder_turn(struct script *s, const struct record_key *key);
void script_disorder_end(struct script *s);

#endif

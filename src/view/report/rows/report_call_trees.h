/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CALL_TREES_H
#define PFR_VIEW_REPORT_CALL_TREES_H
/* Interface of report_call_trees.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

pfr_status call_trees_make(struct report *r, pfr_error *err);
void call_trees_free(struct report *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TRAVERSAL_H
#define PFR_VIEW_REPORT_TRAVERSAL_H
/* Interface of report_traversal.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

pfr_status walk_make(struct report *r, pfr_error *err);
void walk_free(struct report *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_HIERARCHY_PRINT_H
#define PFR_VIEW_REPORT_HIERARCHY_PRINT_H
/* Interface of report_hierarchy_print.c; that file describes how it works. */
#include "view/report/print/report_print.h"
#include "view/report/rows/report_hierarchy.h"

pfr_status report_print_hierarchy(struct report *r, const struct hierarchy *h, const struct lines *lines,
                                  pfr_output *to, pfr_error *err);

#endif

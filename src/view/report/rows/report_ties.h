/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TIES_H
#define PFR_VIEW_REPORT_TIES_H
/* Interface of report_ties.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Sorts lines by a weight that breaks ties between lines of the same thread. */
pfr_status lines_sort_tied(const struct report *r, struct lines *lines, pfr_error *err);

#endif

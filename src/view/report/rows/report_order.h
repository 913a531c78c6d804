/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_ORDER_H
#define PFR_VIEW_REPORT_ORDER_H
/* Interface of report_order.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Sorts the shown lines by the sort fields from number `from` on, then by their cells; `from` is 0, nr_sort, or 1 if
 * the first field is a weight. If `cells` is not NULL, it receives the order by cells only. lines_can_be_ranked must
 * have returned true. */
bool lines_can_be_ranked(const struct report *r);
pfr_status lines_rank(const struct report *r, struct lines *lines, unsigned from, uint32_t *cells, pfr_error *err);

#endif

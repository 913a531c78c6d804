/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_ORDER_H
#define PFR_VIEW_REPORT_ORDER_H
/* What other files use of report_order.c, which says how it works. */
#include "view/report/fields/report_parts.h"

/* report_order.c: `shown` lines by their cells, and by what the report is sorted by from the field with number `from`
   on: all fields, or none, or all but the first, which is a weight. `cells` has the order by cells alone then; NULL:
   nobody asks. Only where that can be. */
bool lines_can_be_ranked(const struct report *r);
pfr_status lines_rank(const struct report *r, struct lines *lines, unsigned from, uint32_t *cells, pfr_error *err);

#endif

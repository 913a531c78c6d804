/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CACHE_LINES_H
#define PFR_VIEW_REPORT_CACHE_LINES_H
/* What other files use of report_cache_lines.c, which says how it works. */
#include "view/report/fields/report_parts.h"

void cache_lines_free(struct report *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CACHE_LINES_H
#define PFR_VIEW_REPORT_CACHE_LINES_H
/* Interface of report_cache_lines.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

void cache_lines_free(struct report *r);

#endif

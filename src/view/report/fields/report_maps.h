/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_MAPS_H
#define PFR_VIEW_REPORT_MAPS_H
/* Interface of report_maps.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Collects the sizes of mapped objects. Must run before rows are made with NEEDS_MAPS. */
pfr_status report_learn_maps(struct report *r, pfr_error *err);
void report_free_maps(struct report *r);

#endif

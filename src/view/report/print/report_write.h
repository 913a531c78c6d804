/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_WRITE_H
#define PFR_VIEW_REPORT_WRITE_H
/* What other files use of report_write.c, which says how it works. */
#include "view/report/fields/report_parts.h"

pfr_status report_write(struct report *r, pfr_output *out, pfr_error *err);

#endif

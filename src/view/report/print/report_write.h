/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_WRITE_H
#define PFR_VIEW_REPORT_WRITE_H
/* Interface of report_write.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

pfr_status report_write(struct report *r, pfr_output *out, pfr_error *err);

#endif

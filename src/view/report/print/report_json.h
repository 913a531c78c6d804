/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_JSON_H
#define PFR_VIEW_REPORT_JSON_H
/* Interface of report_json.c; that file describes how it works. */
#include "view/report/print/report_print.h"

pfr_status report_write_json(struct report *r, const struct lines *lines, struct json *json, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TRACEPOINT_H
#define PFR_VIEW_REPORT_TRACEPOINT_H
/* Interface of report_tracepoint.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

typedef void report_add_field(void *context, const struct report_field *field);

/* Adds the fields that a word selects. *known is false if it selects no field. */
pfr_status report_tracepoint_word(struct report *r, const char *word, size_t length, report_add_field *add,
                                  void *context, bool *known, pfr_error *err);

#endif

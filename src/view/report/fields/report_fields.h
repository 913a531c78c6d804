/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_FIELDS_H
#define PFR_VIEW_REPORT_FIELDS_H
/* What other files use of report_fields.c, which says how it works. */
#include "view/report/fields/report_parts.h"

/* Ends with a field without a name. */
extern const struct report_field report_fields[];

/* The lists of r by the words of -s and -F, or those of its mode. USAGE: a word is not known. */
pfr_status report_fields_read(struct report *r, pfr_error *err);

/* What the profile must hold for them. */
uint32_t report_keys_needed(const struct report *r, unsigned *needs);

#endif

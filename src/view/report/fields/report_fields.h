/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_FIELDS_H
#define PFR_VIEW_REPORT_FIELDS_H
/* Interface of report_fields.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* The last entry has no name. */
extern const struct report_field report_fields[];

/* Builds the lists of r from the words of -s and -F, or from the defaults of its mode. USAGE: unknown word. */
pfr_status report_fields_read(struct report *r, pfr_error *err);

/* Returns the PROFILE_BITs that the chosen fields require of the profile; sets *needs to their enum field_needs. */
uint32_t report_keys_needed(const struct report *r, unsigned *needs);

#endif

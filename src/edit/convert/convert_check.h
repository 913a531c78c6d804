/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_CHECK_H
#define PFR_EDIT_CONVERT_CHECK_H
/* What other files use of convert_check.c, which says how it works. */
#include "edit/convert/conversion.h"

/* Whether records of this type are counted in `written`. */
bool conversion_counts(uint32_t type);

/* Reports, and returns true for, a record that is left out because readers would refuse it. */
bool conversion_is_refused(struct conversion *c, const pfr_record *rec);

/* Reads what was written, before it has its name. Where readers would refuse a record, it is noted for the next pass,
   and c->again set. */
void conversion_check(struct conversion *c);

/* Before a stream is written: the same of one that goes to a temporary file, until no record is refused. */
pfr_status conversion_try(struct conversion *c, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_CHECK_H
#define PFR_EDIT_CONVERT_CHECK_H
/* Recover's check of its own output. convert_check.c explains why it is needed. */
#include "edit/convert/conversion.h"

/* Whether records of this type are counted in `written`. */
bool conversion_counts(uint32_t type);

/* Returns true, and reports the record, if it is left out because readers would refuse it. */
bool conversion_is_refused(struct conversion *c, const pfr_record *rec);

/* Reads the output back before the file gets its name. If readers would refuse a record, notes it for the next pass and
 * sets c->again. */
void conversion_check(struct conversion *c);

/* Before a stream is written: writes to a temporary file and checks that file, until no record is refused. */
pfr_status conversion_try(struct conversion *c, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_RECORD_TYPES_H
#define PFR_EDIT_CONVERT_RECORD_TYPES_H
/* Records that concern their container: see convert_record_types.c. */
#include "edit/convert/conversion.h"

/* Returns false if the record is to be copied, because its type has no function or the function decides so. */
bool conversion_special(struct conversion *c, const pfr_record *rec, pfr_status *status, pfr_error *err);
pfr_status conversion_packed_is_good(struct conversion *c, pfr_error *err);

/* Copies a record. A record with a payload is kept for conversion_waiting. */
pfr_status conversion_copy(struct conversion *c, const pfr_record *rec, pfr_error *err);

/* Copies the waiting record and its payload. `hole` is the hole that the reader found after the record, or NULL; if it
 * is inside the payload, nothing is copied. */
pfr_status conversion_waiting(struct conversion *c, const pfr_error *hole, pfr_error *err);

#endif

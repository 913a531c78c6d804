/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_RECORD_TYPES_H
#define PFR_EDIT_CONVERT_RECORD_TYPES_H
/* What other files use of convert_record_types.c, which says how it works. */
#include "edit/convert/conversion.h"

/* False: the record is none of those, and is to be handed on. */
bool conversion_special(struct conversion *c, const pfr_record *rec, pfr_status *status, pfr_error *err);
pfr_status conversion_packed_is_good(struct conversion *c, pfr_error *err);

/* A record; one with a payload waits. */
pfr_status conversion_copy(struct conversion *c, const pfr_record *rec, pfr_error *err);

/* Hands on the one that waits, with its payload, unless that holds the hole which the reader found next (NULL: none).
 */
pfr_status conversion_waiting(struct conversion *c, const pfr_error *hole, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_LOSSES_H
#define PFR_EDIT_CONVERT_LOSSES_H
/* Losses of a conversion. */
#include "edit/convert/conversion.h"

/* Counts something that was not copied, and reports it unless an earlier pass did. */
void conversion_lost(struct conversion *c, const pfr_error *hole);

#endif

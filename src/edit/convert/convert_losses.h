/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_LOSSES_H
#define PFR_EDIT_CONVERT_LOSSES_H
/* What other files use of convert_losses.c, which says how it works. */
#include "edit/convert/conversion.h"

/* Something that was not taken over: counted, and told. */
void conversion_lost(struct conversion *c, const pfr_error *hole);

#endif

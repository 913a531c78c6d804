/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_REPAIR_FEATURES_H
#define PFR_EDIT_REPAIR_FEATURES_H
/* What other files use of repair_features.c, which says how it works. */
#include "edit/convert/conversion.h"

pfr_status repair_check_blob(pfr_feature *feature, pfr_error *err);
pfr_status repair_formats(struct conversion *c, pfr_error *err); /* where there are none that are whole */
pfr_status repair_end(struct conversion *c, pfr_error *err);

#endif

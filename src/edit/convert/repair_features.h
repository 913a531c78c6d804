/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_REPAIR_FEATURES_H
#define PFR_EDIT_REPAIR_FEATURES_H
/* Features that recover rebuilds or checks: see repair_features.c. */
#include "edit/convert/conversion.h"

pfr_status repair_check_blob(pfr_feature *feature, pfr_error *err);
pfr_status repair_formats(struct conversion *c, pfr_error *err); /* makes formats if no intact ones exist */
pfr_status repair_end(struct conversion *c, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_FEATURES_H
#define PFR_EDIT_CONVERT_FEATURES_H
/* What other files use of convert_features.c, which says how it works. */
#include "edit/convert/conversion.h"

pfr_status conversion_events(struct conversion *c, pfr_error *err); /* that the reader knows by now */
pfr_status conversion_front(struct conversion *c, pfr_error *err);  /* before the first record */
pfr_status conversion_feature(struct conversion *c, const pfr_feature *feature, pfr_error *err);

#endif

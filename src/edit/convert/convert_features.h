/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_FEATURES_H
#define PFR_EDIT_CONVERT_FEATURES_H
/* Events and features of a conversion. */
#include "edit/convert/conversion.h"

pfr_status conversion_events(struct conversion *c, pfr_error *err); /* gives the writer new events */
pfr_status conversion_front(struct conversion *c, pfr_error *err);  /* writes all that precedes the records */
pfr_status conversion_feature(struct conversion *c, const pfr_feature *feature, pfr_error *err);

#endif

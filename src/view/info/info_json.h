/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_JSON_H
#define PFR_VIEW_INFO_JSON_H
/* What other files use of info_json.c, which says how it works. */
#include "view/info/info_parts.h"

pfr_status info_json(struct info *info, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_JSON_H
#define PFR_VIEW_INFO_JSON_H
/* Interface of info_json.c; that file describes how it works. */
#include "view/info/info_parts.h"

pfr_status info_json(struct info *info, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_BUILD_IDS_H
#define PFR_VIEW_INFO_BUILD_IDS_H
/* Interface of info_build_ids.c; that file describes how it works. */
#include "view/info/info_object_list.h"

/* Adds the objects of feature BUILD_ID; without that feature, those hit by samples. */
pfr_status object_list_fill(struct object_list *list, pfr_reader *reader, pfr_error *err);
pfr_status info_build_ids(struct info *info, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_PROFILE_H
#define PFR_FILE_XRAY_PROFILE_H
/* What other files use of xray_profile.c, which says how it works. */
#include "file/xray/xray.h"

pfr_status profile_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_PROFILE_H
#define PFR_FILE_XRAY_PROFILE_H
/* The record loop of XRay profiles. */
#include "file/xray/xray.h"

pfr_status profile_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif

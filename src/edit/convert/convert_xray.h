/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_CONVERT_XRAY_H
#define PFR_EDIT_CONVERT_XRAY_H
/* pfr_convert and pfr_recover of an XRay trace: both functions copy the intact parts. err must not be NULL. */
#include "file/read/recording.h"

#include <perfray/edit.h>

pfr_status conversion_trace(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts,
                            pfr_error *err);

#endif

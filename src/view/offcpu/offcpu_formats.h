/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_FORMATS_H
#define PFR_VIEW_OFFCPU_FORMATS_H
/* Interface of offcpu_formats.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

pfr_status offcpu_write_csv(struct offcpu *o, pfr_output *out, pfr_error *err);
pfr_status offcpu_write_json(struct offcpu *o, pfr_output *out, pfr_error *err);

#endif

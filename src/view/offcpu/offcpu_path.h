/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_PATH_H
#define PFR_VIEW_OFFCPU_PATH_H
/* Interface of offcpu_path.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

pfr_status offcpu_write_path(struct offcpu *o, pfr_output *out, pfr_error *err);

#endif

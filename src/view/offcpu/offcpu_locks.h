/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_LOCKS_H
#define PFR_VIEW_OFFCPU_LOCKS_H
/* Interface of offcpu_locks.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

pfr_status offcpu_write_locks(struct offcpu *o, pfr_output *out, pfr_error *err);

#endif

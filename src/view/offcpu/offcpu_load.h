/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_LOAD_H
#define PFR_VIEW_OFFCPU_LOAD_H
/* Interface of offcpu_load.c; offcpu_parts.h describes how the files work together. */
#include "view/offcpu/offcpu_parts.h"

pfr_status offcpu_load(struct offcpu *o, pfr_error *err);
uint32_t offcpu_stack_of(const struct offcpu *o, uint32_t sample);
void offcpu_free(struct offcpu *o);

#endif

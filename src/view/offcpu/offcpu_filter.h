/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_FILTER_H
#define PFR_VIEW_OFFCPU_FILTER_H
/* Interface of offcpu_filter.c; offcpu_parts.h describes how the files work together. */
#include "view/offcpu/offcpu_parts.h"

pfr_status offcpu_filter_read(struct offcpu *o, pfr_error *err);
bool offcpu_wants_thread(const struct offcpu *o, const struct offcpu_thread *t);

/* Restricts the interval to the selected time range; false if nothing remains. */
bool offcpu_clip(const struct offcpu *o, struct thread_interval *interval);

#endif

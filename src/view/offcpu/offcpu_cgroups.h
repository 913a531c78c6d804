/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_CGROUPS_H
#define PFR_VIEW_OFFCPU_CGROUPS_H
/* Interface of offcpu_cgroups.c; offcpu_parts.h describes how the files work together. */
#include "view/offcpu/offcpu_parts.h"

/* Whether the recording and the view allow --by cgroup, if that is asked for. Errors: format, usage. */
pfr_status offcpu_cgroups_check(const struct offcpu *o, const struct sched_sources *sources, pfr_error *err);
/* Replaces *thread, the thread of the interval, by the entry of the thread's cgroup. While no cgroup id is known for
   the thread, *thread is unchanged. */
pfr_status offcpu_cgroups_entry(struct offcpu *o, const struct thread_interval *interval, uint32_t *thread,
                                pfr_error *err);
/* Call it at the end: moves the times that were added to threads to the first cgroups of these threads. */
pfr_status offcpu_cgroups_settle(struct offcpu *o, pfr_error *err);

#endif

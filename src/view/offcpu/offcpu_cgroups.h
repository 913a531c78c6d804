/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_CGROUPS_H
#define PFR_VIEW_OFFCPU_CGROUPS_H
/* Interface of offcpu_cgroups.c; offcpu_parts.h describes how the files work together. */
#include "view/offcpu/offcpu_parts.h"

/* Whether the recording and the view allow --by cgroup, if that is asked for. Errors: format, usage. */
pfr_status offcpu_cgroups_check(const struct offcpu *o, const struct sched_sources *sources, pfr_error *err);
/* Replaces the thread by the entry of its cgroup in an interval. Before the first sample with an id it stays. */
pfr_status offcpu_cgroups_entry(struct offcpu *o, const struct thread_interval *interval, uint32_t *thread,
                                pfr_error *err);
/* At the end: what stayed with threads goes to their first cgroups. */
pfr_status offcpu_cgroups_settle(struct offcpu *o, pfr_error *err);

#endif

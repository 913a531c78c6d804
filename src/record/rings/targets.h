/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_TARGETS_H
#define PFR_RECORD_TARGETS_H
/* Tasks and CPUs to record: see targets.c. */
#include "record/rings/recorder_parts.h"

pfr_status targets_find(pfr_recorder *r, pfr_error *err);
void targets_free(pfr_recorder *r);

/* Adds the threads of a process, except `but`. */
pfr_status targets_add_threads(pfr_recorder *r, pid_t pid, pid_t but, pfr_error *err);
pfr_status targets_add_task(pfr_recorder *r, pid_t tid, pfr_error *err);

/* Reads the list of online CPUs. Returns false if it is unknown. */
bool targets_online(const struct kernel *kernel, struct cpu_list *list);
pfr_status targets_add_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err);
bool targets_are_gone(const pfr_recorder *r);

#endif

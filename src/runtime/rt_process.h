/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_PROCESS_H
#define PFR_RUNTIME_RT_PROCESS_H
/* Processes and limits: see rt_process.c. */
#include "runtime/rt_recorder.h"

/* Start time in the kernel's ticks; 0: unknown. */
uint64_t rt_process_start(uint32_t pid);
bool rt_process_lives(uint32_t pid);

/* True if the process is alive and started at `start`. */
bool rt_process_is(uint32_t pid, uint64_t start);

/* The largest trace file allowed, in bytes. If the size was not requested (`asked` false), the result also leaves
 * address space to the program. */
uint64_t rt_process_file_most(bool asked);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_PROCESS_H
#define PFR_RUNTIME_RT_PROCESS_H
/* What other files use of rt_process.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* When it began, in the kernel's ticks; 0: not known. */
uint64_t rt_process_start(uint32_t pid);
bool rt_process_lives(uint32_t pid);

/* Lives, and is the one that began then. */
bool rt_process_is(uint32_t pid, uint64_t start);

/* Bytes that a file may have; less where the size is the usual one and memory is limited. */
uint64_t rt_process_file_most(bool asked);

#endif

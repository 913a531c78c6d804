/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_START_H
#define PFR_RUNTIME_RT_START_H
/* What other files use of rt_start.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* The thread gives its buffer back when it ends. */
void rt_know_thread(struct rt_thread *t);
void rt_switch(bool on);

/* Around what takes the counter away: true: calls were recorded. The names are for the archive. */
bool rt_counter_ends(void) __asm__("perfray_rt_counter_ends_") __attribute__((visibility("default")));
void rt_counter_stays(void) __asm__("perfray_rt_counter_stays_") __attribute__((visibility("default")));

/* The process is a child: it has a number and buffers of its own from now on. */
void rt_revive(struct rt_thread *t);

#endif

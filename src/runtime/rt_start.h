/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_START_H
#define PFR_RUNTIME_RT_START_H
/* Start and stop of recording: see rt_start.c. */
#include "runtime/rt_recorder.h"

/* Arranges that the thread returns its buffer when it ends. */
void rt_know_thread(struct rt_thread *t);
void rt_switch(bool on);

/* Called before (_ends) and after (_stays) a prctl that disables the counter; _ends returns whether calls were
 * recorded. Names in assembler are for the static archive. */
bool rt_counter_ends(void) __asm__("perfray_rt_counter_ends_") __attribute__((visibility("default")));
void rt_counter_stays(void) __asm__("perfray_rt_counter_stays_") __attribute__((visibility("default")));

/* In a forked child that has not recorded yet, sets its process id and detaches it from its parent's buffers. */
void rt_revive(struct rt_thread *t);

#endif

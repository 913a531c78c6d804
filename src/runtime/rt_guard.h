/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_GUARD_H
#define PFR_RUNTIME_RT_GUARD_H
/* What other files use of rt_guard.c, which says how it works. */
#include "runtime/rt_recorder.h"

struct sigaction;

void rt_guard_install(void);

/* A thread gets a buffer. */
void rt_guard_thread(struct rt_thread *t);

/* Ends the recording for good, in this process; says why. */
void rt_guard_end(const char *why);

/* The same as rt_say where standard error is what it was. */
void rt_say_late(const char *what, const char *why);
bool rt_guard_is_on(void) __asm__("perfray_rt_guard_is_on_") __attribute__((visibility("default")));

/* sigaction of SIGBUS; below 0: -errno. */
long rt_guard_action(const struct sigaction *new, struct sigaction *old) __asm__("perfray_rt_guard_action_")
    __attribute__((visibility("default")));

/* Whether this thread wants SIGBUS blocked; NULL: masks are taken as they are. */
bool *rt_guard_blocked(void) __asm__("perfray_rt_guard_blocked_") __attribute__((visibility("default")));

/* What the kernel wants of an action on some machines. */
void rt_guard_restorer(unsigned long *flags, void (**restorer)(void)) __asm__("perfray_rt_guard_restorer_")
    __attribute__((visibility("default")));

#endif

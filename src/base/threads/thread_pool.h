/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_THREAD_POOL_H
#define PFR_BASE_THREAD_POOL_H
/*
 * Runs independent, numbered tasks on several threads: each thread takes the next task that has not begun. The order of
 * completion is undefined; workers.h returns ordered results.
 *
 *    static bool count(void *context, unsigned worker, size_t task) { ... }
 *    thread_pool_run(2, tasks, count, context);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_THREADS_MOST 64u

/* Runs on thread number `worker`, 0 for the caller. If it returns false, no further task is begun. */
typedef bool thread_pool_fn(void *context, unsigned worker, size_t task);

/* Returns when all tasks that were begun have ended. `threads`, at least 1, includes the caller; if not all can be
   started, fewer do the work. */
void thread_pool_run(unsigned threads, size_t tasks, thread_pool_fn *work, void *context);

/* The number of CPUs this process may run on; 1 if unknown. */
unsigned thread_pool_cpus(void);

/* The number of threads to use: `asked`, if it is not 0. Otherwise it is 1, plus 1 for each `each_ns` of the expected
   time `likely_ns`, but at most `most` and at most one per CPU. The result never exceeds POOL_THREADS_MOST or `tasks`,
   and is at least 1. */
unsigned thread_pool_size(unsigned asked, unsigned most, uint64_t likely_ns, uint64_t each_ns, size_t tasks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_THREAD_POOL_H
#define PFR_BASE_THREAD_POOL_H
/*
 * Tasks by number, done by several threads: each takes the next one that nobody has begun. In which order they end
 * nobody knows; results that must be in order come from workers.h.
 *
 *     static bool count(void *context, unsigned worker, size_t task) { ... }
 *     thread_pool_run(2, tasks, count, context);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CREW_MOST 64u

/* As thread number `worker`, 0 for the caller. false: nobody begins another task. */
typedef bool thread_pool_fn(void *context, unsigned worker, size_t task);

/* Returns when all that was begun has ended. `threads` in all, at least 1; where fewer can be begun, fewer work. */
void thread_pool_run(unsigned threads, size_t tasks, thread_pool_fn *work, void *context);

/* How many cpus this process may run on; 1 where nobody can say. */
unsigned thread_pool_cpus(void);

/* How many threads to use, at most CREW_MOST: as many as are asked for, or, where that is 0, at most `most` and one
   more for each `each_ns` that the work is likely to take; never more than tasks. */
unsigned thread_pool_size(unsigned asked, unsigned most, uint64_t likely_ns, uint64_t each_ns, size_t tasks);

#endif

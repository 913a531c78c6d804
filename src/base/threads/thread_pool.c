/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/thread_pool.h"

#include "base/threads/thread_start.h"

#include <sched.h>

struct thread_pool {
    thread_pool_fn *work;
    void *context;
    size_t next, tasks;
};

struct pool_member {
    struct thread_pool *thread_pool;
    pthread_t thread;
    unsigned number;
    bool runs;
};

static void *run(void *context) {
    const struct pool_member *me = context;
    struct thread_pool *thread_pool = me->thread_pool;
    for (;;) {
        const size_t task = __atomic_fetch_add(&thread_pool->next, 1, __ATOMIC_RELAXED);
        if (task >= thread_pool->tasks)
            return NULL;
        if (!thread_pool->work(thread_pool->context, me->number, task)) {
            __atomic_store_n(&thread_pool->next, thread_pool->tasks, __ATOMIC_RELAXED);
            return NULL;
        }
    }
}

void thread_pool_run(unsigned threads, size_t tasks, thread_pool_fn *work, void *context) {
    struct thread_pool thread_pool = {.work = work, .context = context, .tasks = tasks};
    struct pool_member members[POOL_THREADS_MOST];
    const unsigned count = threads < POOL_THREADS_MOST ? threads : POOL_THREADS_MOST;
    for (unsigned i = 0; i < count; i++)
        members[i] = (struct pool_member){.thread_pool = &thread_pool, .number = i};
    for (unsigned i = 1; i < count; i++)
        members[i].runs = thread_begin(&members[i].thread, run, &members[i]);
    run(&members[0]);
    for (unsigned i = 1; i < count; i++)
        if (members[i].runs)
            pthread_join(members[i].thread, NULL);
}

unsigned thread_pool_cpus(void) {
    cpu_set_t cpus;
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return count > 0 ? (unsigned)count : 1;
}

unsigned thread_pool_size(unsigned asked, unsigned most, uint64_t likely_ns, uint64_t each_ns, size_t tasks) {
    const unsigned cpus = thread_pool_cpus(), paying = most < cpus ? most : cpus;
    const uint64_t pays = likely_ns / each_ns + 1;
    uint64_t size = asked ? asked : pays < paying ? pays : paying;
    size = size < POOL_THREADS_MOST ? size : POOL_THREADS_MOST;
    size = size < tasks ? size : tasks;
    return size ? (unsigned)size : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/thread_start.h"

#include <sched.h>
#include <signal.h>

struct allowed_cpus {
    cpu_set_t all, others; /* the CPUs that the caller may run on; these CPUs except the one that runs the caller now */
};

/* Returns false if the CPUs are unknown (more than a cpu_set_t can hold), or if there is only one. */
static bool cpus_of_caller(struct allowed_cpus *cpus) {
    if (sched_getaffinity(0, sizeof cpus->all, &cpus->all) != 0)
        return false;
    const int here = sched_getcpu();
    cpus->others = cpus->all;
    if (here < 0 || here >= CPU_SETSIZE)
        return false;
    CPU_CLR((size_t)here, &cpus->others);
    return CPU_COUNT(&cpus->others) > 0;
}

#if defined __GLIBC__
/* Starts the thread on another CPU; afterwards it may run on all CPUs of the caller. */
static bool begin_elsewhere(pthread_t *thread, void *(*run)(void *), void *context) {
    struct allowed_cpus cpus;
    pthread_attr_t attr;
    if (!cpus_of_caller(&cpus) || pthread_attr_init(&attr) != 0)
        return false;
    const bool begun = pthread_attr_setaffinity_np(&attr, sizeof cpus.others, &cpus.others) == 0 &&
                       pthread_create(thread, &attr, run, context) == 0;
    pthread_attr_destroy(&attr);
    if (begun)
        pthread_setaffinity_np(*thread, sizeof cpus.all, &cpus.all);
    return begun;
}
#else
static bool begin_elsewhere(pthread_t *thread, void *(*run)(void *), void *context) {
    (void)thread, (void)run, (void)context;
    return false;
}
#endif

bool thread_begin(pthread_t *thread, void *(*run)(void *), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool begun = begin_elsewhere(thread, run, context) || pthread_create(thread, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Started threads run, receive no signals, and may run on every CPU on which the caller may run. */
#include "test.h"

#include "base/threads/thread_start.h"

#include <sched.h>
#include <signal.h>

struct seen {
    pthread_mutex_t lock; /* owned by the caller until the thread may read it */
    bool ran, takes_signals;
    cpu_set_t cpus;
};

static void *look(void *context) {
    struct seen *s = context;
    sigset_t blocked;
    pthread_mutex_lock(&s->lock);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    s->takes_signals = !sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM);
    s->ran = sched_getaffinity(0, sizeof s->cpus, &s->cpus) == 0;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void begin_and_look(struct seen *s) {
    pthread_t thread;
    *s = (struct seen){.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_mutex_lock(&s->lock);
    assert_true(thread_begin(&thread, look, s));
    pthread_mutex_unlock(&s->lock);
    pthread_join(thread, NULL);
    assert_true(s->ran);
}

TEST(started_threads_take_no_signals_and_the_caller_still_does) {
    struct seen s;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    begin_and_look(&s);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_false(s.takes_signals);
    for (int i = 1; i < 32; i++)
        assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

TEST(started_threads_may_go_where_the_caller_may) {
    struct seen s;
    cpu_set_t mine;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    begin_and_look(&s);
    assert_true(CPU_EQUAL(&mine, &s.cpus));
}

TEST(threads_start_on_a_machine_with_one_cpu) {
    struct seen s;
    cpu_set_t mine, one;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &mine))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    begin_and_look(&s);
    assert_int_equal(sched_setaffinity(0, sizeof mine, &mine), 0);
    assert_true(CPU_EQUAL(&one, &s.cpus));
}

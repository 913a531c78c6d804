/* SPDX-License-Identifier: Apache-2.0 */
/* Each task is done exactly once, by any thread, until a task ends the work. */
#include "test.h"

#include "base/threads/thread_pool.h"

#include <sched.h>

enum { TASKS = 3000 };

struct scene {
    unsigned done[TASKS];               /* indexed by task; each task is done by only one thread */
    unsigned worked[POOL_THREADS_MOST]; /* indexed by thread */
    size_t enough;
};

static bool work(void *context, unsigned worker, size_t task) {
    struct scene *scene = context;
    scene->done[task]++;
    scene->worked[worker]++;
    if (task % 7 == 0)
        sched_yield();
    return task != scene->enough;
}

static void expect_each_once(unsigned threads, size_t tasks) {
    struct scene scene = {.enough = TASKS};
    unsigned sum = 0;
    thread_pool_run(threads, tasks, work, &scene);
    for (size_t i = 0; i < TASKS; i++)
        assert_int_equal(scene.done[i], i < tasks);
    for (unsigned i = 0; i < POOL_THREADS_MOST; i++)
        sum += scene.worked[i];
    assert_int_equal(sum, tasks);
}

TEST(thread_pools_do_each_task_once) {
    expect_each_once(1, TASKS);
    expect_each_once(2, TASKS);
    expect_each_once(8, TASKS);
    expect_each_once(1000, TASKS); /* more than the maximum */
    expect_each_once(4, 1);
    expect_each_once(4, 0);
}

TEST(thread_pools_stop_when_it_is_enough) {
    struct scene scene = {.enough = 100};
    unsigned done = 0;
    thread_pool_run(1, TASKS, work, &scene);
    for (size_t i = 0; i < TASKS; i++)
        done += scene.done[i];
    assert_int_equal(done, 101);
    scene = (struct scene){.enough = 100};
    thread_pool_run(3, TASKS, work, &scene);
    for (size_t i = 0; i < TASKS; i++)
        assert_true(scene.done[i] <= 1);
    for (size_t i = 0; i <= 100; i++) /* tasks that were begun before the end */
        assert_int_equal(scene.done[i], 1);
}

TEST(thread_pools_are_as_large_as_pays) {
    assert_int_equal(thread_pool_size(3, 4, 0, 100, 1000), 3);
    assert_int_equal(thread_pool_size(3, 4, 0, 100, 2), 2);
    assert_int_equal(thread_pool_size(3, 4, 0, 100, 0), 1);
    assert_int_equal(thread_pool_size(5000, 4, 0, 100, 1000), POOL_THREADS_MOST);
    assert_int_equal(thread_pool_size(0, 4, 99, 100, 1000), 1);
    assert_int_equal(thread_pool_size(0, 1, UINT64_MAX, 1, 1000), 1);
    assert_true(thread_pool_size(0, 2, 1000, 100, 1000) <= 2);
}

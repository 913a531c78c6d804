/* SPDX-License-Identifier: Apache-2.0 */
/* Batches are returned in the order in which they were given. Each is processed exactly once, by one thread. */
#include "failing_alloc.h"
#include "test.h"

#include "base/threads/workers.h"

#include <sched.h>
#include <string.h>

enum { SLOTS_MOST = 16, THREADS_MOST = 8, BATCHES = 5000 };

struct scene {
    uint64_t input[SLOTS_MOST], output[SLOTS_MOST];
    uint64_t worked[THREADS_MOST]; /* indexed by thread; no other thread writes there */
};

static void square(void *context, unsigned worker, size_t slot) {
    struct scene *scene = context;
    if (scene->input[slot] % 7 == 0)
        sched_yield();
    scene->output[slot] = scene->input[slot] * scene->input[slot];
    scene->worked[worker]++;
}

static void expect_oldest(struct workers *w, struct scene *scene, uint64_t *next) {
    size_t slot;
    assert_true(workers_oldest(w, true, &slot));
    assert_int_equal(scene->output[slot], *next * *next);
    ++*next;
    workers_retire(w);
}

static void square_all(unsigned threads, size_t slots) {
    struct scene scene = {.worked = {0}};
    struct memory memory;
    struct workers *w;
    pfr_error err;
    uint64_t next = 0, sum = 0;
    size_t slot;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(workers_open(&w, &memory, threads, slots, square, &scene, &err), err);
    assert_false(workers_oldest(w, true, &slot));
    for (uint64_t i = 0; i < BATCHES; i++) {
        while (!workers_free_slot(w, &slot))
            expect_oldest(w, &scene, &next);
        scene.input[slot] = i;
        workers_give(w);
        if (i % 3 == 0 && workers_oldest(w, false, &slot))
            expect_oldest(w, &scene, &next);
    }
    while (next < BATCHES)
        expect_oldest(w, &scene, &next);
    assert_false(workers_oldest(w, true, &slot));
    workers_close(w);
    for (unsigned i = 0; i < threads; i++)
        sum += scene.worked[i];
    assert_int_equal(sum, BATCHES);
    assert_int_equal(memory.used, 0);
}

TEST(batches_come_back_in_order) {
    static const size_t slots[] = {1, 2, 5, SLOTS_MOST};
    for (unsigned threads = 1; threads <= THREADS_MOST; threads++)
        for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
            square_all(threads, slots[i]);
}

TEST(tasks_that_were_not_begun_are_dropped) {
    for (unsigned n = 0; n < 200; n++) {
        struct scene scene = {.worked = {0}};
        struct memory memory;
        struct workers *w;
        pfr_error err;
        size_t slot;
        memory_init(&memory, NULL, 0);
        ASSERT_OK(workers_open(&w, &memory, 3, SLOTS_MOST, square, &scene, &err), err);
        for (unsigned i = 0; i < n % SLOTS_MOST; i++) {
            assert_true(workers_free_slot(w, &slot));
            scene.input[slot] = i;
            workers_give(w);
        }
        workers_close(w);
        assert_true(scene.worked[0] == 0);
        assert_true(scene.worked[1] + scene.worked[2] <= n % SLOTS_MOST);
        assert_int_equal(memory.used, 0);
    }
    workers_close(NULL);
}

TEST(workers_need_memory) {
    struct failing_alloc failing;
    struct memory memory;
    struct workers *w;
    pfr_error err;
    for (long n = 1;; n++) {
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const pfr_status st = workers_open(&w, &memory, 2, 2, square, NULL, &err);
        workers_close(w);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
        if (!failing.has_failed)
            break;
        assert_int_equal(st, PFR_ERR_MEMORY);
        assert_null(w);
    }
}

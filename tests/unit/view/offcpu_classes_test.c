/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of intervals: what decides the sum of an interval distinguishes them, and nothing else does. */
#include "../test.h"

#include "view/offcpu/offcpu_classes.h"

static const struct thread_interval blocked = {.start = 100,
                                               .end = 130,
                                               .syscall = 7,
                                               .address = 0x1000,
                                               .life = 3,
                                               .tid = 33,
                                               .cpu = 1,
                                               .sample = 5,
                                               .waker = 44,
                                               .waker_life = 4,
                                               .waker_sample = 6,
                                               .state = THREAD_BLOCKED,
                                               .waker_kind = WAKER_THREAD};

static void add(struct offcpu_classes *c, const struct thread_interval *i) {
    assert_int_equal(offcpu_classes_add(c, i, i, NULL), PFR_OK);
}

/* Adds `blocked`, then the changed interval. */
#define CLASSES_WITH(member, to) count_with(&(struct thread_interval){CHANGED, .member = to})
#define CHANGED                                                                                                        \
    .start = 200, .end = 210, .syscall = 7, .address = 0x1000, .life = 3, .tid = 33, .cpu = 2, .sample = 5,            \
    .waker = 44, .waker_life = 4, .waker_sample = 6, .state = THREAD_BLOCKED, .waker_kind = WAKER_THREAD

static uint32_t count_with(const struct thread_interval *changed) {
    struct memory memory;
    struct offcpu_classes c;
    memory_init(&memory, NULL, 0);
    offcpu_classes_init(&c, &memory);
    add(&c, &blocked);
    add(&c, changed);
    add(&c, &blocked);
    const uint32_t count = c.count;
    assert_int_equal(c.at[0].count, count == 1 ? 3 : 2);
    assert_int_equal(c.at[0].ns, count == 1 ? 70 : 60);
    assert_int_equal(c.at[0].max, 30);
    offcpu_classes_free(&c);
    assert_int_equal(memory.used, 0);
    return count;
}

#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

TEST(a_class_has_one_thread_stack_waker_and_reason) {
    assert_int_equal(CLASSES_WITH(cpu, 9), 1);
    assert_int_equal(CLASSES_WITH(cgroup, 9), 1);
    assert_int_equal(CLASSES_WITH(life, 9), 2);
    assert_int_equal(CLASSES_WITH(sample, 9), 2);
    assert_int_equal(CLASSES_WITH(address, 9), 2);
    assert_int_equal(CLASSES_WITH(syscall, 9), 2);
    assert_int_equal(CLASSES_WITH(waker, 9), 2);
    assert_int_equal(CLASSES_WITH(waker_life, 9), 2);
    assert_int_equal(CLASSES_WITH(waker_sample, 9), 2);
    assert_int_equal(CLASSES_WITH(waker_kind, WAKER_SOFTIRQ), 2);
    assert_int_equal(CLASSES_WITH(open_end, true), 2);
    assert_int_equal(CLASSES_WITH(state, THREAD_WOKEN), 2);
}

TEST(an_interval_of_a_class_has_what_its_intervals_share) {
    struct memory memory;
    struct offcpu_classes c;
    memory_init(&memory, NULL, 0);
    offcpu_classes_init(&c, &memory);
    add(&c, &blocked);
    const struct thread_interval of = offcpu_classes_get(&c, 0);
    assert_int_equal(of.start, blocked.start);
    assert_int_equal(of.end, blocked.end);
    assert_int_equal(of.syscall, blocked.syscall);
    assert_int_equal(of.address, blocked.address);
    assert_int_equal(of.life, blocked.life);
    assert_int_equal(of.tid, blocked.tid);
    assert_int_equal(of.sample, blocked.sample);
    assert_int_equal(of.waker, blocked.waker);
    assert_int_equal(of.waker_life, blocked.waker_life);
    assert_int_equal(of.waker_sample, blocked.waker_sample);
    assert_int_equal(of.state, blocked.state);
    assert_int_equal(of.waker_kind, blocked.waker_kind);
    assert_false(of.open_start || of.open_end);
    offcpu_classes_free(&c);
}

/* Many classes, met again in another order, keep the order of their first intervals. */
TEST(classes_are_numbered_in_the_order_of_first_intervals) {
    enum { LIVES = 700, EACH = 9 };
    struct memory memory;
    struct offcpu_classes c;
    memory_init(&memory, NULL, 0);
    offcpu_classes_init(&c, &memory);
    for (uint32_t i = 0; i < LIVES * EACH; i++)
        add(&c, &(struct thread_interval){.end = i, .life = i / EACH, .sample = i % EACH, .state = THREAD_PREEMPTED});
    for (uint32_t i = LIVES * EACH; i-- > 0;)
        add(&c, &(struct thread_interval){.end = 1, .life = i / EACH, .sample = i % EACH, .state = THREAD_PREEMPTED});
    assert_int_equal(c.count, LIVES * EACH);
    for (uint32_t i = 0; i < c.count; i++) {
        assert_int_equal(offcpu_classes_get(&c, i).end, i);
        assert_int_equal(c.at[i].key.lives, i / EACH);
        assert_int_equal(c.at[i].ns, i + 1);
    }
    offcpu_classes_free(&c);
    assert_int_equal(memory.used, 0);
}

/* Excluded intervals have one class for each thread, which only shows that the thread has intervals. */
TEST(excluded_intervals_are_counted_by_thread) {
    struct memory memory;
    struct offcpu_classes c;
    memory_init(&memory, NULL, 0);
    offcpu_classes_init(&c, &memory);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(offcpu_classes_add(&c, &blocked, NULL, NULL), PFR_OK);
    add(&c, &blocked);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.at[0].count, 3);
    assert_int_equal(c.at[0].ns, 0);
    assert_int_equal(offcpu_classes_get(&c, 0).state, THREAD_UNSEEN);
    assert_int_equal(offcpu_classes_get(&c, 0).tid, blocked.tid);
    offcpu_classes_free(&c);
}

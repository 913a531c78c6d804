/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler events in order of time: sorted, merged and packed, they come in the same order. */
#include "../test.h"

#include "base/memory/sizes.h"
#include "model/sched/sched_order.h"

enum { EVENTS = 3000 };

struct given {
    uint32_t tids[EVENTS];
    size_t count;
    uint64_t last;
};

/* A third of the events have none. */
static uint64_t value_of(uint32_t tid) {
    return tid % 3 * 0x300000001u;
}

static pfr_status take(void *context, const struct sched_event *event, pfr_error *err) {
    struct given *g = context;
    (void)err;
    assert_true(event->time >= g->last);
    assert_int_equal(event->value, value_of(event->tid));
    assert_int_equal(event->own, event->tid % 5 ? event->tid : event->tid + 1);
    assert_int_equal(event->other, ~event->tid);
    assert_int_equal(event->cpu, event->tid % 9);
    assert_int_equal(event->sample, event->tid * 2);
    assert_int_equal(event->kind, event->tid % SCHED_KINDS);
    assert_int_equal(event->flags, event->tid % 256);
    assert_int_equal(event->left, event->tid % 3);
    g->last = event->time;
    g->tids[g->count++] = event->tid;
    return PFR_OK;
}

static void put(struct sched_order *o, uint32_t i, uint64_t time) {
    const struct sched_event event = {.time = ((uint64_t)1 << 40) + time,
                                      .tid = i,
                                      .own = i % 5 ? i : i + 1,
                                      .value = value_of(i),
                                      .other = ~i,
                                      .cpu = i % 9,
                                      .sample = i * 2,
                                      .kind = (uint8_t)(i % SCHED_KINDS),
                                      .flags = (uint8_t)i,
                                      .left = (uint8_t)(i % 3)};
    assert_int_equal(sched_order_put(o, &event, NULL), PFR_OK);
}

/* Runs of `run` events, with equal times in one run and between runs. */
static struct given order(unsigned run, unsigned step) {
    struct given g = {.count = 0};
    struct memory memory;
    struct sched_order o;
    memory_init(&memory, NULL, 0);
    sched_order_init(&o, &memory, true);
    o.take = take;
    o.context = &g;
    for (uint32_t i = 0; i < EVENTS; i++)
        put(&o, i, i % run / 2 * step + i / run % 3);
    assert_int_equal(sched_order_end(&o, NULL), PFR_OK);
    assert_int_equal(g.count, EVENTS);
    sched_order_free(&o);
    assert_int_equal(memory.used, 0);
    return g;
}

TEST(packed_events_come_in_the_order_of_sorted_ones) {
    static const unsigned runs[] = {5, 20, 64, 1000, 1499, EVENTS - 1, EVENTS};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (unsigned step = 1; step < 4; step++) {
            assert_int_equal(sizes_set("", NULL), PFR_OK);
            const struct given sorted = order(runs[i], step);
            assert_int_equal(sizes_set("sched-pack=1", NULL), PFR_OK);
            const struct given packed = order(runs[i], step);
            assert_memory_equal(packed.tids, sorted.tids, sizeof sorted.tids);
        }
    assert_int_equal(sizes_set("", NULL), PFR_OK);
}

/* Rounds of two buffers, each of which has a run of events. */
static struct given order_rounds(unsigned run) {
    struct given g = {.count = 0};
    struct memory memory;
    struct sched_order o;
    memory_init(&memory, NULL, 0);
    sched_order_init(&o, &memory, false);
    o.take = take;
    o.context = &g;
    for (uint32_t i = 0; i < EVENTS; i++) {
        put(&o, i, i / (2 * run) * 100000 + i % run * 10 + (i / run % 2) * 5);
        if (i % (2 * run) == 2 * run - 1)
            assert_int_equal(sched_order_round(&o, NULL), PFR_OK);
    }
    assert_false(o.late);
    assert_true(g.count >= EVENTS - 6 * run && g.count < EVENTS);
    assert_int_equal(sched_order_end(&o, NULL), PFR_OK);
    assert_int_equal(g.count, EVENTS);
    sched_order_free(&o);
    assert_int_equal(memory.used, 0);
    return g;
}

TEST(packed_events_are_given_when_their_round_ends) {
    for (unsigned run = 40; run <= 400; run *= 10) {
        assert_int_equal(sizes_set("", NULL), PFR_OK);
        const struct given merged = order_rounds(run);
        assert_int_equal(sizes_set("sched-pack=16", NULL), PFR_OK);
        const struct given packed = order_rounds(run);
        assert_memory_equal(packed.tids, merged.tids, sizeof merged.tids);
    }
    assert_int_equal(sizes_set("", NULL), PFR_OK);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From scheduler events to thread states: the intervals of short sequences of events. */
#include "../test.h"

#include "model/sched/thread_states.h"

#include <stdio.h>
#include <string.h>

/* Intervals as text: "7 running 10-20;" in the order in which they are returned. */
struct interval_text {
    struct memory memory;
    struct thread_states states;
    char text[2048];
};

static pfr_status print_interval(void *context, const struct thread_interval *i, pfr_error *err) {
    static const char *const names[] = {[THREAD_RUNNING] = "running",
                                        [THREAD_PREEMPTED] = "preempted",
                                        [THREAD_WOKEN] = "woken",
                                        [THREAD_BLOCKED] = "blocked",
                                        [THREAD_UNKNOWN] = "unknown"};
    struct interval_text *s = context;
    const size_t at = strlen(s->text);
    (void)err;
    snprintf(s->text + at, sizeof s->text - at, "%u %s %u-%u%s", (unsigned)i->tid, names[i->state], (unsigned)i->start,
             (unsigned)i->end, i->open_end ? "+" : "");
    if (i->waker_kind == WAKER_THREAD && i->state == THREAD_BLOCKED)
        snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), " by %u", (unsigned)i->waker);
    strcat(s->text, ";");
    return PFR_OK;
}

static void begin(struct interval_text *s, bool records) {
    const struct sched_sources sources = {.switches = !records, .wakings = !records, .records = records};
    memset(s, 0, sizeof *s);
    memory_init(&s->memory, NULL, 0);
    thread_states_init(&s->states, &s->memory, 10, &sources);
    s->states.wide = !records;
    s->states.each = print_interval;
    s->states.context = s;
}

static void note(struct interval_text *s, struct sched_event event) {
    assert_int_equal(thread_states_note(&s->states, &event, NULL), PFR_OK);
}

static void sched_switch(struct interval_text *s, uint64_t time, uint32_t cpu, uint32_t prev, enum sched_left left,
                         uint32_t next) {
    note(s, (struct sched_event){.time = time,
                                 .kind = SCHED_SWITCH,
                                 .cpu = cpu,
                                 .tid = prev,
                                 .own = prev,
                                 .other = next,
                                 .left = (uint8_t)left});
}

static void waking(struct interval_text *s, uint64_t time, uint32_t by, uint32_t tid, unsigned flags) {
    note(s, (struct sched_event){.time = time, .kind = SCHED_WAKING, .tid = by, .other = tid, .flags = (uint8_t)flags});
}

static void end(struct interval_text *s, uint64_t time, const char *expected) {
    assert_int_equal(thread_states_end(&s->states, time, NULL), PFR_OK);
    assert_string_equal(s->text, expected);
    thread_states_free(&s->states);
    assert_int_equal(s->memory.used, 0);
}

TEST(waits_and_wakers) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_BLOCKED, 8);
    waking(&s, 30, 8, 7, 0);
    waking(&s, 32, 8, 7, 0); /* it is runnable already */
    sched_switch(&s, 40, 0, 8, SCHED_LEFT_RUNNABLE, 7);
    end(&s, 50,
        "7 running 10-20;8 woken 10-20;7 blocked 20-30 by 8;8 running 20-40;7 woken 30-40;7 running 40-50+;"
        "8 preempted 40-50+;");
}

/* Their last finds are cached at the same place. */
TEST(threads_with_tids_that_share_a_memo_stay_apart) {
    enum { TID = 7, OTHER = TID + SCHED_MEMOS };
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, TID, SCHED_LEFT_BLOCKED, OTHER);
    waking(&s, 25, OTHER, TID, 0);
    sched_switch(&s, 30, 0, OTHER, SCHED_LEFT_BLOCKED, TID);
    end(&s, 40,
        "7 running 10-20;1031 woken 10-20;7 blocked 20-25 by 1031;1031 running 20-30;7 woken 25-30;7 running 30-40+;"
        "1031 blocked 30-40+;");
}

TEST(interrupts_are_no_wakers) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_BLOCKED, 8);
    waking(&s, 30, 8, 7, SCHED_IN_HARDIRQ | 1);
    end(&s, 40, "7 running 10-20;8 woken 10-20;7 blocked 20-30;7 woken 30-40+;8 running 20-40+;");
}

TEST(an_event_that_contradicts_makes_the_time_before_it_unknown) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_BLOCKED, 8);
    sched_switch(&s, 40, 0, 9, SCHED_LEFT_BLOCKED, 8);   /* thread 8 got this CPU, and never left it */
    assert_int_equal(s.states.counts.contradictions, 3); /* for 8 leaving, for 9, and for 8 appearing without an
                                                            event */
    end(&s, 50,
        "7 running 10-20;8 woken 10-20;8 unknown 20-40;9 unknown 10-40;7 blocked 20-50+;8 running 40-50+;9 blocked "
        "40-50+;");
}

TEST(a_wait_without_a_waking_is_unknown) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_BLOCKED, 0);
    sched_switch(&s, 90, 0, 0, SCHED_LEFT_RUNNABLE, 7);
    assert_int_equal(s.states.counts.unknown, 1);
    assert_int_equal(s.states.counts.unknown_ns, 70);
    end(&s, 95, "7 running 10-20;7 unknown 20-90;7 running 90-95+;");
}

TEST(lost_records_make_waits_unknown_but_not_threads_on_other_cpus) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_BLOCKED, 8);
    sched_switch(&s, 21, 1, 0, SCHED_LEFT_RUNNABLE, 9);
    note(&s, (struct sched_event){.time = 30, .kind = SCHED_LOST, .cpu = 0, .tid = SCHED_NOBODY});
    sched_switch(&s, 40, 1, 9, SCHED_LEFT_BLOCKED, 0);
    waking(&s, 45, 9, 7, 0);
    end(&s, 50,
        "7 running 10-20;8 woken 10-20;9 woken 10-21;9 running 21-40;7 unknown 20-45;7 woken 45-50+;8 unknown "
        "20-50+;9 blocked 40-50+;");
}

TEST(a_tid_that_is_used_again_is_another_thread) {
    struct interval_text s;
    begin(&s, false);
    sched_switch(&s, 20, 0, 7, SCHED_LEFT_DEAD, 8);
    note(&s, (struct sched_event){.time = 30, .kind = SCHED_FORK, .tid = 8, .other = 7});
    sched_switch(&s, 40, 0, 8, SCHED_LEFT_BLOCKED, 7);
    assert_int_equal(s.states.lives, 3);
    end(&s, 50, "7 running 10-20;8 woken 10-20;8 running 20-40;7 woken 30-40;7 running 40-50+;8 blocked 40-50+;");
}

TEST(a_thread_ends_with_its_exit) {
    struct interval_text s;
    begin(&s, true);
    note(&s, (struct sched_event){.time = 20, .kind = SCHED_OUT, .tid = 7, .left = SCHED_LEFT_BLOCKED});
    note(&s, (struct sched_event){.time = 30, .kind = SCHED_IN, .tid = 7});
    note(&s, (struct sched_event){.time = 35, .kind = SCHED_EXIT, .tid = 7});
    end(&s, 90, "7 running 10-20;7 blocked 20-30;7 running 30-35;");
}

TEST(switch_records_have_a_stack_from_context_switches) {
    struct interval_text s;
    begin(&s, true);
    note(&s, (struct sched_event){.time = 19, .kind = SCHED_STACK, .tid = 7, .sample = 4});
    note(&s, (struct sched_event){.time = 20, .kind = SCHED_OUT, .tid = 7, .left = SCHED_LEFT_RUNNABLE});
    assert_int_equal(s.states.threads[0].sample, 4);
    end(&s, 30, "7 running 10-20;7 preempted 20-30+;");
}

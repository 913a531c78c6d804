/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that samples do not have themselves. With reader->waits, it is the time of the wait that begins at the sample
 * (sample_waits.h). With .by_latency, weights stay as recorded: samples of the idle task are left out, and samples
 * taken when no thread is known to have run (running_threads.h) are only counted, because their weights cannot be
 * divided.
 *
 * Waits without a sample began before the recording, or where threads were not sampled. They become one sample per
 * thread, without an address. A thread without any scheduler event is taken to have waited all the time, as in
 * `perfray offcpu`.
 */
#include "model/profile/count/profile_waits.h"

/* Samples of the idle task do not count. */
static bool is_of_thread(struct sample_counter *c, const struct picked *s) {
    c->facts.undivided += s->tid != 0 && running_threads_at(c->profile->request.running, s->time) == 0;
    return s->tid != 0;
}

bool weigh_otherwise(struct sample_counter *c, struct picked *s) {
    const struct sample_waits *waits = c->profile->reader->waits;
    if (!waits)
        return is_of_thread(c, s);
    s->period = sample_waits_find(waits, s->key.offset, s->key.inner, &c->wait_hint);
    return s->period > 0;
}

/* Keys of a sample that was never recorded. */
static const struct pfr_rec_sample nothing;

static uint32_t generation_at(const struct sample_counter *c, uint32_t tid, uint64_t time) {
    const struct record_key key = {time, UINT64_MAX, UINT64_MAX};
    struct thread_view view;
    thread_at(&c->profile->state.threads, NOBODY, tid, key, &view);
    return view.generation;
}

static struct picked wait_of(const struct sample_counter *c, uint32_t generation, uint32_t tid, uint64_t time,
                             uint64_t ns) {
    const struct state *state = &c->profile->state;
    const uint32_t pid = generation == NO_GENERATION ? NOBODY : state->threads.at[generation].pid;
    const struct record_key last = {state->timed ? time : 0, UINT64_MAX, UINT64_MAX};
    return (struct picked){.event = c->profile->reader->waits->event,
                           .pid = pid == NOBODY ? tid : pid,
                           .tid = tid,
                           .cpu = NOT_RECORDED,
                           .time = time,
                           .period = ns,
                           .mode = PFR_CPUMODE_USER,
                           .bare = true,
                           .whole = &nothing,
                           .key = last};
}

pfr_status unsampled_begin(struct unsampled_waits *all, struct sample_counter *c, pfr_error *err) {
    const struct threads *threads = &c->profile->state.threads;
    const struct sample_waits *waits = c->profile->reader->waits;
    *all = (struct unsampled_waits){.counter = c, .met = mem_zeroed(c->memory, threads->count, 1)};
    if (!all->met)
        return mem_fail(c->memory, err, "waits");
    for (size_t i = 0; i < waits->nr_lives; i++) {
        const struct life_waits *life = &waits->lives[i];
        const uint32_t generation = life->is_met ? generation_at(c, life->tid, life->time) : NO_GENERATION;
        if (generation != NO_GENERATION)
            all->met[generation] = 1;
    }
    return PFR_OK;
}

/* Whether the thread has no states. Such a thread slept from its begin, or from the begin of the recording, to the
   end. */
static bool sleeps(const struct unsampled_waits *all, uint32_t number, struct picked *s) {
    const struct sample_waits *waits = all->counter->profile->reader->waits;
    const struct generation *g = &all->counter->profile->state.threads.at[number];
    const uint64_t begin = g->begin.time > waits->begin ? g->begin.time : waits->begin;
    if (all->met[number] || g->tid == 0 || g->tid == NOBODY || begin >= waits->end)
        return false;
    *s = wait_of(all->counter, number, g->tid, begin, waits->end - begin);
    return true;
}

bool unsampled_next(struct unsampled_waits *all, struct picked *s) {
    const struct sample_counter *c = all->counter;
    const struct sample_waits *waits = c->profile->reader->waits;
    while (all->life < waits->nr_lives) {
        const struct life_waits *life = &waits->lives[all->life++];
        if (!life->ns)
            continue;
        *s = wait_of(c, generation_at(c, life->tid, life->time), life->tid, life->time, life->ns);
        return true;
    }
    while (all->generation < c->profile->state.threads.count)
        if (sleeps(all, (uint32_t)all->generation++, s))
            return true;
    return false;
}

void unsampled_end(struct unsampled_waits *all) {
    mem_free(all->counter->memory, all->met, all->counter->profile->state.threads.count, sizeof *all->met);
}

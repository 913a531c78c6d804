/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and who counts them: see profile_lanes.h. */
#include "model/profile_lanes.h"

#include <sched.h>

#define SLICE_SIZE ((uint64_t)4 << 20)
#define SHARE 60u /* percent of the memory that is left, for all that is counted */
#define JOBS_MOST 256u

void lanes_init(struct lanes *w, struct profile *p) {
    *w = (struct lanes){.profile = p, .whole = !slices_can_be(p->reader)};
    profile_frames_init(&w->frames, p);
}

/* --- The plan. */

static void add_slice(struct lanes *w, uint32_t part, uint64_t begin) {
    void *more = mem_grow(w->profile->memory, w->slices, w->nr_slices, &w->slices_room, 64, sizeof *w->slices);
    if (!more) {
        w->planned = mem_fail(w->profile->memory, &w->err, "slices");
        w->whole = true;
        return;
    }
    w->slices = more;
    if (w->nr_slices && w->slices[w->nr_slices - 1].part == part)
        w->slices[w->nr_slices - 1].end = begin;
    w->slices[w->nr_slices++] = (struct slice){part, begin, UINT64_MAX};
}

static void plan_sample(void *context, const pfr_record *rec) {
    struct lanes *w = context;
    const uint32_t part = w->profile->reader->part;
    const struct slice *last = w->nr_slices ? &w->slices[w->nr_slices - 1] : NULL;
    w->whole = w->whole || rec->inside;
    if (!w->whole && (!last || last->part != part || rec->offset - last->begin >= SLICE_SIZE))
        add_slice(w, part, rec->offset);
}

/* What is skipped behind damage, and how it is said, depends on what was read before. */
static void plan_hole(void *context, const pfr_error *hole) {
    struct lanes *w = context;
    (void)hole;
    w->whole = true;
}

struct state_watch lanes_watch(struct lanes *w) {
    return (struct state_watch){.hole = plan_hole, .sample = plan_sample, .context = w};
}

/* --- Workers. */

static uint32_t cpus_here(void) {
    cpu_set_t cpus;
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

/* With call chains one lane, unless more are asked for: each would hold nearly all stacks, and memory would be for as
   many times the stacks that there are. The text of a tracepoint is made by a library that may need a process, and
   counters that are read with samples need them in order: one lane does it. */
static uint32_t count_jobs(const struct lanes *w) {
    const struct profile_wish *wish = &w->profile->wish;
    uint32_t jobs = wish->jobs ? wish->jobs : wish->chains ? 1 : cpus_here();
    if (w->whole || w->nr_slices < 2 || (wish->keys & PROFILE_BIT(PROFILE_TRACE)) || reads_any(w->profile, w->places))
        return 1;
    jobs = jobs < JOBS_MOST ? jobs : JOBS_MOST;
    return jobs < w->nr_slices ? jobs : (uint32_t)w->nr_slices;
}

static pfr_status open_lane(struct lanes *w, struct lane *lane, bool slices, pfr_error *err) {
    struct profile *p = w->profile;
    *lane = (struct lane){.all = w};
    memory_share(&lane->own, &w->memory);
    w->count++;
    if (slices)
        PFR_TRY(slice_reader_open(&lane->reader, p->reader, &lane->own, err));
    pfr_reader *reader = slices ? lane->reader : p->reader;
    return counter_init(&lane->counter, &w->frames, reader, w->places, &lane->own, err);
}

static pfr_status open_lanes(struct lanes *w, uint32_t jobs, pfr_error *err) {
    struct memory *memory = w->profile->memory;
    memory_share(&w->memory, memory);
    w->memory.limit = (memory->limit - memory->used) / 100 * SHARE;
    w->at = mem_zeroed(memory, jobs, sizeof *w->at);
    if (!w->at)
        return mem_fail(memory, err, "profile");
    for (uint32_t i = 0; i < jobs; i++)
        PFR_TRY(open_lane(w, &w->at[i], jobs > 1, err));
    return PFR_OK;
}

void lanes_free(struct lanes *w) {
    struct memory *memory = w->profile->memory;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->at[i].counter.profile)
            counter_free(&w->at[i].counter);
        slice_reader_close(w->at[i].reader);
    }
    mem_free(memory, w->at, w->at ? w->room : 0, sizeof *w->at);
    mem_free(memory, w->slices, w->slices_room, sizeof *w->slices);
    profile_frames_free(&w->frames);
}

static void *run_lane(void *context) {
    struct lane *me = context;
    struct lanes *w = me->all;
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (i >= w->nr_slices)
            return NULL;
        slice_reader_move(me->reader, &w->slices[i]);
        me->status = counter_run(&me->counter, &me->err);
        if (me->status < 0) {
            __atomic_store_n(&w->next, (uint32_t)w->nr_slices, __ATOMIC_RELAXED); /* nobody begins another one */
            return NULL;
        }
    }
}

/* Where there are no more threads to be had, those that there are do it. */
static pfr_status run_lanes(struct lanes *w, pfr_error *err) {
    pfr_status st = PFR_OK;
    for (uint32_t i = 1; i < w->count; i++)
        w->at[i].runs = pthread_create(&w->at[i].thread, NULL, run_lane, &w->at[i]) == 0;
    run_lane(&w->at[0]);
    for (uint32_t i = 1; i < w->count; i++)
        if (w->at[i].runs)
            pthread_join(w->at[i].thread, NULL);
    for (uint32_t i = w->count; i-- > 0;)
        if (w->at[i].status < 0) {
            st = w->at[i].status;
            if (err)
                *err = w->at[i].err;
        }
    return st;
}

pfr_status lanes_count(struct lanes *w, struct pick_places *places, pfr_error *err) {
    w->places = places;
    const uint32_t jobs = count_jobs(w);
    if (w->planned < 0 && err)
        *err = w->err;
    PFR_TRY(w->planned);
    w->room = jobs;
    PFR_TRY(open_lanes(w, jobs, err));
    if (jobs == 1) {
        PFR_TRY(pfr_rewind(w->profile->reader, err));
        PFR_TRY(counter_run(&w->at[0].counter, err));
    } else {
        PFR_TRY(run_lanes(w, err));
    }
    return PFR_OK;
}

static void add_limited(struct counter *to, const struct counter *from) {
    for (uint32_t i = 0; i < to->profile->nr_events; i++) {
        to->limited[i].weight += from->limited[i].weight;
        to->limited[i].samples += from->limited[i].samples;
    }
}

pfr_status lanes_join(struct lanes *w, pfr_error *err) {
    struct counter *first = &w->at[0].counter;
    const unsigned values = (unsigned)__builtin_popcount(w->profile->wish.keys);
    counter_pour(first);
    for (uint32_t i = 1; i < w->count; i++) {
        struct counter *c = &w->at[i].counter;
        counter_pour(c);
        PFR_TRY(profile_tree_merge(&first->tree, &c->tree, values, first->limited, err));
        add_limited(first, c);
        profile_tree_free(&c->tree);
    }
    return values_take_limited(first, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and who counts them: see profile_workers.h. */
#include "model/profile_workers.h"

#include <sched.h>

#define SLICE_SIZE ((uint64_t)4 << 20)
#define SHARE 60u /* percent of the memory that is left */
#define JOBS_MOST 256u

void workers_init(struct workers *w, struct profile *p) {
    *w = (struct workers){.profile = p, .whole = !slices_can_be(p->reader)};
}

/* --- The plan. */

static void add_slice(struct workers *w, uint32_t part, uint64_t begin) {
    void *more = mem_grow(w->profile->memory, w->slices, w->nr_slices, &w->slices_room, 64, sizeof *w->slices);
    if (!more) {
        w->planned = mem_fail(w->profile->memory, &w->err, "slices");
        w->whole = true;
        return;
    }
    w->slices = more;
    if (w->nr_slices && w->slices[w->nr_slices - 1].slice.part == part)
        w->slices[w->nr_slices - 1].slice.end = begin;
    w->slices[w->nr_slices++] = (struct planned_slice){.slice = {part, begin, UINT64_MAX}};
}

static void plan_sample(void *context, const pfr_record *rec) {
    struct workers *w = context;
    const uint32_t part = w->profile->reader->part;
    const struct slice *last = w->nr_slices ? &w->slices[w->nr_slices - 1].slice : NULL;
    w->whole = w->whole || rec->inside;
    if (!w->whole && (!last || last->part != part || rec->offset - last->begin >= SLICE_SIZE))
        add_slice(w, part, rec->offset);
}

/* What is skipped behind damage, and how it is said, depends on what was read before. */
static void plan_hole(void *context, const pfr_error *hole) {
    struct workers *w = context;
    (void)hole;
    w->whole = true;
}

struct state_watch workers_watch(struct workers *w) {
    return (struct state_watch){.hole = plan_hole, .sample = plan_sample, .context = w};
}

/* --- Workers. */

static uint32_t cpus_here(void) {
    cpu_set_t cpus;
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return count > 0 ? (uint32_t)count : 1;
}

/* The text of a tracepoint is made by a library that may need a process: one worker does it. */
static uint32_t count_jobs(const struct workers *w) {
    const struct profile_wish *wish = &w->profile->wish;
    uint32_t jobs = wish->jobs ? wish->jobs : cpus_here();
    if (w->whole || w->nr_slices < 2 || (wish->keys & PROFILE_BIT(PROFILE_TRACE)))
        return 1;
    jobs = jobs < JOBS_MOST ? jobs : JOBS_MOST;
    return jobs < w->nr_slices ? jobs : (uint32_t)w->nr_slices;
}

/* Memory that workers may take counts as the profile's until they are done. */
static pfr_status reserve(struct workers *w, uint32_t jobs, uint64_t *share, pfr_error *err) {
    struct memory *memory = w->profile->memory;
    *share = (memory->limit - memory->used) / 100 * SHARE / jobs;
    if (*share == 0 || !mem_charge(memory, *share * jobs))
        return mem_fail(memory, err, "profile");
    w->reserved = *share * jobs;
    return PFR_OK;
}

static pfr_status open_worker(struct workers *w, struct worker *worker, bool slices, uint64_t share, pfr_error *err) {
    struct profile *p = w->profile;
    *worker = (struct worker){.all = w};
    memory_init(&worker->own, &p->memory->alloc, share);
    w->count++;
    if (slices)
        PFR_TRY(slice_reader_open(&worker->reader, p->reader, share, err));
    pfr_reader *reader = slices ? worker->reader : p->reader;
    return counter_init(&worker->counter, p, reader, w->places, slices ? &worker->reader->memory : &worker->own, err);
}

static pfr_status open_workers(struct workers *w, uint32_t jobs, pfr_error *err) {
    uint64_t share;
    w->at = mem_zeroed(w->profile->memory, jobs, sizeof *w->at);
    if (!w->at)
        return mem_fail(w->profile->memory, err, "profile");
    PFR_TRY(reserve(w, jobs, &share, err));
    for (uint32_t i = 0; i < jobs; i++)
        PFR_TRY(open_worker(w, &w->at[i], jobs > 1, share, err));
    return PFR_OK;
}

static uint64_t bytes_held(const struct workers *w) {
    uint64_t held = 0;
    for (uint32_t i = 0; i < w->count; i++)
        held += w->at[i].own.used + (w->at[i].reader ? w->at[i].reader->memory.used : 0);
    return held;
}

void workers_free(struct workers *w) {
    struct memory *memory = w->profile->memory;
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->at[i].counter.profile)
            counter_free(&w->at[i].counter);
        slice_reader_close(w->at[i].reader);
    }
    mem_discharge(memory, w->reserved);
    mem_free(memory, w->at, w->at ? w->room : 0, sizeof *w->at);
    mem_free(memory, w->slices, w->slices_room, sizeof *w->slices);
}

static void *run_worker(void *context) {
    struct worker *me = context;
    struct workers *w = me->all;
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (i >= w->nr_slices)
            return NULL;
        w->slices[i].worker = (uint32_t)(me - w->at);
        slice_reader_move(me->reader, &w->slices[i].slice);
        me->status = counter_run(&me->counter, &me->err);
        if (me->status < 0) {
            __atomic_store_n(&w->next, (uint32_t)w->nr_slices, __ATOMIC_RELAXED); /* nobody begins another one */
            return NULL;
        }
    }
}

/* Where there are no more threads to be had, those that there are do it. */
static pfr_status run_workers(struct workers *w, pfr_error *err) {
    pfr_status st = PFR_OK;
    for (uint32_t i = 1; i < w->count; i++)
        w->at[i].runs = pthread_create(&w->at[i].thread, NULL, run_worker, &w->at[i]) == 0;
    run_worker(&w->at[0]);
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

pfr_status workers_count(struct workers *w, struct pick_places *places, pfr_error *err) {
    const uint32_t jobs = count_jobs(w);
    if (w->planned < 0 && err)
        *err = w->err;
    PFR_TRY(w->planned);
    w->places = places;
    w->room = jobs;
    PFR_TRY(open_workers(w, jobs, err));
    if (jobs == 1) {
        PFR_TRY(pfr_rewind(w->profile->reader, err));
        PFR_TRY(counter_run(&w->at[0].counter, err));
    } else {
        PFR_TRY(run_workers(w, err));
    }
    const uint64_t held = bytes_held(w);
    mem_discharge(w->profile->memory, w->reserved - held);
    w->reserved = held;
    return PFR_OK;
}

pfr_status workers_run_unsure(struct workers *w, unsure_fn *sample, void *context, pfr_error *err) {
    if (w->count == 1) {
        PFR_TRY(pfr_rewind(w->profile->reader, err));
        return counter_run_unsure(&w->at[0].counter, sample, context, err);
    }
    for (size_t i = 0; i < w->nr_slices; i++) {
        struct worker *worker = &w->at[w->slices[i].worker];
        slice_reader_move(worker->reader, &w->slices[i].slice);
        PFR_TRY(counter_run_unsure(&worker->counter, sample, context, err));
    }
    return PFR_OK;
}

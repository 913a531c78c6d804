/* SPDX-License-Identifier: Apache-2.0 */
/* Slices and the workers that count them: see profile_workers.h. */
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_pour.h"
#include "model/profile/count/profile_deferred_names.h"
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_reads.h"
#include "model/profile/count/profile_values.h"
#include "model/profile/count/profile_whole_stacks.h"
#include "model/profile/count/profile_workers.h"

#include "base/threads/thread_pool.h"
#include "base/memory/sizes.h"
#include "base/threads/thread_start.h"

#define SHARE 60u /* percent of the memory left that may be used for all counting */
#define JOBS_MOST 256u
#define WORKER_NS 150000000u /* counting time that justifies one more worker */
#define PLAIN_NS 30u         /* per sample identified by thread and address only */
#define SAMPLE_NS 150u
#define CHAIN_NS 600u
#define NODES_NS 800u                     /* per chain that becomes nodes of a tree */
#define LONG_NS 1500u                     /* with branches, or with a chain built from more than the recorded one */
#define READER_SIZE ((uint64_t)128 << 20) /* bytes of the file per thread that reads it in the first pass */
#define CHAIN_JOBS 4u                     /* default maximum with chains: each worker caches nearly all addresses */

void workers_init(struct profile_workers *w, struct profile *p) {
    *w = (struct profile_workers){.profile = p, .whole = !slices_can_be(p->reader)};
    profile_frames_init(&w->frames, p);
}

/* --- Planning slices. */

static void add_slice(struct profile_workers *w, uint32_t part, uint64_t begin) {
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
    struct profile_workers *w = context;
    const uint32_t part = w->profile->reader->cursor.part;
    const struct slice *last = w->nr_slices ? &w->slices[w->nr_slices - 1] : NULL;
    w->whole = w->whole || rec->inside;
    if (!w->whole && (!last || last->part != part || rec->offset - last->begin >= sizes.slice))
        add_slice(w, part, rec->offset);
}

/* After damage there are no slices: how many bytes are skipped, and the message, depend on what was read before. */
static void plan_hole(void *context, const pfr_error *hole) {
    struct profile_workers *w = context;
    (void)hole;
    w->whole = true;
}

/* Number of threads for the first pass. Unlike threads that count, they repeat no work, so more are worthwhile. */
static uint32_t count_readers(const struct profile_workers *w) {
    const uint64_t size = input_size(&w->profile->reader->parts[0].in);
    const uint64_t paying = size == INPUT_UNKNOWN_SIZE ? 1 : size / READER_SIZE;
    const uint32_t asked = w->profile->request.jobs, cpus = thread_pool_cpus();
    return asked ? asked : paying < cpus ? (uint32_t)paying : cpus;
}

struct state_watch workers_watch(struct profile_workers *w) {
    return (struct state_watch){.hole = plan_hole, .sample = plan_sample, .context = w, .readers = count_readers(w)};
}

/* --- Workers. */

/* Estimated time of counting in one thread: approximate costs per sample on current machines. */
static uint64_t likely_ns(const struct workers_size *size) {
    const uint64_t each = size->branches || size->made ? LONG_NS
                          : size->nodes                ? NODES_NS
                          : size->chains               ? CHAIN_NS
                          : size->plain                ? PLAIN_NS
                                                       : SAMPLE_NS;
    return size->samples < UINT64_MAX / LONG_NS ? size->samples * each : UINT64_MAX;
}

/* Each worker repeats most lookups of the others, so a small share of the work costs more than it saves. */
static uint32_t paying_workers(const struct workers_size *size) {
    const uint64_t paying = likely_ns(size) / WORKER_NS;
    const uint32_t most = size->chains && size->cpus > CHAIN_JOBS ? CHAIN_JOBS : size->cpus;
    return paying < most ? (uint32_t)paying : most;
}

uint32_t workers_wanted(const struct workers_size *size) {
    uint32_t workers = size->asked ? size->asked : paying_workers(size);
    workers = workers < JOBS_MOST ? workers : JOBS_MOST;
    workers = workers < size->slices ? workers : (uint32_t)size->slices;
    return workers ? workers : 1;
}

static bool any_is_made(const struct profile_workers *w) {
    for (uint32_t i = 0; i < w->profile->nr_events; i++)
        if (w->places[i].makes)
            return true;
    return false;
}

/* Whether stacks become nodes, instead of whole stacks or sums. */
static bool makes_nodes(const struct profile_request *request) {
    return request_has_chains(request) && request->shape != PROFILE_STACKS && request->shape != PROFILE_SUMS;
}

static struct workers_size size_of(const struct profile_workers *w) {
    const struct profile_request *request = &w->profile->request;
    return (struct workers_size){.samples = w->profile->reader->damage.quality.samples,
                                 .slices = w->nr_slices,
                                 .cpus = thread_pool_cpus(),
                                 .asked = request->jobs,
                                 .chains = request_has_chains(request),
                                 .nodes = makes_nodes(request),
                                 .made = any_is_made(w),
                                 .branches = request->counted == PROFILE_BRANCHES,
                                 .plain = !request->keys || request->keys == PROFILE_BIT(PROFILE_COMM)};
}

/* Whether workers count slices. A single worker must count the whole recording if samples are needed in order (counters
   read with samples, stitched stacks) or if texts of tracepoints come from a library that may need a process. */
static bool goes_by_slices(const struct profile_workers *w) {
    const struct profile_request *request = &w->profile->request;
    const bool traces = request->keys & PROFILE_BIT(PROFILE_TRACE);
    const bool waits = request->each && w->profile->reader->waits; /* waits that have no sample are in no slice */
    const bool others = request->each && request->each->other;
    return !w->whole && w->nr_slices > 0 && !traces && !waits && !others && !order_counts(w->profile, w->places);
}

static uint32_t count_jobs(const struct profile_workers *w) {
    const struct workers_size size = size_of(w);
    return goes_by_slices(w) ? workers_wanted(&size) : 1;
}

static pfr_status open_worker(struct profile_workers *w, struct profile_worker *worker, bool slices, pfr_error *err) {
    struct profile *p = w->profile;
    const uint32_t number = w->count;
    *worker = (struct profile_worker){.all = w};
    memory_share(&worker->own, &w->memory);
    w->count++;
    if (slices)
        PFR_TRY(slice_reader_open(&worker->reader, p->reader, p->memory, err));
    pfr_reader *reader = slices ? worker->reader : p->reader;
    struct common *common = w->has_common ? &w->common : NULL;
    PFR_TRY(counter_init(&worker->counter, &w->frames, reader, w->places, common, &worker->own, err));
    worker->counter.number = number;
    return PFR_OK;
}

/* Shares nodes and entries, so that stacks common to several workers exist once. Whole stacks and sums are private to a
   worker. */
static void open_common(struct profile_workers *w, uint32_t jobs) {
    w->has_common = jobs > 1 && makes_nodes(&w->profile->request);
    if (!w->has_common)
        return;
    profile_tree_init(&w->common.tree, w->profile, &w->memory);
    profile_tree_share(&w->common.tree);
    w->common.table = (struct entry_table){.memory = &w->memory};
}

static pfr_status open_workers(struct profile_workers *w, uint32_t jobs, pfr_error *err) {
    struct memory *memory = w->profile->memory;
    memory_share(&w->memory, memory);
    w->memory.limit = (memory->limit - memory->used) / 100 * SHARE;
    w->at = mem_zeroed(memory, jobs, sizeof *w->at);
    if (!w->at)
        return mem_fail(memory, err, "profile");
    open_common(w, jobs);
    for (uint32_t i = 0; i < jobs; i++)
        PFR_TRY(open_worker(w, &w->at[i], goes_by_slices(w), err));
    return PFR_OK;
}

static void close_workers(struct profile_workers *w) {
    struct memory *memory = w->profile->memory;
    if (w->has_common && w->count)
        counter_entries_free(&w->common.table, w->at[0].counter.keys.stride);
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->at[i].counter.profile)
            counter_free(&w->at[i].counter);
        slice_reader_close(w->at[i].reader);
    }
    if (w->has_common)
        profile_tree_free(&w->common.tree);
    mem_free(memory, w->at, w->at ? w->room : 0, sizeof *w->at);
    w->at = NULL;
    w->has_common = false;
    w->count = w->room = 0;
}

void workers_free(struct profile_workers *w) {
    struct memory *memory = w->profile->memory;
    close_workers(w);
    mem_free(memory, w->slices, w->slices_room, sizeof *w->slices);
    profile_frames_free(&w->frames);
}

static void *run_worker(void *context) {
    struct profile_worker *me = context;
    struct profile_workers *w = me->all;
    uint32_t i;
    while (me->status >= 0 && (i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->nr_slices) {
        slice_reader_move(me->reader, &w->slices[i]);
        me->counter.run = i;
        me->status = counter_run(&me->counter, &me->err);
    }
    if (me->status < 0)
        __atomic_store_n(&w->next, (uint32_t)w->nr_slices, __ATOMIC_RELAXED); /* makes the other workers stop */
    return NULL;
}

/* The status of the first worker that failed. */
static pfr_status workers_status(const struct profile_workers *w, pfr_error *err) {
    for (uint32_t i = 0; i < w->count; i++)
        if (w->at[i].status < 0) {
            if (err)
                *err = w->at[i].err;
            return w->at[i].status;
        }
    return PFR_OK;
}

/* If fewer threads can be started, those that run do all the work. */
static pfr_status run_workers(struct profile_workers *w, pfr_error *err) {
    for (uint32_t i = 1; i < w->count; i++)
        w->at[i].runs = thread_begin(&w->at[i].thread, run_worker, &w->at[i]);
    run_worker(&w->at[0]);
    for (uint32_t i = 1; i < w->count; i++)
        if (w->at[i].runs)
            pthread_join(w->at[i].thread, NULL);
    return workers_status(w, err);
}

static pfr_status begin_each(const struct profile_workers *w, uint32_t jobs, pfr_error *err) {
    const struct profile_each *each = w->profile->request.each;
    const bool slices = goes_by_slices(w);
    return each ? each->begin(each->context, jobs, slices ? (uint32_t)w->nr_slices : 1, slices ? w->slices : NULL, err)
                : PFR_OK;
}

static pfr_status count(struct profile_workers *w, uint32_t jobs, pfr_error *err) {
    PFR_TRY(begin_each(w, jobs, err));
    w->room = jobs;
    w->next = 0;
    w->frames.workers = jobs;
    w->frames.one_worker = jobs == 1;
    PFR_TRY(open_workers(w, jobs, err));
    if (goes_by_slices(w))
        return run_workers(w, err);
    PFR_TRY(pfr_rewind(w->profile->reader, err));
    return counter_run(&w->at[0].counter, err);
}

static void add_limited(struct sample_counter *to, const struct sample_counter *from) {
    for (uint32_t i = 0; i < to->profile->nr_events; i++) {
        to->facts.limited[i].weight += from->facts.limited[i].weight;
        to->facts.limited[i].samples += from->facts.limited[i].samples;
    }
}

/* Resolves the entries that all workers counted by address only; the first worker gets the result. */
static pfr_status settle(struct profile_workers *w, pfr_error *err) {
    struct sample_counter *all[JOBS_MOST];
    for (uint32_t i = 0; i < w->count; i++)
        all[i] = &w->at[i].counter;
    return late_settle(all[0], all, w->count, err);
}

static bool pour_part(void *context, unsigned worker, size_t part) {
    struct profile_workers *w = context;
    (void)worker;
    counter_pour_common(&w->at[part].counter, (uint32_t)part, w->count);
    return true;
}

static bool mark_part(void *context, unsigned worker, size_t part) {
    struct profile_workers *w = context;
    (void)worker;
    counter_mark_common(&w->at[part].counter, (uint32_t)part, w->count);
    return true;
}

/* Gives the shared tree weights, as profile_count.c does for a single worker. */
static pfr_status begin_common_weights(struct profile_workers *w, pfr_error *err) {
    bool limited = false;
    for (uint32_t i = 0; i < w->count; i++)
        limited = limited || counter_met_limit(&w->at[i].counter);
    if (limited)
        return profile_tree_begin_weights(&w->common.tree, err);
    PFR_TRY(profile_tree_begin_marks(&w->common.tree, err));
    thread_pool_run(w->count, w->count, mark_part, w);
    for (uint32_t i = 0; i < w->count; i++)
        counter_mark_individual_samples(&w->at[i].counter);
    return profile_tree_end_marks(&w->common.tree, err);
}

/* Pours all entries into the shared tree. Memory use peaks when nodes get weights, so lookup tables are freed first. */
static pfr_status pour_common(struct profile_workers *w, pfr_error *err) {
    for (uint32_t i = 0; i < w->count; i++)
        counter_end_lookups(&w->at[i].counter);
    counter_entries_free_slots(&w->common.table);
    PFR_TRY(begin_common_weights(w, err));
    thread_pool_run(w->count, w->count, pour_part, w);
    counter_entries_free(&w->common.table, w->at[0].counter.keys.stride);
    return PFR_OK;
}

/* Joins all counters in the first one. */
static pfr_status join(struct profile_workers *w, pfr_error *err) {
    struct sample_counter *first = &w->at[0].counter;
    const unsigned values = (unsigned)__builtin_popcount(w->profile->request.keys);
    const bool whole = w->profile->request.shape == PROFILE_STACKS;
    for (uint32_t i = 1; whole && i < w->count; i++) {
        struct sample_counter *c = &w->at[i].counter;
        PFR_TRY(whole_join(first, c, i + 1 < w->count, err));
        counter_drop(c);
    }
    if (first->keys.plain)
        PFR_TRY(settle(w, err));
    if (w->has_common)
        PFR_TRY(pour_common(w, err));
    PFR_TRY(counter_pour(first, err));
    for (uint32_t i = 1; i < w->count; i++) {
        struct sample_counter *c = &w->at[i].counter;
        PFR_TRY(counter_pour(c, err));
        if (w->profile->request.shape == PROFILE_SUMS)
            PFR_TRY(sums_join(first, c, err));
        PFR_TRY(profile_tree_merge(first->tree, &c->own_tree, values, first->facts.limited, err));
        add_limited(first, c);
        profile_tree_free(&c->own_tree);
        sums_free(&c->sums);
    }
    return PFR_OK;
}

/* Discards all counts and frames. */
static void forget(struct profile_workers *w) {
    close_workers(w);
    profile_frames_forget(&w->frames);
}

static pfr_status count_by(struct profile_workers *w, uint32_t jobs, pfr_error *err) {
    PFR_TRY(count(w, jobs, err));
    return join(w, err);
}

/* If memory does not suffice for several workers, it may suffice for one, and the result must not depend on the number
   of workers. So all counts and frames are discarded, and one worker counts again. The discarded data must not take
   memory from it: a single worker that counts from the start does not have them either. */
pfr_status workers_count(struct profile_workers *w, struct pick_places *places, pfr_error *err) {
    w->places = places;
    const uint32_t jobs = count_jobs(w);
    if (w->planned < 0 && err)
        *err = w->err;
    PFR_TRY(w->planned);
    pfr_status st = count_by(w, jobs, err);
    if (jobs > 1 && (st == PFR_ERR_LIMIT || (st >= 0 && counter_met_limit(&w->at[0].counter)))) {
        forget(w);
        st = count_by(w, 1, err);
    }
    return st < 0 ? st : values_take_limited(&w->at[0].counter, err);
}

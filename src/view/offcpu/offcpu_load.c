/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the intervals of thread states: see offcpu_parts.h. */
#include "view/offcpu/offcpu_load.h"
#include "view/offcpu/offcpu_rows.h"
#include "view/offcpu/offcpu_cgroups.h"
#include "view/offcpu/offcpu_filter.h"
#include "view/offcpu/offcpu_stacks.h"
#include "model/open/model_command.h"
#include "model/open/model_marks.h"

/* --- Threads. */

static pfr_status add_thread(struct offcpu *o, uint32_t id, uint32_t tid, uint32_t *number, pfr_error *err) {
    void *grown = mem_grow(o->memory, o->threads, o->nr_threads, &o->threads_room, 64, sizeof *o->threads);
    if (!grown)
        return mem_fail(o->memory, err, "threads");
    o->threads = grown;
    struct offcpu_thread *t = &o->threads[o->nr_threads];
    const pfr_model_thread *row = pfr_model_get_thread(o->model, id);
    const pfr_model_process *process = row ? pfr_model_get_process(o->model, row->process) : NULL;
    const bool whole = process && o->options->by == PFR_OFFCPU_BY_PROCESS;
    *t = (struct offcpu_thread){
        .id = id, .tid = whole ? process->pid : tid, .pid = process ? process->pid : tid, .first_cgroup = NO_THREAD};
    const uint32_t comm = whole ? process->comm : id ? pfr_model_comm_at(o->model, id, PFR_NO_TIME) : 0;
    t->comm = comm ? pfr_model_get_comm(o->model, comm) : NULL;
    t->is_wanted = offcpu_wants_thread(o, t);
    *number = (uint32_t)o->nr_threads++;
    return PFR_OK;
}

/* A key for `of_tid` that is not a tid. */
static uint64_t key_of_process(uint32_t process) {
    return (uint64_t)1 << 32 | process;
}

/* Threads that are missing in the model are found by tid. With BY_PROCESS, all threads of a process are combined into
 * one. */
static pfr_status thread_by_key(struct offcpu *o, uint64_t key, uint32_t id, uint32_t tid, uint32_t *number,
                                pfr_error *err) {
    bool is_new;
    uint64_t *at = u64_map_at(&o->of_tid, key, o->nr_threads, &is_new);
    if (!at)
        return mem_fail(o->memory, err, "threads");
    *number = (uint32_t)*at;
    if (is_new)
        PFR_TRY(add_thread(o, id, tid, number, err));
    o->threads[*number].members++;
    return PFR_OK;
}

static pfr_status make_thread(struct offcpu *o, uint32_t id, uint32_t tid, uint32_t *number, pfr_error *err) {
    if (o->options->by == PFR_OFFCPU_BY_PROCESS)
        return thread_by_key(o, key_of_process(pfr_model_get_thread(o->model, id)->process), id, tid, number, err);
    PFR_TRY(add_thread(o, id, tid, number, err));
    o->threads[*number].members++;
    return PFR_OK;
}

static pfr_status thread_of_id(struct offcpu *o, uint32_t id, uint32_t tid, uint32_t *number, pfr_error *err) {
    if (!id)
        return thread_by_key(o, tid, 0, tid, number, err);
    *number = o->of_id[id] - 1;
    if (o->of_id[id])
        return PFR_OK;
    PFR_TRY(make_thread(o, id, tid, number, err));
    o->of_id[id] = *number + 1;
    return PFR_OK;
}

/* Finds the thread for a life of a tid: the one that existed at `time`. */
static pfr_status thread_of_life(struct offcpu *o, uint32_t life, uint32_t tid, uint64_t time, uint32_t *number,
                                 pfr_error *err) {
    if (life >= o->lives_room) {
        void *grown = mem_grow_zeroed(o->memory, o->of_life, life, &o->lives_room, 64, sizeof *o->of_life);
        if (!grown)
            return mem_fail(o->memory, err, "threads");
        o->of_life = grown;
    }
    o->lives = life >= o->lives ? (size_t)life + 1 : o->lives;
    *number = o->of_life[life] - 1;
    if (o->of_life[life])
        return PFR_OK;
    PFR_TRY(thread_of_id(o, thread_index_find(&o->index, tid, time), tid, number, err));
    o->of_life[life] = *number + 1;
    return PFR_OK;
}

/* --- Sums. */

uint32_t offcpu_stack_of(const struct offcpu *o, uint32_t sample) {
    (void)o;
    return sample ? sample - 1 : 0;
}

static enum offcpu_state state_of(const struct thread_interval *i) {
    static const enum offcpu_state states[] = {[THREAD_RUNNING] = OFFCPU_RUNNING,
                                               [THREAD_PREEMPTED] = OFFCPU_RUNNABLE,
                                               [THREAD_WOKEN] = OFFCPU_RUNNABLE,
                                               [THREAD_BLOCKED] = OFFCPU_BLOCKED,
                                               [THREAD_UNKNOWN] = OFFCPU_UNKNOWN};
    return states[i->state];
}

static void add_to_thread(struct offcpu_thread *t, const struct thread_interval *i, const struct offcpu_key *key,
                          uint64_t ns) {
    t->state[key->state] += ns;
    if (key->state == OFFCPU_BLOCKED)
        t->blocked[key->reason] += ns;
    t->preempted += i->state == THREAD_PREEMPTED ? ns : 0;
    const bool waits = key->state == OFFCPU_RUNNABLE || key->state == OFFCPU_BLOCKED;
    t->ended += waits && !i->open_start && !i->open_end ? ns : 0;
}

/* Intervals like `i` count for its thread, process or cgroup. */
static pfr_status add_sum(struct offcpu *o, const struct thread_interval *i, const struct offcpu_sum *sum,
                          struct offcpu_sum_row *row, pfr_error *err) {
    add_to_thread(&o->threads[row->key.thread], i, &row->key, sum->ns);
    row->sum = *sum;
    return offcpu_sums_add(&o->sums, err);
}

static pfr_status add_interval(struct offcpu *o, const struct thread_interval *i, struct offcpu_sum_row *row,
                               pfr_error *err) {
    const uint64_t ns = i->end - i->start;
    return add_sum(o, i, &(struct offcpu_sum){.ns = ns, .max = ns, .count = 1}, row, err);
}

/* Finds the thread that ended a wait, if a thread ended it. */
static pfr_status find_waker(struct offcpu *o, const struct thread_interval *i, struct offcpu_key *key,
                             pfr_error *err) {
    const uint32_t stack = offcpu_stack_of(o, i->waker_sample);
    const enum waker_kind kind = offcpu_waker_kind(o, i, stack);
    key->waker = NO_THREAD;
    key->waker_kind = (uint8_t)kind;
    if (kind != WAKER_THREAD || i->waker == SCHED_NOBODY || i->waker == 0)
        return PFR_OK;
    key->waker_stack = stack;
    return thread_of_life(o, i->waker_life, i->waker, i->end, &key->waker, err);
}

static pfr_status keep_interval(struct offcpu *o, const struct thread_interval *i, pfr_error *err) {
    void *grown = mem_grow(o->memory, o->intervals, o->nr_intervals, &o->intervals_room, 256, sizeof *o->intervals);
    if (!grown)
        return mem_fail(o->memory, err, "intervals");
    o->intervals = grown;
    o->intervals[o->nr_intervals++] = *i;
    return PFR_OK;
}

static bool has_function(struct offcpu *o, const struct offcpu_key *key) {
    return !o->options->function || (key->stack && offcpu_stack_matches(o, key->stack));
}

/* Fills in the stack and, for a blocked thread, how the wait ended. */
static pfr_status learn_wait(struct offcpu *o, const struct thread_interval *i, struct offcpu_key *key,
                             pfr_error *err) {
    key->state = (uint8_t)state_of(i);
    key->stack = offcpu_stack_of(o, i->sample);
    if (key->state != OFFCPU_BLOCKED)
        return PFR_OK;
    PFR_TRY(find_waker(o, i, key, err));
    key->address = i->address;
    key->reason = (uint8_t)offcpu_reason(o, i, key->stack, offcpu_stack_of(o, i->waker_sample));
    return o->options->view == PFR_OFFCPU_LOCKS && key->reason == WAIT_LOCK && has_function(o, key)
               ? keep_interval(o, i, err)
               : PFR_OK;
}

/* Returns the part of the interval that counts: the interval itself, or a shortened copy in *room; NULL: no part
   counts. An interval is copied only if it may be shortened: it was just written, and a copy would wait for these
   writes. */
static const struct thread_interval *clip(const struct offcpu *o, const struct thread_interval *i,
                                          struct thread_interval *room) {
    if (o->filter.times.any)
        return i->end - i->start >= o->least ? i : NULL;
    *room = *i;
    return offcpu_clip(o, room) ? room : NULL;
}

static pfr_status take(void *context, const struct thread_interval *interval, pfr_error *err) {
    struct offcpu *o = context;
    struct thread_interval room;
    struct offcpu_sum_row *row = offcpu_sums_next(&o->sums);
    struct offcpu_key *key = &row->key;
    uint32_t thread;
    PFR_TRY(thread_of_life(o, interval->life, interval->tid, interval->start, &thread, err));
    o->threads[thread].intervals++;
    if (o->options->view == PFR_OFFCPU_WAKERS)
        PFR_TRY(keep_interval(o, interval, err));
    const struct thread_interval *i = o->threads[thread].is_wanted ? clip(o, interval, &room) : NULL;
    if (!i)
        return PFR_OK;
    PFR_TRY(offcpu_cgroups_entry(o, interval, &thread, err));
    key->thread = thread;
    key->waker = NO_THREAD;
    PFR_TRY(learn_wait(o, i, key, err));
    return has_function(o, key) ? add_interval(o, i, row, err) : PFR_OK;
}

/* --- Intervals while the model is made. */

#define SHARE 40u /* percent of the memory left; profile_workers.c takes the rest, so that it finds what it needs */

static pfr_status take_early(void *context, const struct thread_interval *interval, pfr_error *err) {
    struct offcpu *o = context;
    struct thread_interval room;
    return offcpu_classes_add(&o->classes, interval, clip(o, interval, &room), err);
}

/* Samples have numbers of stacks; now that the model is made, these stacks have ids. */
static uint32_t stack_of_number(const struct offcpu *o, uint32_t number) {
    return number ? o->model->columns.stack[number - 1] + 1 : 0;
}

/* As `take`, for all intervals of a class. */
static pfr_status take_class(struct offcpu *o, uint32_t number, pfr_error *err) {
    const struct offcpu_class *of = &o->classes.at[number];
    struct thread_interval i = offcpu_classes_get(&o->classes, number);
    i.sample = stack_of_number(o, i.sample);
    i.waker_sample = stack_of_number(o, i.waker_sample);
    struct offcpu_sum_row *row = offcpu_sums_next(&o->sums);
    uint32_t thread;
    PFR_TRY(thread_of_life(o, i.life, i.tid, i.start, &thread, err));
    o->threads[thread].intervals += of->count;
    if (!o->threads[thread].is_wanted || i.state == THREAD_UNSEEN)
        return PFR_OK;
    row->key.thread = thread;
    row->key.waker = NO_THREAD;
    PFR_TRY(learn_wait(o, &i, &row->key, err));
    const struct offcpu_sum sum = {.ns = of->ns, .max = of->max, .count = of->count};
    return has_function(o, &row->key) ? add_sum(o, &i, &sum, row, err) : PFR_OK;
}

static pfr_status on_begin(void *context, pfr_error *err) {
    struct offcpu *o = context;
    o->walk = (struct sched_walk){.each = take_early, .context = o};
    memory_share(&o->share, o->memory);
    o->share.limit = (o->memory->limit - o->memory->used) / 100 * SHARE;
    return sched_walk_begin(&o->walking, &o->walk, o->reader, &o->share, err);
}

static pfr_status on_sample(void *context, const struct profile_row *row, uint32_t stack, pfr_error *err) {
    return sched_walk_sample(((struct offcpu *)context)->walking, row, stack + 1, err);
}

static pfr_status on_other(void *context, const pfr_record *rec, pfr_error *err) {
    return sched_walk_record(((struct offcpu *)context)->walking, rec, err);
}

struct model_watch offcpu_watch(struct offcpu *o) {
    return (struct model_watch){.begin = on_begin, .sample = on_sample, .other = on_other, .context = o};
}

static pfr_status take_classes(struct offcpu *o, pfr_error *err) {
    for (uint32_t i = 0; i < o->classes.count; i++)
        PFR_TRY(take_class(o, i, err));
    offcpu_classes_free(&o->classes);
    return PFR_OK;
}

/* --- Intervals in a pass of their own. */

static pfr_status other(void *context, const pfr_record *rec, const pfr_error *hole, pfr_error *err) {
    return model_mark(((struct offcpu *)context)->model, rec, hole, err);
}

/* Called when events arrived too late to be sorted: everything is counted again. */
static void restart(void *context) {
    struct offcpu *o = context;
    offcpu_sums_free(&o->sums);
    model_marks_restart(o->model);
    o->nr_intervals = 0;
    o->nr_threads = o->lives = 0;
    memset(o->of_id, 0, o->of_id_room * sizeof *o->of_id);
    if (o->of_life)
        memset(o->of_life, 0, o->lives_room * sizeof *o->of_life);
    u64_map_free(&o->of_tid);
    u64_map_init(&o->of_tid, o->memory);
    u64_map_free(&o->in_cgroup);
    u64_map_init(&o->in_cgroup, o->memory);
}

/* --- Threads that slept all the time: no event mentions them. */

static bool lives_in(const struct offcpu *o, const pfr_model_thread *t, struct thread_interval *i) {
    const uint64_t start = t->start == PFR_NO_TIME || t->start < o->walk.begin ? o->walk.begin : t->start;
    const uint64_t end = t->end == PFR_NO_TIME || t->end > o->walk.end ? o->walk.end : t->end;
    *i = (struct thread_interval){.start = start,
                                  .end = end,
                                  .tid = t->tid,
                                  .state = THREAD_BLOCKED,
                                  .syscall = NO_SYSCALL,
                                  .waker = SCHED_NOBODY,
                                  .open_start = t->start == PFR_NO_TIME,
                                  .open_end = t->end == PFR_NO_TIME};
    return t->tid != 0 && t->tid != SCHED_NOBODY && start < end;
}

static pfr_status add_sleepers(struct offcpu *o, pfr_error *err) {
    for (uint32_t id = 1; id <= o->model->threads.count; id++) {
        struct thread_interval i;
        struct offcpu_sum_row *sum = offcpu_sums_next(&o->sums);
        sum->key = (struct offcpu_key){.waker = NO_THREAD, .state = OFFCPU_BLOCKED, .reason = WAIT_OTHER};
        const pfr_model_thread *row = pfr_model_get_thread(o->model, id);
        const bool seen = o->of_id[id] && o->threads[o->of_id[id] - 1].intervals;
        if (seen || !lives_in(o, row, &i) || o->options->view == PFR_OFFCPU_WAKERS)
            continue;
        PFR_TRY(thread_of_id(o, id, row->tid, &sum->key.thread, err));
        if (!o->threads[sum->key.thread].is_wanted || o->options->function || !offcpu_clip(o, &i))
            continue;
        PFR_TRY(add_interval(o, &i, sum, err));
    }
    return PFR_OK;
}

/* --- Threads of the recorded command and its descendants. */

static pfr_status mark_command(struct offcpu *o, pfr_error *err) {
    uint8_t *marks;
    PFR_TRY(model_command_marks(o->model, o->memory, &marks, err));
    for (size_t i = 0; marks && i < o->nr_threads; i++) {
        struct offcpu_thread *t = &o->threads[i];
        const pfr_model_thread *row = pfr_model_get_thread(o->model, t->id);
        t->is_commands = row && !t->cgroup && marks[row->process];
        o->nr_commands += t->is_commands && t->is_wanted;
    }
    model_command_free(o->model, o->memory, marks);
    return PFR_OK;
}

/* --- */

static pfr_status open_tables(struct offcpu *o, pfr_error *err) {
    o->of_id_room = (size_t)o->model->threads.count + 1;
    o->nr_stacks = (size_t)o->model->stacks.count + 1;
    o->of_id = mem_zeroed(o->memory, o->of_id_room, sizeof *o->of_id);
    o->stacks = mem_zeroed(o->memory, o->nr_stacks, sizeof *o->stacks);
    if (!o->of_id || !o->stacks)
        return mem_fail(o->memory, err, "waits");
    return thread_index_open(&o->index, o->model, err);
}

static pfr_status walk_alone(struct offcpu *o, pfr_error *err) {
    o->walk = (struct sched_walk){.each = take};
    o->walk.restart = restart;
    o->walk.other = other;
    o->walk.context = o;
    o->walk.stacks_of = o->model->columns.stack;
    o->walk.nr_stacks = o->model->columns.count;
    PFR_TRY(sched_walk(&o->walk, o->reader, o->memory, err));
    if (!o->no_numbers && o->walk.samples != o->model->columns.count) {
        o->no_numbers = true; /* samples and stacks cannot be matched; no stacks are better than wrong ones */
        o->walk.nr_stacks = 0;
        restart(o);
        PFR_TRY(sched_walk(&o->walk, o->reader, o->memory, err));
    }
    return PFR_OK;
}

pfr_status offcpu_load(struct offcpu *o, bool is_watched, pfr_error *err) {
    PFR_TRY(open_tables(o, err));
    PFR_TRY(is_watched ? take_classes(o, err) : walk_alone(o, err));
    PFR_TRY(add_sleepers(o, err));
    PFR_TRY(offcpu_cgroups_settle(o, err));
    PFR_TRY(offcpu_sums_settle(&o->sums, err));
    return mark_command(o, err);
}

void offcpu_free(struct offcpu *o) {
    offcpu_classes_free(&o->classes);
    mem_free(o->memory, o->threads, o->threads_room, sizeof *o->threads);
    mem_free(o->memory, o->of_id, o->of_id_room, sizeof *o->of_id);
    mem_free(o->memory, o->of_life, o->lives_room, sizeof *o->of_life);
    mem_free(o->memory, o->stacks, o->nr_stacks, sizeof *o->stacks);
    mem_free(o->memory, o->intervals, o->intervals_room, sizeof *o->intervals);
    mem_free(o->memory, o->thread_order, o->nr_threads, sizeof *o->thread_order);
    u64_map_free(&o->of_tid);
    u64_map_free(&o->in_cgroup);
    u64_map_free(&o->frame_texts);
    u64_map_free(&o->chain_texts);
    offcpu_sums_free(&o->sums);
    thread_index_close(&o->index);
    sample_filter_free(&o->filter);
    pfr_model_close(o->model);
}

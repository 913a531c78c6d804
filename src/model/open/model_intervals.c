/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of threads as rows, from one pass over the scheduler's records (model/sched). A thread that is in no such
 * record slept all the time and has one interval.
 */
#include "model/open/model_intervals.h"
#include "model/open/model_marks.h"
#include "model/open/model_threads.h"
#include "model/open/thread_index.h"
#include "model/open/wait_stacks.h"
#include "model/sched/sched_walk.h"
#include "model/open/model_tables.h"

struct intervals {
    struct pfr_model *model;
    struct sched_walk walk;
    struct thread_index index;
    struct u64_map process_of; /* pid -> id of its last process; made on first use */
    bool knows_processes;
    uint32_t *of_life; /* thread id + 1 by life */
    size_t lives_room;
    uint8_t *seen; /* by thread id */
    size_t seen_room;
    struct wait_stack *stacks; /* by stack id, computed on first use; NULL: no interval yet */
    char machine[WAIT_MACHINE_ROOM];
    bool no_numbers;
};

/* --- Threads. */

static pfr_status learn_processes(struct intervals *v, pfr_error *err) {
    if (v->knows_processes)
        return PFR_OK;
    v->knows_processes = true;
    for (uint32_t id = 1; id <= v->model->processes.count; id++)
        PFR_TRY(u64_map_put(&v->process_of, pfr_model_get_process(v->model, id)->pid, id, err));
    return PFR_OK;
}

/* A thread may be only in the scheduler's records, which have no more than its tid. */
static pfr_status find_thread(struct intervals *v, uint32_t tid, uint64_t time, uint32_t *id, pfr_error *err) {
    *id = thread_index_find(&v->index, tid, time);
    if (*id || tid == SCHED_NOBODY || tid == 0)
        return PFR_OK;
    PFR_TRY(learn_processes(v, err));
    PFR_TRY(model_add_thread(v->model, tid, &v->process_of, id, err));
    return thread_index_add(&v->index, tid, *id, err);
}

static pfr_status note_seen(struct intervals *v, uint32_t id, pfr_error *err) {
    if (id >= v->seen_room) {
        void *grown = mem_grow_zeroed(v->model->memory, v->seen, v->model->threads.count, &v->seen_room, 64, 1);
        if (!grown)
            return mem_fail(v->model->memory, err, "intervals");
        v->seen = grown;
    }
    v->seen[id] = 1;
    return PFR_OK;
}

static pfr_status thread_of(struct intervals *v, uint32_t life, uint32_t tid, uint64_t time, uint32_t *id,
                            pfr_error *err) {
    if (life >= v->lives_room) {
        void *grown = mem_grow_zeroed(v->model->memory, v->of_life, life, &v->lives_room, 64, sizeof *v->of_life);
        if (!grown)
            return mem_fail(v->model->memory, err, "intervals");
        v->of_life = grown;
    }
    if (!v->of_life[life]) {
        PFR_TRY(find_thread(v, tid, time, id, err));
        v->of_life[life] = *id + 1;
    }
    *id = v->of_life[life] - 1;
    return PFR_OK;
}

/* --- Reasons. */

static uint32_t stack_of(const struct intervals *v, uint32_t sample) {
    const struct sample_columns *c = &v->model->columns;
    return sample && !v->no_numbers && sample <= c->count ? c->stack[sample - 1] : 0;
}

/* Most recordings have no intervals, and then the table of facts is not made. */
static pfr_status room_for_facts(struct intervals *v, pfr_error *err) {
    struct memory *const memory = v->model->memory;
    if (!v->stacks)
        v->stacks = mem_zeroed(memory, (size_t)v->model->stacks.count + 1, sizeof *v->stacks);
    return v->stacks ? PFR_OK : mem_fail(memory, err, "intervals");
}

static const struct wait_stack *facts_of(struct intervals *v, uint32_t stack) {
    struct wait_stack *fact = &v->stacks[stack];
    if (!fact->done)
        wait_stack_learn(v->model, stack, fact);
    return fact;
}

static pfr_wait_reason reason_of(struct intervals *v, const struct thread_interval *i, uint32_t stack) {
    const struct wait_stack *waker = facts_of(v, stack_of(v, i->waker_sample));
    const enum wait_reason reason = wait_stack_reason(i, facts_of(v, stack), waker, v->machine);
    return (pfr_wait_reason)(PFR_WAIT_OTHER + reason); /* both enumerations have the same order */
}

/* --- Rows. */

static pfr_interval_kind kind_of(const struct thread_interval *i) {
    static const pfr_interval_kind kinds[] = {[THREAD_RUNNING] = PFR_INTERVAL_RUNNING,
                                              [THREAD_PREEMPTED] = PFR_INTERVAL_PREEMPTED,
                                              [THREAD_WOKEN] = PFR_INTERVAL_WOKEN,
                                              [THREAD_BLOCKED] = PFR_INTERVAL_WAITING,
                                              [THREAD_UNKNOWN] = PFR_INTERVAL_UNKNOWN};
    return kinds[i->state];
}

/* A waker that was merely interrupted is left out. */
static pfr_status put_waker(struct intervals *v, const struct thread_interval *i, pfr_interval *row, pfr_error *err) {
    const uint32_t stack = stack_of(v, i->waker_sample);
    if (wait_stack_waker(i, facts_of(v, stack)) != WAKER_THREAD || i->waker == SCHED_NOBODY || i->waker == 0)
        return PFR_OK;
    row->waker_stack = stack;
    return thread_of(v, i->waker_life, i->waker, i->end, &row->waker, err);
}

static pfr_status take(void *context, const struct thread_interval *i, pfr_error *err) {
    struct intervals *v = context;
    struct pfr_model *m = v->model;
    pfr_interval row = {.start = i->start,
                        .duration = i->end - i->start,
                        .stack = stack_of(v, i->sample),
                        .cpu = i->cpu == SCHED_NO_CPU ? PFR_NO_CPU : i->cpu,
                        .kind = kind_of(i),
                        .open_start = i->open_start,
                        .open_end = i->open_end};
    uint32_t number;
    PFR_TRY(room_for_facts(v, err));
    PFR_TRY(thread_of(v, i->life, i->tid, i->start, &row.thread, err));
    PFR_TRY(put_waker(v, i, &row, err));
    if (row.kind == PFR_INTERVAL_WAITING)
        row.reason = reason_of(v, i, row.stack);
    if (!row.thread)
        return PFR_OK; /* an idle CPU, or a thread without a number */
    PFR_TRY(note_seen(v, row.thread, err));
    return rows_add(m, &m->intervals, &row, sizeof row, &number, "intervals", err);
}

static pfr_status other(void *context, const pfr_record *rec, const pfr_error *hole, pfr_error *err) {
    return model_mark(((struct intervals *)context)->model, rec, hole, err);
}

static void restart(void *context) {
    struct intervals *v = context;
    model_marks_restart(v->model);
    v->model->intervals.count = 0;
    if (v->seen)
        memset(v->seen, 0, v->seen_room);
    if (v->of_life)
        memset(v->of_life, 0, v->lives_room * sizeof *v->of_life);
}

static pfr_status add_sleepers(struct intervals *v, pfr_error *err) {
    struct pfr_model *m = v->model;
    for (uint32_t id = 1; id <= m->threads.count; id++) {
        const pfr_model_thread *t = pfr_model_get_thread(m, id);
        const uint64_t begin = v->walk.begin, end = v->walk.end;
        const uint64_t start = t->start == PFR_NO_TIME || t->start < begin ? begin : t->start;
        const uint64_t until = t->end == PFR_NO_TIME || t->end > end ? end : t->end;
        uint32_t number;
        if ((id < v->seen_room && v->seen[id]) || t->tid == 0 || t->tid == SCHED_NOBODY || start >= until)
            continue;
        const pfr_interval row = {.start = start,
                                  .duration = until - start,
                                  .thread = id,
                                  .cpu = PFR_NO_CPU,
                                  .kind = PFR_INTERVAL_WAITING,
                                  .reason = PFR_WAIT_OTHER,
                                  .open_start = t->start == PFR_NO_TIME,
                                  .open_end = t->end == PFR_NO_TIME};
        PFR_TRY(rows_add(m, &m->intervals, &row, sizeof row, &number, "intervals", err));
    }
    return PFR_OK;
}

/* --- */

static pfr_status walk(struct intervals *v, pfr_error *err) {
    struct pfr_model *m = v->model;
    PFR_TRY(sched_walk(&v->walk, m->reader, m->memory, err));
    if (!v->walk.switches && !v->walk.records && !v->walk.away)
        return model_make_marks(m, err);       /* there was no walk */
    if (v->walk.samples != m->columns.count) { /* samples cannot be matched by number */
        v->no_numbers = true;
        restart(v);
        PFR_TRY(sched_walk(&v->walk, m->reader, m->memory, err));
    }
    m->facts.sampled_states = v->walk.sampled;
    m->facts.unknown_states = v->walk.counts.unknown;
    PFR_TRY(add_sleepers(v, err));
    model_sort_intervals(m);
    return PFR_OK;
}

pfr_status model_make_intervals(struct pfr_model *m, pfr_error *err) {
    const size_t stacks = (size_t)m->stacks.count + 1;
    struct intervals v = {.model = m, .walk = {.each = take, .restart = restart, .other = other, .context = &v}};
    pfr_status st = thread_index_open(&v.index, m, err);
    u64_map_init(&v.process_of, m->memory);
    wait_machine_learn(m->reader, v.machine);
    if (st >= 0)
        st = walk(&v, err);
    mem_free(m->memory, v.seen, v.seen_room, sizeof *v.seen);
    mem_free(m->memory, v.stacks, stacks, sizeof *v.stacks);
    mem_free(m->memory, v.of_life, v.lives_room, sizeof *v.of_life);
    u64_map_free(&v.process_of);
    thread_index_close(&v.index);
    return st;
}

const char *pfr_wait_reason_name(pfr_wait_reason reason) {
    return reason > PFR_WAIT_NONE && reason < PFR_WAIT_OTHER + WAIT_REASONS
               ? wait_reason_name((enum wait_reason)(reason - PFR_WAIT_OTHER))
               : "";
}

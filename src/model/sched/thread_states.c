/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state machine per thread. Each event ends the state of one or two threads and begins another. If an event is not
 * possible in the current state, events are missing, and the time in between is unknown.
 */
#include "model/sched/thread_states.h"

#include <string.h>

#define CPUS_MOST 65536u

void thread_states_init(struct thread_states *all, struct memory *memory, uint64_t begin,
                        const struct sched_sources *sources) {
    *all = (struct thread_states){.memory = memory,
                                  .begin = begin,
                                  .wakings = sources->wakings,
                                  .records = sources->records,
                                  .tracepoints = sources->switches};
    u64_map_init(&all->of, memory);
    u64_map_init(&all->outer, memory);
}

void thread_states_free(struct thread_states *all) {
    u64_map_free(&all->of);
    u64_map_free(&all->outer);
    mem_free(all->memory, all->threads, all->room, sizeof *all->threads);
    mem_free(all->memory, all->cpus, all->cpus_room, sizeof *all->cpus);
    *all = (struct thread_states){.memory = all->memory};
}

/* --- Threads and cpus. */

static struct sched_cpu *cpu_at(struct thread_states *all, uint32_t cpu) {
    if (cpu >= CPUS_MOST)
        return NULL;
    if (cpu >= all->nr_cpus) {
        void *grown = mem_grow_zeroed(all->memory, all->cpus, cpu, &all->cpus_room, 16, sizeof *all->cpus);
        if (!grown)
            return NULL;
        all->cpus = grown;
        all->nr_cpus = (size_t)cpu + 1;
    }
    return &all->cpus[cpu];
}

static void begin_life(struct thread_states *all, struct sched_thread *t, uint32_t tid, uint64_t since) {
    *t = (struct sched_thread){.tid = tid,
                               .shown = tid,
                               .life = all->lives++,
                               .since = since,
                               .cpu = SCHED_NO_CPU,
                               .waker = SCHED_NOBODY,
                               .syscall = NO_SYSCALL,
                               .losses = all->counts.losses,
                               .open_start = since == all->begin};
}

/* Finds a thread; a new one begins with the recording. Adding a thread invalidates pointers to threads. */
static pfr_status thread_of(struct thread_states *all, uint32_t tid, struct sched_thread **found, pfr_error *err) {
    struct sched_memo *memo = &all->memos[tid % SCHED_MEMOS];
    bool is_new;
    if (memo->place && memo->tid == tid)
        return *found = &all->threads[memo->place - 1], PFR_OK;
    const uint64_t *place = u64_map_at(&all->of, tid, all->count, &is_new);
    if (!place)
        return mem_fail(all->memory, err, "threads");
    if (is_new) {
        void *grown = mem_grow(all->memory, all->threads, all->count, &all->room, 64, sizeof *all->threads);
        if (!grown)
            return mem_fail(all->memory, err, "threads");
        all->threads = grown;
        begin_life(all, &all->threads[all->count++], tid, all->begin);
    }
    *found = &all->threads[*place];
    *memo = (struct sched_memo){tid, (uint32_t)*place + 1};
    return PFR_OK;
}

static void count_contradiction(struct thread_states *all, uint32_t number) {
    struct sched_cpu *cpu = cpu_at(all, number);
    all->counts.contradictions++;
    if (cpu)
        cpu->contradictions++;
}

/* --- Intervals. */

/* Whether lost records may have changed the thread's state. While it ran, only records of its own CPU matter, because
   they would contain the switch that ended the state. */
static bool is_lossy(const struct thread_states *all, const struct sched_thread *t, enum thread_state state) {
    if (t->losses == all->counts.losses)
        return false;
    const bool ran_elsewhere = state == THREAD_RUNNING && t->cpu < all->nr_cpus;
    return !ran_elsewhere || all->cpus[t->cpu].losses != t->cpu_losses;
}

static pfr_status give(struct thread_states *all, const struct sched_thread *t, uint64_t end, enum thread_state state,
                       bool open_end, pfr_error *err) {
    if (end <= t->since)
        return PFR_OK;
    if (is_lossy(all, t, state))
        state = THREAD_UNKNOWN;
    const bool left = state != THREAD_RUNNING && state != THREAD_UNKNOWN, woken = left && state != THREAD_PREEMPTED;
    const struct thread_interval row = {.start = t->since,
                                        .end = end,
                                        .syscall = left ? t->syscall : NO_SYSCALL,
                                        .address = left ? t->address : 0,
                                        .cgroup = t->cgroup,
                                        .life = t->life,
                                        .tid = t->shown,
                                        .cpu = t->cpu,
                                        .sample = left ? t->sample : 0,
                                        .waker = woken ? t->waker : SCHED_NOBODY,
                                        .waker_life = t->waker_life,
                                        .waker_sample = woken ? t->waker_sample : 0,
                                        .state = (uint8_t)state,
                                        .waker_kind = woken ? t->waker_kind : (uint8_t)WAKER_NONE,
                                        .open_start = t->open_start,
                                        .open_end = open_end};
    if (state == THREAD_UNKNOWN) {
        all->counts.unknown++;
        all->counts.unknown_ns += end - t->since;
    }
    return all->each(all->context, &row, err);
}

/* Ends the current state at `time`, reports it as `was`, and begins `now`. */
static pfr_status change(struct thread_states *all, struct sched_thread *t, uint64_t time, enum thread_state was,
                         enum thread_state now, pfr_error *err) {
    PFR_TRY(give(all, t, time, was, false, err));
    t->since = time;
    t->state = (uint8_t)now;
    t->open_start = false;
    t->losses = all->counts.losses;
    return PFR_OK;
}

static void forget_waker(struct sched_thread *t) {
    t->waker = SCHED_NOBODY;
    t->waker_sample = 0;
    t->waker_kind = WAKER_NONE;
}

/* If samples have cgroup ids, an interval that ends with a sample counts for the sample's cgroup. */
static void note_cgroup(struct sched_thread *t, const struct sched_event *e) {
    if (e->kind != SCHED_ENTER && e->kind != SCHED_ADDRESS && e->value)
        t->cgroup = e->value;
}

/* --- Leaving a cpu and taking one. */

static pfr_status leave(struct thread_states *all, struct sched_thread *t, const struct sched_event *e,
                        enum thread_state was, pfr_error *err) {
    const enum thread_state now = e->left == SCHED_LEFT_DEAD       ? THREAD_DEAD
                                  : e->left == SCHED_LEFT_RUNNABLE ? THREAD_PREEMPTED
                                                                   : THREAD_BLOCKED;
    if (e->cpu != SCHED_NO_CPU)
        t->cpu = e->cpu;
    PFR_TRY(change(all, t, e->time, was, now, err));
    t->sample = e->kind == SCHED_SWITCH || e->kind == SCHED_AWAY ? e->sample : t->stack;
    t->stack = 0;
    forget_waker(t);
    return PFR_OK;
}

static pfr_status enter(struct thread_states *all, struct sched_thread *t, const struct sched_event *e,
                        enum thread_state was, pfr_error *err) {
    struct sched_cpu *cpu = cpu_at(all, e->cpu);
    PFR_TRY(change(all, t, e->time, was, THREAD_RUNNING, err));
    t->cpu = e->cpu;
    t->cpu_losses = cpu ? cpu->losses : 0;
    t->sample = 0;
    return PFR_OK;
}

/* The state of a thread before it got a CPU. */
static enum thread_state before_enter(struct thread_states *all, const struct sched_thread *t, uint32_t cpu) {
    switch (t->state) {
    case THREAD_UNSEEN: /* if all wakings are recorded, it was woken before the recording began */
        return all->wakings && all->wide ? THREAD_WOKEN : THREAD_BLOCKED;
    case THREAD_PREEMPTED:
    case THREAD_WOKEN:
        return t->state;
    case THREAD_BLOCKED: /* if all wakings are recorded, the waking of this thread is missing */
        if (!all->wakings || !all->wide)
            return THREAD_BLOCKED;
        break;
    default:
        break;
    }
    count_contradiction(all, cpu);
    return THREAD_UNKNOWN;
}

/* Handles a sched_switch in which the thread that leaves the CPU is not the thread that got it. */
static pfr_status lose_current(struct thread_states *all, struct sched_cpu *cpu, const struct sched_event *e,
                               pfr_error *err) {
    struct sched_thread *t;
    count_contradiction(all, e->cpu);
    if (cpu->current == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, cpu->current, &t, err));
    return t->state == THREAD_RUNNING && t->cpu == e->cpu ? change(all, t, e->time, THREAD_UNKNOWN, THREAD_UNKNOWN, err)
                                                          : PFR_OK;
}

/* Learns tids in a pid namespace, where tracepoints have other tids than samples and all other records. */
static pfr_status learn_namespace(struct thread_states *all, struct sched_thread *t, const struct sched_event *e,
                                  pfr_error *err) {
    if (e->own == e->tid || e->own == 0 || e->own == SCHED_NOBODY)
        return PFR_OK;
    uint64_t place;
    if (t->shown != e->own && u64_map_get(&all->of, e->own, &place) && !all->threads[place].by_tracepoint) {
        struct sched_thread *fork = &all->threads[place]; /* the thread that the FORK began is this one */
        if (t->state == THREAD_UNSEEN && fork->state == THREAD_WOKEN)
            t->since = fork->since;
        fork->state = THREAD_DEAD;
    }
    t->shown = e->own;
    return u64_map_put(&all->outer, e->own, e->tid, err);
}

/* The tid that tracepoints have for a thread. */
static uint32_t outer_tid(const struct thread_states *all, uint32_t tid) {
    uint64_t outer = tid;
    u64_map_get(&all->outer, tid, &outer);
    return (uint32_t)outer;
}

static pfr_status switch_prev(struct thread_states *all, const struct sched_event *e, bool agrees, pfr_error *err) {
    struct sched_thread *t;
    if (e->tid == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, e->tid, &t, err));
    PFR_TRY(learn_namespace(all, t, e, err));
    enum thread_state was = THREAD_RUNNING;
    if (t->state == THREAD_RUNNING ? t->cpu != e->cpu && t->cpu != SCHED_NO_CPU
                                   : t->state != THREAD_UNSEEN || !agrees) {
        count_contradiction(all, e->cpu);
        was = THREAD_UNKNOWN;
    }
    t->by_tracepoint = true;
    note_cgroup(t, e);
    return leave(all, t, e, was, err);
}

/* Whether the thread is recorded. If only some threads are recorded, others occur only as the next or the woken thread,
   and never leave a CPU. */
static bool is_recorded(const struct thread_states *all, uint32_t tid) {
    uint64_t place;
    return all->wide || u64_map_get(&all->of, tid, &place);
}

static pfr_status switch_next(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    if (e->other == 0 || !is_recorded(all, e->other))
        return PFR_OK;
    PFR_TRY(thread_of(all, e->other, &t, err));
    t->by_tracepoint = true;
    return enter(all, t, e, before_enter(all, t, e->cpu), err);
}

static void take_cpu(struct sched_cpu *cpu, const struct sched_event *e) {
    cpu->current = e->other;
    cpu->known = true;
    cpu->to_idle += e->other == 0;
    cpu->from_idle += e->tid == 0;
}

static pfr_status on_switch(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_cpu *cpu = cpu_at(all, e->cpu);
    const bool agrees = !cpu || !cpu->known || cpu->current == e->tid;
    all->counts.switches++;
    all->wide |= e->tid == 0;
    if (!agrees && all->wide)
        PFR_TRY(lose_current(all, cpu, e, err));
    PFR_TRY(switch_prev(all, e, agrees || !all->wide, err));
    PFR_TRY(switch_next(all, e, err));
    if (cpu)
        take_cpu(cpu, e);
    return PFR_OK;
}

/* --- SWITCH records. They are ignored if a sched_switch already reported the same switch. */

static pfr_status on_out(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    all->counts.switches++;
    if (e->tid == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, outer_tid(all, e->tid), &t, err));
    if (t->state == THREAD_RUNNING || t->state == THREAD_UNSEEN)
        return t->by_tracepoint && t->state == THREAD_UNSEEN ? PFR_OK : leave(all, t, e, THREAD_RUNNING, err);
    if (t->by_tracepoint || t->state == THREAD_DEAD)
        return PFR_OK;
    count_contradiction(all, e->cpu);
    return leave(all, t, e, THREAD_UNKNOWN, err);
}

static pfr_status on_in(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    all->counts.switches++;
    if (e->tid == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, outer_tid(all, e->tid), &t, err));
    if (t->state == THREAD_RUNNING && t->by_tracepoint)
        return PFR_OK;
    return enter(all, t, e, before_enter(all, t, e->cpu), err);
}

/* --- Switches without raw bytes: the next sample of a thread shows that it runs again. */

static pfr_status on_seen(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    if (e->tid == 0 || e->tid == SCHED_NOBODY)
        return PFR_OK;
    PFR_TRY(thread_of(all, e->tid, &t, err));
    /* before its first sample it may have run or waited */
    const bool is_known = t->state == THREAD_BLOCKED || t->state == THREAD_WOKEN;
    if (t->state != THREAD_RUNNING)
        PFR_TRY(enter(all, t, e, is_known ? (enum thread_state)t->state : THREAD_UNKNOWN, err));
    note_cgroup(t, e);
    return PFR_OK;
}

static pfr_status on_away(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    all->counts.switches++;
    if (e->tid == 0 || e->tid == SCHED_NOBODY)
        return PFR_OK;
    PFR_TRY(on_seen(all, e, err));
    PFR_TRY(thread_of(all, e->tid, &t, err));
    PFR_TRY(leave(all, t, e, THREAD_RUNNING, err));
    t->state = t->exited ? THREAD_DEAD : t->state; /* its last switch comes after its EXIT */
    return PFR_OK;
}

/* --- Wakers. */

static enum waker_kind waker_kind_of(const struct sched_event *e) {
    if (e->flags & (SCHED_IN_HARDIRQ | SCHED_IN_NMI))
        return WAKER_INTERRUPT;
    if (e->flags & SCHED_IN_SOFTIRQ)
        return WAKER_SOFTIRQ;
    return e->tid == 0 ? WAKER_IDLE : WAKER_THREAD;
}

static pfr_status on_waking(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t, *by = NULL;
    all->counts.wakings++;
    all->wide |= e->tid == 0;
    if (e->other == 0 || !is_recorded(all, e->other))
        return PFR_OK;
    if (e->tid != SCHED_NOBODY)
        PFR_TRY(thread_of(all, outer_tid(all, e->tid), &by, err));
    if (by)
        note_cgroup(by, e);
    const uint32_t life = by ? by->life : 0, shown = by ? by->shown : SCHED_NOBODY;
    PFR_TRY(thread_of(all, e->other, &t, err));
    if (t->state != THREAD_UNSEEN && t->state != THREAD_BLOCKED)
        return PFR_OK; /* the thread was not blocked */
    t->waker = shown;
    t->waker_life = life;
    t->waker_sample = e->sample;
    t->waker_kind = (uint8_t)waker_kind_of(e);
    return change(all, t, e->time, THREAD_BLOCKED, THREAD_WOKEN, err);
}

/* --- Begin and end of threads. */

static pfr_status close_thread(struct thread_states *all, const struct sched_thread *t, uint64_t end, bool open_end,
                               pfr_error *err) {
    const uint64_t until = t->exited && t->exited >= t->since && t->exited < end ? t->exited : end;
    if (t->state == THREAD_DEAD)
        return PFR_OK;
    return t->state == THREAD_UNSEEN ? PFR_OK : give(all, t, until, t->state, open_end && !t->exited, err);
}

static uint64_t cgroup_of(const struct thread_states *all, uint32_t tid) {
    uint64_t place;
    return u64_map_get(&all->of, outer_tid(all, tid), &place) ? all->threads[place].cgroup : 0;
}

/* Begins a new life of a tid, whatever the state of the old one. */
static pfr_status on_fork(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    const uint64_t cgroup = cgroup_of(all, e->tid);
    if (e->time <= all->begin)
        return PFR_OK; /* a thread that existed before the recording */
    PFR_TRY(thread_of(all, outer_tid(all, e->other), &t, err));
    PFR_TRY(close_thread(all, t, e->time, false, err));
    begin_life(all, t, e->other, e->time);
    t->cgroup = cgroup;
    t->state = THREAD_WOKEN;
    return PFR_OK;
}

static pfr_status on_exit_of(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    if (e->time == 0 || e->tid == SCHED_NOBODY || e->tid == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, outer_tid(all, e->tid), &t, err));
    t->exited = e->time;
    if (t->state == THREAD_UNSEEN)
        t->state = THREAD_RUNNING; /* an exiting thread runs; without earlier events it ran since the recording began */
    return PFR_OK;
}

/* --- System calls, stacks, losses. */

static pfr_status on_call(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    struct sched_thread *t;
    if (e->tid == SCHED_NOBODY || e->tid == 0)
        return PFR_OK;
    PFR_TRY(thread_of(all, outer_tid(all, e->tid), &t, err));
    note_cgroup(t, e);
    if (e->kind == SCHED_STACK)
        t->stack = e->sample;
    else if (e->kind == SCHED_ENTER)
        t->syscall = e->value;
    else
        t->address = e->kind == SCHED_ADDRESS ? e->value : 0;
    if (e->kind == SCHED_LEAVE)
        t->syscall = NO_SYSCALL;
    return PFR_OK;
}

static pfr_status on_lost(struct thread_states *all, const struct sched_event *e, pfr_error *err) {
    (void)err;
    all->counts.losses++;
    struct sched_cpu *cpu = cpu_at(all, e->cpu);
    if (cpu) {
        cpu->losses++;
        cpu->known = false;
        return PFR_OK;
    }
    for (size_t i = 0; i < all->nr_cpus; i++) { /* the CPU of the loss is not known */
        all->cpus[i].losses++;
        all->cpus[i].known = false;
    }
    return PFR_OK;
}

/* --- */

typedef pfr_status event_fn(struct thread_states *all, const struct sched_event *event, pfr_error *err);

static event_fn *const functions[] = {
    [SCHED_SWITCH] = on_switch, [SCHED_WAKING] = on_waking, [SCHED_NEW] = on_waking, [SCHED_IN] = on_in,
    [SCHED_OUT] = on_out,       [SCHED_STACK] = on_call,    [SCHED_FORK] = on_fork,  [SCHED_EXIT] = on_exit_of,
    [SCHED_AWAY] = on_away,     [SCHED_SEEN] = on_seen,     [SCHED_ENTER] = on_call, [SCHED_ADDRESS] = on_call,
    [SCHED_LEAVE] = on_call,    [SCHED_LOST] = on_lost,
};

pfr_status thread_states_note(struct thread_states *all, const struct sched_event *event, pfr_error *err) {
    return functions[event->kind](all, event, err);
}

/* Switches to and from the idle task of a CPU alternate. If most switches from it are missing although the recorder
   lost nothing, the kernel dropped them or a filter excluded them. */
static void note_idle_gap(struct sched_idle_gap *gap, const struct sched_cpu *cpu, uint32_t number) {
    if (cpu->losses || cpu->to_idle <= 2 * cpu->from_idle + 1)
        return;
    if (gap->count < SCHED_CPUS_NAMED)
        gap->cpus[gap->count] = number;
    gap->count++;
    gap->to_idle += cpu->to_idle;
    gap->from_idle += cpu->from_idle;
}

static void count_by_cpu(struct thread_states *all) {
    struct sched_counts *c = &all->counts;
    c->most_cpu = SCHED_NO_CPU;
    for (uint32_t i = 0; i < all->nr_cpus; i++) {
        const struct sched_cpu *cpu = &all->cpus[i];
        if (all->wide)
            note_idle_gap(&c->idle_gap, cpu, i);
        if (cpu->contradictions <= c->most_contradictions)
            continue;
        c->most_contradictions = cpu->contradictions;
        c->most_cpu = i;
    }
}

pfr_status thread_states_end(struct thread_states *all, uint64_t end, pfr_error *err) {
    count_by_cpu(all);
    for (size_t i = 0; i < all->count; i++)
        PFR_TRY(close_thread(all, &all->threads[i], end, true, err));
    return PFR_OK;
}

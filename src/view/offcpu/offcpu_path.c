/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --wakers: explains the time of a thread by the events that it waited for. The path is followed backwards from the end
 * of the range. While the thread ran or waited for a cpu, the path stays in this thread. If the thread was blocked
 * until another thread woke it, the path continues in that thread at the time of the wake-up. If no thread ended a wait
 * (timers, disks), the wait is one step. So the steps add up to the whole range.
 */
#include "view/offcpu/offcpu_path.h"
#include "view/offcpu/offcpu_chain.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "view/offcpu/offcpu_rows.h"
#include "view/offcpu/offcpu_filter.h"
#include "view/offcpu/offcpu_load.h"
#include "view/offcpu/offcpu_stacks.h"
#include "view/offcpu/offcpu_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct step {
    uint64_t start, end;
    uint32_t thread, program;
    uint8_t state, reason;
};

struct path {
    struct offcpu *o;
    uint32_t *first, *at; /* intervals of life n, sorted by time: at[first[n]] to at[first[n + 1] - 1] */
    struct step *steps;   /* from the last to the first */
    size_t count, room;
    uint32_t life, thread;
    uint64_t from, until;
};

/* --- Intervals by life. */

static pfr_status index_lives(struct path *p, pfr_error *err) {
    const struct offcpu *o = p->o;
    p->first = mem_zeroed(o->memory, o->lives + 2, sizeof *p->first);
    p->at = mem_alloc(o->memory, o->nr_intervals, sizeof *p->at);
    if (!p->first || !p->at)
        return mem_fail(o->memory, err, "intervals");
    for (size_t i = 0; i < o->nr_intervals; i++)
        p->first[o->intervals[i].life + 2]++;
    for (size_t l = 2; l < o->lives + 2; l++)
        p->first[l] += p->first[l - 1];
    for (size_t i = 0; i < o->nr_intervals; i++)
        p->at[p->first[o->intervals[i].life + 1]++] = (uint32_t)i;
    return PFR_OK;
}

/* Returns the interval of a life that contains or ends at `time`; NULL: there is no such interval. */
static const struct thread_interval *find(const struct path *p, uint32_t life, uint64_t time) {
    uint32_t low = p->first[life], high = p->first[life + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->o->intervals[p->at[middle]].end < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->first[life + 1])
        return NULL;
    const struct thread_interval *i = &p->o->intervals[p->at[low]];
    return i->start < time ? i : NULL;
}

/* --- The end of the path: where the selected thread that waited most ran for the last time. */

/* Whether the thread has a CPU at the end of an interval, of which `part` is selected. The last run may have no
 * interval of its own, if the recording ends when the thread gets a CPU. */
static bool ends_running(const struct thread_interval *i, const struct thread_interval *part) {
    return i->state == THREAD_RUNNING || (i->state != THREAD_UNKNOWN && !i->open_end && part->end == i->end);
}

static bool choose_end(struct path *p) {
    const struct offcpu *o = p->o;
    if (!o->shown)
        return false;
    p->thread = o->thread_order[0];
    for (size_t i = 0; i < o->nr_intervals; i++) {
        const struct thread_interval *at = &o->intervals[i];
        struct thread_interval part = *at;
        if (o->of_life[at->life] != p->thread + 1 || !offcpu_clip(o, &part) || !ends_running(at, &part))
            continue;
        p->until = part.end;
        p->life = at->life;
    }
    p->from =
        o->filter.times.any || !o->filter.times.count ? o->walk.begin : o->filter.times.at[0].first + o->filter.start;
    return p->until > p->from;
}

/* --- Steps. */

static pfr_status add_step(struct path *p, const struct thread_interval *i, uint64_t from, uint64_t until,
                           pfr_error *err) {
    struct offcpu *o = p->o;
    static const enum offcpu_state states[] = {[THREAD_RUNNING] = OFFCPU_RUNNING,
                                               [THREAD_PREEMPTED] = OFFCPU_RUNNABLE,
                                               [THREAD_WOKEN] = OFFCPU_RUNNABLE,
                                               [THREAD_BLOCKED] = OFFCPU_BLOCKED,
                                               [THREAD_UNKNOWN] = OFFCPU_UNKNOWN};
    void *grown = mem_grow(o->memory, p->steps, p->count, &p->room, 64, sizeof *p->steps);
    if (!grown)
        return mem_fail(o->memory, err, "path");
    p->steps = grown;
    const uint32_t stack = offcpu_stack_of(o, i->sample);
    p->steps[p->count++] = (struct step){
        .start = from,
        .end = until,
        .thread = o->of_life[i->life] - 1,
        .program = offcpu_program(o, stack),
        .state = (uint8_t)states[i->state],
        .reason = (uint8_t)(i->state == THREAD_BLOCKED ? offcpu_reason(o, i, stack, offcpu_stack_of(o, i->waker_sample))
                                                       : WAIT_OTHER)};
    return PFR_OK;
}

/* The place of a running thread is not recorded. The place where the thread next leaves the cpu is used instead. */
static uint32_t sample_after(const struct path *p, const struct thread_interval *i) {
    const struct thread_interval *next = find(p, i->life, i->end + 1);
    return next ? next->sample : 0;
}

static bool is_woken_at(struct path *p, const struct thread_interval *i, uint64_t time) {
    struct offcpu *o = p->o;
    if (i->state != THREAD_BLOCKED || i->end != time || i->waker == SCHED_NOBODY || i->waker == 0 ||
        i->waker_life >= o->lives || !o->of_life[i->waker_life])
        return false;
    const struct thread_interval *by = find(p, i->waker_life, time);
    return by && by->state == THREAD_RUNNING &&
           offcpu_waker_kind(o, i, offcpu_stack_of(o, i->waker_sample)) == WAKER_THREAD;
}

static pfr_status follow(struct path *p, pfr_error *err) {
    uint32_t life = p->life, sample = 0;
    uint64_t time = p->until;
    while (time > p->from) {
        const struct thread_interval *i = find(p, life, time);
        if (!i)
            break;
        if (is_woken_at(p, i, time)) { /* the waker was running at this time, so the next step has a length */
            life = i->waker_life;
            sample = i->waker_sample;
            continue;
        }
        struct thread_interval shown = *i;
        if (i->state == THREAD_RUNNING)
            shown.sample = sample ? sample : sample_after(p, i);
        sample = 0;
        const uint64_t from = i->start > p->from ? i->start : p->from;
        PFR_TRY(add_step(p, &shown, from, time, err));
        time = from;
    }
    return PFR_OK;
}

/* --- Output. */

static const char *reason_of(const struct step *s) {
    return s->state == OFFCPU_BLOCKED ? wait_reason_name((enum wait_reason)s->reason) : "";
}

static int compare_kind(const struct step *x, const struct step *y) {
    const uint32_t keys[][2] = {
        {x->thread, y->thread}, {x->state, y->state}, {x->reason, y->reason}, {x->program, y->program}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static int by_kind(const void *a, const void *b) {
    return compare_kind(a, b);
}

static int by_length(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    const uint64_t left = x->end - x->start, right = y->end - y->start;
    if (left != right)
        return left < right ? 1 : -1;
    return x->start != y->start ? (x->start > y->start ? 1 : -1) : compare_kind(x, y);
}

static int by_start(const void *a, const void *b) {
    const struct step *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start ? 1 : -1) : by_length(a, b);
}

static void text_step(const struct path *p, const struct step *s, bool timed, uint64_t all, pfr_output *out) {
    char length[TEXT_TIME_SIZE], at[TEXT_TIME_SIZE] = "", name[128], chain[OFFCPU_CHAIN_ROOM];
    format_duration(length, s->end - s->start);
    format_time(at, s->start - p->from, 6);
    offcpu_thread_text(p->o, out, s->thread, name, sizeof name);
    offcpu_chain(p->o, out, s->program, offcpu_room(out, 56), OFFCPU_FRAMES_MOST, chain);
    if (timed)
        offcpu_printf(out, "%12s %8s  ", at, length);
    else
        offcpu_printf(out, "%8s %3.0f%%  ", length, all ? 100.0 * (double)(s->end - s->start) / (double)all : 0);
    offcpu_printf(out, "%-20s %-8s %-7s %s\n", name, offcpu_state_name((enum offcpu_state)s->state), reason_of(s),
                  chain);
}

/* Merges steps of the same kind into one step with their total time. */
static size_t sum_kinds(struct step *at, size_t count) {
    size_t kept = 0;
    qsort(at, count, sizeof *at, by_kind);
    for (size_t i = 0; i < count; i++) {
        const uint64_t length = at[i].end - at[i].start;
        if (kept && compare_kind(&at[kept - 1], &at[i]) == 0) {
            at[kept - 1].end += length;
            continue;
        }
        at[kept] = at[i];
        at[kept].start = 0;
        at[kept++].end = length;
    }
    qsort(at, kept, sizeof *at, by_length);
    return kept;
}

#define STEPS_SHOWN 20u

static void write_text(struct path *p, pfr_output *out) {
    char name[128], length[TEXT_TIME_SIZE], text[OFFCPU_NOTE_ROOM];
    const uint64_t all = p->until - p->from;
    for (unsigned i = 0; offcpu_note(p->o, i, text); i++)
        offcpu_printf(out, "# %s\n", text);
    offcpu_thread_text(p->o, out, p->thread, name, sizeof name);
    format_duration(length, all);
    offcpu_printf(out, "# critical path of %s, from its end back in time: %s in %zu steps\n#\n", name, length,
                  p->count);
    if (!p->o->walk.wakings)
        offcpu_printf(out, "# the recording has no wakers, so the path stays in this thread\n#\n");
    const size_t most = p->o->options->top ? p->o->options->top : STEPS_SHOWN;
    qsort(p->steps, p->count, sizeof *p->steps, by_length);
    const size_t shown = p->count < most ? p->count : most;
    qsort(p->steps, shown, sizeof *p->steps, by_start);
    offcpu_printf(out,
                  "# the %zu longest steps, in time order\n#      after     time  thread               "
                  "state    reason  where\n",
                  shown);
    for (size_t i = 0; i < shown; i++)
        text_step(p, &p->steps[i], true, all, out);
    const size_t kinds = sum_kinds(p->steps, p->count);
    out_text(&out->out, "\n# all steps by thread, state and place\n");
    for (size_t i = 0; i < kinds && i < most; i++)
        text_step(p, &p->steps[i], false, all, out);
}

static void write_csv(struct path *p, pfr_output *out) {
    out_text(&out->out, "start_ns,ns,comm,pid,tid,state,reason,function\n");
    for (size_t i = p->count; i-- > 0;) {
        const struct step *s = &p->steps[i];
        const struct offcpu_thread *t = &p->o->threads[s->thread];
        const uint32_t symbol = s->program ? pfr_model_get_stack(p->o->model, s->program)->symbol : 0;
        const char *name = symbol ? pfr_model_get_symbol(p->o->model, symbol)->name : NULL;
        offcpu_printf(out, "%" PRIu64 ",%" PRIu64 ",", s->start, s->end - s->start);
        out_csv_field(&out->out, t->comm ? t->comm : "", t->comm ? strlen(t->comm) : 0);
        offcpu_printf(out, ",%" PRIu32 ",%" PRIu32 ",%s,%s,", t->pid, t->tid,
                      offcpu_state_name((enum offcpu_state)s->state), reason_of(s));
        out_csv_field(&out->out, name ? name : "", name ? strlen(name) : 0);
        out_char(&out->out, '\n');
    }
}

static void json_step(const struct path *p, const struct step *s, struct json *j) {
    const struct offcpu_thread *t = &p->o->threads[s->thread];
    const uint32_t symbol = s->program ? pfr_model_get_stack(p->o->model, s->program)->symbol : 0;
    const char *const texts[][2] = {{"comm", t->comm},
                                    {"state", offcpu_state_name((enum offcpu_state)s->state)},
                                    {"reason", s->state == OFFCPU_BLOCKED ? reason_of(s) : NULL},
                                    {"function", symbol ? pfr_model_get_symbol(p->o->model, symbol)->name : NULL}};
    const uint64_t numbers[] = {s->start, s->end - s->start, t->pid, t->tid};
    json_begin_object(j);
    for (size_t i = 0; i < 4; i++) {
        json_key(j, (const char *[]){"start_ns", "ns", "pid", "tid"}[i]);
        json_u64(j, numbers[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        json_key(j, texts[i][0]);
        if (texts[i][1])
            json_text(j, texts[i][1]);
        else
            json_null(j);
    }
    json_end_object(j);
}

static void write_json(struct path *p, pfr_output *out) {
    struct json j = json_on(&out->out, JSON_PRETTY);
    json_begin_object(&j);
    json_key(&j, "version");
    json_u64(&j, 1);
    json_key(&j, "steps");
    json_begin_array(&j);
    for (size_t i = p->count; i-- > 0;)
        json_step(p, &p->steps[i], &j);
    json_end_array(&j);
    json_end_object(&j);
    json_end_line(&j);
}

pfr_status offcpu_write_path(struct offcpu *o, pfr_output *out, pfr_error *err) {
    struct path p = {.o = o};
    pfr_status st = index_lives(&p, err);
    if (st >= 0 && choose_end(&p))
        st = follow(&p, err);
    if (st >= 0 && o->options->format == PFR_OFFCPU_JSON)
        write_json(&p, out);
    else if (st >= 0 && o->options->format == PFR_OFFCPU_CSV)
        write_csv(&p, out);
    else if (st >= 0 && p.count)
        write_text(&p, out);
    mem_free(o->memory, p.first, o->lives + 2, sizeof *p.first);
    mem_free(o->memory, p.at, o->nr_intervals, sizeof *p.at);
    mem_free(o->memory, p.steps, p.room, sizeof *p.steps);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes weights of the samples where threads left their CPUs: the time, runnable or blocked, until the thread ran
 * again. Waits without a sample are summed for each life of a thread. Unknown states have no weight.
 */
#include "model/sched/wait_event.h"

#include "base/memory/capped_sum.h"
#include "file/read/recording.h"
#include "model/profile/result/sample_waits.h"
#include "model/sched/sched_walk.h"
#include "model/state/record_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct wait_making {
    struct sample_waits *waits;
    struct memory *memory;
    bool unordered; /* `waits` is not in file order and must be sorted */
};

/* --- From the walk. */

static bool leaves_cpu(unsigned kind) {
    return kind == SCHED_SWITCH || kind == SCHED_STACK || kind == SCHED_AWAY;
}

/* Numbers the samples that can have weights, from 1. */
static pfr_status take_sample(void *context, const pfr_record *rec, struct sched_event *event, pfr_error *err) {
    struct wait_making *m = context;
    struct sample_waits *w = m->waits;
    event->sample = 0;
    if (!leaves_cpu(event->kind) || w->count >= UINT32_MAX - 1)
        return PFR_OK;
    void *grown = mem_grow(m->memory, w->at, w->count, &w->room, 256, sizeof *w->at);
    if (!grown)
        return mem_fail(m->memory, err, "waits");
    w->at = grown;
    const struct record_key key = key_of(rec, 0);
    const struct sample_wait *last = w->count ? &w->at[w->count - 1] : NULL;
    m->unordered |= last && (last->place > key.offset || (last->place == key.offset && last->inner > key.inner));
    w->at[w->count++] = (struct sample_wait){.place = key.offset, .inner = key.inner};
    event->sample = (uint32_t)w->count;
    return PFR_OK;
}

static pfr_status life_of(struct wait_making *m, const struct thread_interval *i, struct life_waits **life,
                          pfr_error *err) {
    struct sample_waits *w = m->waits;
    if (i->life >= w->lives_room) {
        void *grown = mem_grow_zeroed(m->memory, w->lives, i->life, &w->lives_room, 64, sizeof *w->lives);
        if (!grown)
            return mem_fail(m->memory, err, "waits");
        w->lives = grown;
    }
    w->nr_lives = i->life >= w->nr_lives ? (size_t)i->life + 1 : w->nr_lives;
    *life = &w->lives[i->life];
    if (!(*life)->is_met)
        **life = (struct life_waits){.time = i->start, .tid = i->tid, .is_met = true};
    return PFR_OK;
}

static pfr_status take_interval(void *context, const struct thread_interval *i, pfr_error *err) {
    struct wait_making *m = context;
    struct life_waits *life = NULL;
    const bool waits = i->state == THREAD_PREEMPTED || i->state == THREAD_WOKEN || i->state == THREAD_BLOCKED;
    PFR_TRY(life_of(m, i, &life, err));
    uint64_t *const ns = i->sample ? &m->waits->at[i->sample - 1].ns : &life->ns;
    *ns += waits ? i->end - i->start : 0;
    return PFR_OK;
}

static void restart(void *context) {
    struct wait_making *m = context;
    struct sample_waits *w = m->waits;
    if (w->lives)
        memset(w->lives, 0, w->lives_room * sizeof *w->lives);
    w->nr_lives = w->count = 0;
    m->unordered = false;
}

/* --- Events. */

static const char *find_recorded(const pfr_reader *reader) {
    for (uint32_t i = 0; i < pfr_event_count(reader); i++) {
        const pfr_event *event = pfr_get_event(reader, i);
        if (strcmp(event->name, OFFCPU_TIME) == 0 || strcmp(event->rebuilt, OFFCPU_TIME) == 0)
            return event->name;
    }
    return NULL;
}

static pfr_status show_events(struct wait_making *m, pfr_reader *reader, pfr_error *err) {
    struct sample_waits *w = m->waits;
    struct sched_sources sources;
    PFR_TRY(sched_sources_learn(&sources, reader, m->memory, err));
    w->nr_events = sources.count;
    w->shown = mem_zeroed(m->memory, (size_t)w->nr_events + 1, sizeof *w->shown);
    for (uint32_t i = w->nr_events; w->shown && i-- > 0;) {
        const pfr_event *event = pfr_get_event(reader, i);
        if (!leaves_cpu(sources.of[i].kind) && (i > 0 || w->event > 0))
            continue;
        w->event = i;
        w->shown[i] = *event;
        w->shown[i].name = w->shown[i].rebuilt = OFFCPU_TIME;
        w->shown[i].unit = "ns";
        w->shown[i].scale = 1;
    }
    const bool has_room = w->shown != NULL;
    sched_sources_free(&sources);
    return has_room ? PFR_OK : mem_fail(m->memory, err, "events");
}

/* --- */

static int by_place(const void *a, const void *b) {
    const struct sample_wait *x = a, *y = b;
    if (x->place != y->place)
        return x->place > y->place ? 1 : -1;
    return (x->inner > y->inner) - (x->inner < y->inner);
}

static void report_unknown(const struct sched_counts *counts, void (*note)(void *context, const char *sentence),
                           void *context) {
    char text[200];
    if (!note || !counts->unknown)
        return;
    snprintf(text, sizeof text,
             OFFCPU_TIME " leaves out %" PRIu64 " interval%s of %.3f ms: records were lost or missing in between",
             counts->unknown, counts->unknown == 1 ? "" : "s", (double)counts->unknown_ns / 1e6);
    note(context, text);
}

static pfr_status walk(struct wait_making *m, pfr_reader *reader, void (*note)(void *context, const char *sentence),
                       void *context, pfr_error *err) {
    struct sample_waits *w = m->waits;
    struct sched_walk walk = {.each = take_interval, .restart = restart, .sample = take_sample, .context = m};
    PFR_TRY(sched_walk(&walk, reader, m->memory, err));
    if (!walk.switches && !walk.records && !walk.away)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                        "there is no event '" OFFCPU_TIME "': the recording does not show when threads ran (record "
                        "--off-cpu, or -e sched:sched_switch -g)");
    w->begin = walk.begin;
    w->end = walk.end;
    if (m->unordered)
        qsort(w->at, w->count, sizeof *w->at, by_place);
    report_unknown(&walk.counts, note, context);
    PFR_TRY(show_events(m, reader, err));
    return pfr_rewind(reader, err);
}

pfr_status wait_event_begin(pfr_reader *reader, const char *event, void (*note)(void *context, const char *sentence),
                            void *context, pfr_error *err) {
    const bool is_asked = event && strcmp(event, OFFCPU_TIME) == 0;
    if (!is_asked || reader->trace || reader->stored || reader->waits || find_recorded(reader))
        return PFR_OK;
    struct wait_making m = {.memory = &reader->memory, .waits = mem_zeroed(&reader->memory, 1, sizeof *m.waits)};
    if (!m.waits)
        return mem_fail(&reader->memory, err, "waits");
    m.waits->memory = &reader->memory;
    const pfr_status st = walk(&m, reader, note, context, err);
    if (st >= 0 && !find_recorded(reader))
        reader->waits = m.waits;
    else
        sample_waits_free(m.waits);
    return st;
}

void wait_event_end(pfr_reader *reader) {
    sample_waits_free(reader->waits);
    reader->waits = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a comparison, from recordings to rows: see perfray/diff.h. */
#include "model/diff/diff_parts.h"
#include "base/threads/thread_pool.h"
#include "model/diff/diff_latency.h"
#include "model/diff/diff_likely.h"
#include "model/diff/diff_remarks.h"
#include "model/diff/diff_values.h"
#include "model/diff/diff_blocks.h"
#include "model/diff/diff_series.h"
#include "model/diff/diff_rows.h"
#include "model/open/model_facts.h"

#define ROUNDS_LEAST 100u
#define ROUNDS_MOST 100000u

/* --- The compared event. */

static uint32_t first_event(const pfr_model *m, const char *name) {
    uint32_t first = 0;
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *e = pfr_model_get_event(m, id);
        if (name && model_event_is(m, id, name))
            return id;
        if (!name && e->samples && (!first || (e->is_traced && !pfr_model_get_event(m, first)->is_traced)))
            first = id;
    }
    return first;
}

static pfr_status choose_event(pfr_diff *d, struct diff_series *s, pfr_error *err) {
    if (d->options.by == PFR_DIFF_BY_EVENT && !d->options.event)
        return PFR_OK;
    s->event = first_event(s->run.model, d->options.event);
    const pfr_model_event *e = s->event ? pfr_model_get_event(s->run.model, s->event) : NULL;
    d->is_traced |= e && e->is_traced;
    if (e && e->samples)
        return PFR_OK;
    if (d->options.event && !e)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "%s has no event %s", s->run.name,
                        d->options.event);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "%s has no samples to compare", s->run.name);
}

/* --- The whole comparison. */

static pfr_status take_side(pfr_diff *d, enum diff_side_name name, const pfr_diff_run *runs, uint32_t count,
                            pfr_error *err) {
    struct diff_side *side = &d->sides[name];
    if (!count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "runs", "a side has no recording");
    side->runs = mem_zeroed(&d->memory, count, sizeof *side->runs);
    if (!side->runs)
        return mem_fail(&d->memory, err, "runs");
    side->count = count;
    for (uint32_t i = 0; i < count; i++) {
        side->runs[i].run = runs[i];
        side->runs[i].run.name = runs[i].name ? runs[i].name : "";
        PFR_TRY(choose_event(d, &side->runs[i], err));
    }
    return PFR_OK;
}

/* --- Recordings are read in parallel: they share only the memory count. */

struct series_reading {
    pfr_diff *d;
    pfr_error *errors; /* by task: the base's recordings, then the new side's */
    pfr_status *ends;
};

static bool read_one(void *context, unsigned worker, size_t task) {
    struct series_reading *r = context;
    pfr_diff *d = r->d;
    const enum diff_side_name name = task < d->sides[DIFF_BASE].count ? DIFF_BASE : DIFF_NEW;
    const struct diff_side *side = &d->sides[name];
    struct diff_series *s = &side->runs[name == DIFF_BASE ? task : task - d->sides[DIFF_BASE].count];
    (void)worker;
    r->ends[task] = diff_series_read(d, s, &r->errors[task]);
    if (r->ends[task] >= 0 && side->count == 1)
        r->ends[task] = diff_blocks_draw(d, s, d->options.seed * 2 + name, &r->errors[task]);
    return r->ends[task] >= 0;
}

/* The failure of the first failed recording. Recordings after it may not have been read. */
static pfr_status first_failure(const struct series_reading *r, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++)
        if (r->ends[i] < 0) {
            *err = r->errors[i];
            return r->ends[i];
        }
    return PFR_OK;
}

static pfr_status read_sides(pfr_diff *d, pfr_error *err) {
    const size_t count = (size_t)d->sides[0].count + d->sides[1].count;
    struct series_reading r = {.d = d,
                               .errors = mem_zeroed(&d->memory, count, sizeof *r.errors),
                               .ends = mem_zeroed(&d->memory, count, sizeof *r.ends)};
    pfr_status st = r.errors && r.ends ? PFR_OK : mem_fail(&d->memory, err, "runs");
    if (st >= 0) {
        thread_pool_run(diff_threads(d, count), count, read_one, &r);
        st = first_failure(&r, count, err);
    }
    mem_free(&d->memory, r.errors, count, sizeof *r.errors);
    mem_free(&d->memory, r.ends, count, sizeof *r.ends);
    return st;
}

#define THREADS_MOST 4u

unsigned diff_threads(const pfr_diff *d, size_t tasks) {
    return thread_pool_size(d->options.jobs, THREADS_MOST, THREADS_MOST, 1, tasks);
}

static pfr_status take_options(pfr_diff *d, pfr_error *err) {
    pfr_diff_options *o = &d->options;
    o->rounds = o->rounds ? o->rounds : DIFF_ROUNDS;
    o->seed = o->seed ? o->seed : 1;
    o->least_change = o->least_change == 0 ? DIFF_LEAST_CHANGE : o->least_change;
    if (o->by == PFR_DIFF_BY_EVENT || !(o->least_change > 0))
        o->least_change = 0;
    if (o->by == PFR_DIFF_BY_EVENT && o->per == PFR_DIFF_PER_TOTAL)
        o->per = PFR_DIFF_PER_RUN; /* per run, because events have different units */
    if (o->rounds < ROUNDS_LEAST || o->rounds > ROUNDS_MOST)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "rounds", "rounds are %u to %u", ROUNDS_LEAST,
                        ROUNDS_MOST);
    if ((o->per == PFR_DIFF_PER_EVENT || o->per == PFR_DIFF_PER_CALL) && !o->per_name)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "per", "per event and per call need a name");
    return PFR_OK;
}

static pfr_status compare(pfr_diff *d, const pfr_diff_run *base, uint32_t base_count, const pfr_diff_run *changed,
                          uint32_t changed_count, pfr_error *err) {
    PFR_TRY(take_options(d, err));
    PFR_TRY(take_side(d, DIFF_BASE, base, base_count, err));
    PFR_TRY(take_side(d, DIFF_NEW, changed, changed_count, err));
    PFR_TRY(diff_rows_make(d, err));
    PFR_TRY(read_sides(d, err));
    PFR_TRY(diff_rows_measure(d, err));
    PFR_TRY(diff_latencies_make(d, err));
    PFR_TRY(diff_remarks_make(d, err));
    return diff_likely_find(d, err);
}

/* Programs compiled with an older header pass a shorter struct. */
static pfr_diff_options known_options(const pfr_diff_options *options) {
    pfr_diff_options known = {.size = sizeof known};
    if (options)
        memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
    return known;
}

pfr_diff *pfr_diff_open(const pfr_diff_run *base, uint32_t base_count, const pfr_diff_run *new_runs, uint32_t new_count,
                        const pfr_diff_options *options, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    const pfr_diff_options known = known_options(options);
    const pfr_limits *limits = known.limits;
    const bool says_memory = limits && limits->size >= offsetof(pfr_limits, memory) + sizeof limits->memory;
    struct memory memory;
    memory_init(&memory, known.alloc, says_memory ? limits->memory : 0);
    pfr_diff *d = mem_zeroed(&memory, 1, sizeof *d);
    if (!d) {
        mem_fail(&memory, err, "diff");
        return NULL;
    }
    d->memory = memory;
    d->options = known;
    arena_init(&d->arena, &d->memory);
    intern_init(&d->names, &d->memory);
    if (compare(d, base, base_count, new_runs, new_count, err) >= 0)
        return d;
    pfr_diff_close(d);
    return NULL;
}

static void free_side(pfr_diff *d, struct diff_side *side) {
    for (uint32_t i = 0; i < side->count; i++)
        diff_series_free(d, &side->runs[i]);
    mem_free(&d->memory, side->runs, side->count, sizeof *side->runs);
}

void pfr_diff_close(pfr_diff *d) {
    if (!d)
        return;
    free_side(d, &d->sides[0]);
    free_side(d, &d->sides[1]);
    mem_free(&d->memory, d->keys, d->nr_names, sizeof *d->keys);
    mem_free(&d->memory, d->rows, (size_t)d->nr_names + 1, sizeof *d->rows);
    mem_free(&d->memory, d->name_of, (size_t)d->nr_names + 1, sizeof *d->name_of);
    mem_free(&d->memory, d->remarks, d->remarks_room, sizeof *d->remarks);
    mem_free(&d->memory, d->latencies, d->nr_names, sizeof *d->latencies);
    intern_free(&d->names);
    arena_free(&d->arena);
    struct memory memory = d->memory;
    mem_free(&memory, d, 1, sizeof *d);
}

/* --- Access to the result. */

uint32_t pfr_diff_count(const pfr_diff *d) {
    return d->nr_rows;
}

const pfr_diff_row *pfr_diff_get_row(const pfr_diff *d, uint32_t index) {
    return index < d->nr_rows ? &d->rows[index] : NULL;
}

const char *pfr_diff_remark(const pfr_diff *d, uint32_t index) {
    return index < d->nr_remarks ? d->remarks[index] : NULL;
}

const pfr_diff_latency *pfr_diff_get_latency(const pfr_diff *d, uint32_t index) {
    return index < d->nr_latencies ? &d->latencies[index] : NULL;
}

const char *pfr_diff_verdict_name(pfr_diff_verdict verdict) {
    static const char *const names[] = {"noise", "slower", "faster", "new", "gone"};
    return (unsigned)verdict < sizeof names / sizeof *names ? names[verdict] : "unknown";
}

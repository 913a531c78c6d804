/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons why two sides are less comparable, as sentences. */
#include "model/diff/diff_remarks.h"
#include "model/diff/diff_lacking.h"
#include "model/diff/diff_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SENTENCE_ROOM 1024u

pfr_status diff_remark(pfr_diff *d, pfr_error *err, const char *format, ...) {
    char text[SENTENCE_ROOM], escaped[SENTENCE_ROOM];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        text[0] = '\0';
    const size_t kept = pfr_escape(escaped, sizeof escaped, text, strlen(text));
    char **grown = mem_grow(&d->memory, d->remarks, d->nr_remarks, &d->remarks_room, 8, sizeof *d->remarks);
    if (!grown)
        return mem_fail(&d->memory, err, "remarks");
    d->remarks = grown;
    char *copy = arena_text(&d->arena, escaped, kept);
    if (!copy)
        return mem_fail(&d->memory, err, "remarks");
    d->remarks[d->nr_remarks++] = copy;
    return PFR_OK;
}

/* --- Metadata. */

static const pfr_fact *fact_named(const pfr_fact *(*get)(const pfr_model *, uint32_t), const pfr_model *m,
                                  const char *key) {
    const pfr_fact *fact;
    for (uint32_t i = 0; (fact = get(m, i)) != NULL; i++)
        if (strcmp(fact->key, key) == 0)
            return fact;
    return NULL;
}

static const char *meta_of(const struct diff_series *s, const char *key) {
    const pfr_fact *fact = fact_named(pfr_model_meta, s->run.model, key);
    return fact ? fact->text : "";
}

static const struct {
    const char *key, *name, *consequence;
} metas[] = {
    {"hostname", "machine", "times of two machines differ even if the program is unchanged"},
    {"arch", "architecture", "functions of two architectures are not the same code"},
    {"cpudesc", "processor", "times of two processors differ even if the program is unchanged"},
    {"osrelease", "kernel", "changes in kernel functions may be changes of the kernel"},
};

/* The last recording of a side represents the side. */
static const struct diff_series *last_of(const pfr_diff *d, enum diff_side_name side) {
    return &d->sides[side].runs[d->sides[side].count - 1];
}

static pfr_status compare_metas(pfr_diff *d, pfr_error *err) {
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++) {
        const char *base = meta_of(last_of(d, DIFF_BASE), metas[i].key);
        const char *changed = meta_of(last_of(d, DIFF_NEW), metas[i].key);
        if (*base && *changed && strcmp(base, changed) != 0)
            PFR_TRY(
                diff_remark(d, err, "different %s (%s, %s): %s", metas[i].name, base, changed, metas[i].consequence));
    }
    return PFR_OK;
}

/* --- Events. */

static const char *event_name(const struct diff_series *s) {
    return s->event ? pfr_model_get_event(s->run.model, s->event)->name : "";
}

static pfr_status compare_events(pfr_diff *d, pfr_error *err) {
    const char *first = event_name(&d->sides[DIFF_BASE].runs[0]);
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++) {
            const struct diff_series *s = &d->sides[side].runs[i];
            if (strcmp(event_name(s), first) != 0)
                return diff_remark(d, err,
                                   "different events (%s, %s in %s): they count different things, so shares may differ "
                                   "even if the program is unchanged; choose one with -e",
                                   first, event_name(s), s->run.name);
        }
    return PFR_OK;
}

static pfr_status remark_lacking(void *context, const char *event, const char *without, pfr_error *err) {
    return diff_remark(context, err, "%s has no samples in %s and counts as 0 there", event, without);
}

/* If some recordings of a side lack an event, the side's values vary although the program does not. */
static pfr_status remark_lacking_events(pfr_diff *d, pfr_error *err) {
    struct diff_recordings all = {.count = {d->sides[0].count, d->sides[1].count}};
    if (d->options.by != PFR_DIFF_BY_EVENT || all.count[0] + all.count[1] == 2)
        return PFR_OK;
    pfr_diff_run *const runs = mem_alloc(&d->memory, (size_t)all.count[0] + all.count[1], sizeof *runs);
    if (!runs)
        return mem_fail(&d->memory, err, "remarks");
    for (unsigned side = 0; side < 2; side++) {
        pfr_diff_run *const of = runs + side * all.count[0];
        for (uint32_t i = 0; i < all.count[side]; i++)
            of[i] = d->sides[side].runs[i].run;
        all.runs[side] = of;
    }
    uint32_t more;
    pfr_status st = diff_each_lacking(&all, remark_lacking, d, &more, err);
    if (st >= 0 && more)
        st = diff_remark(d, err, "%" PRIu32 " more events are not in all recordings", more);
    mem_free(&d->memory, runs, (size_t)all.count[0] + all.count[1], sizeof *runs);
    return st;
}

static const pfr_event *attr_of(const struct diff_series *s) {
    return s->run.reader && s->event ? pfr_get_event(s->run.reader, s->event - 1) : NULL;
}

static const char *unwinding_of(const pfr_event *event) {
    const uint64_t types = event->attr.sample_type;
    if (types & PFR_SAMPLE_STACK_USER)
        return "DWARF";
    if (types & PFR_SAMPLE_BRANCH_STACK)
        return "branch records";
    return types & PFR_SAMPLE_CALLCHAIN ? "frame pointers" : "no call chains";
}

static pfr_status compare_attrs(pfr_diff *d, pfr_error *err) {
    const pfr_event *a = attr_of(last_of(d, DIFF_BASE)), *b = attr_of(last_of(d, DIFF_NEW));
    if (!a || !b)
        return PFR_OK;
    if (a->attr.flags.freq != b->attr.flags.freq || a->attr.sample_period != b->attr.sample_period)
        PFR_TRY(diff_remark(d, err,
                            "different sampling (%s %" PRIu64 ", %s %" PRIu64
                            "): shares can be compared, numbers of samples cannot",
                            a->attr.flags.freq ? "frequency" : "period", a->attr.sample_period,
                            b->attr.flags.freq ? "frequency" : "period", b->attr.sample_period));
    if (strcmp(unwinding_of(a), unwinding_of(b)) != 0)
        PFR_TRY(diff_remark(d, err, "different unwinding (%s, %s): values with callees cannot be compared",
                            unwinding_of(a), unwinding_of(b)));
    return PFR_OK;
}

/* --- Losses. */

static pfr_status remark_losses(pfr_diff *d, const struct diff_series *s, pfr_error *err) {
    static const char *const keys[] = {"lost", "lost_samples", "holes", "limited", "lost_calls", "truncated"};
    static const char *const words[] = {"lost records",          "lost samples", "unreadable ranges",
                                        "samples beyond limits", "lost calls",   "truncated bytes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const pfr_fact *fact = fact_named(pfr_model_fact, s->run.model, keys[i]);
        if (fact && fact->value)
            PFR_TRY(diff_remark(d, err, "%s: %" PRIu64 " %s: losses may not be evenly distributed", s->run.name,
                                fact->value, words[i]));
    }
    return PFR_OK;
}

static double named_share(const pfr_diff *d, enum diff_side_name side) {
    double named = 0, all = 0;
    for (uint32_t i = 0; i < d->sides[side].count; i++)
        for (uint32_t row = 0; row < d->nr_names; row++) {
            const double weight = d->sides[side].runs[i].sums[row].weight[DIFF_SELF];
            all += weight;
            named += strcmp(d->keys[row].symbol, "[unknown]") != 0 ? weight : 0;
        }
    return all > 0 ? 100 * named / all : 0;
}

#define NAMED_POINTS 5.0

static pfr_status compare_named(pfr_diff *d, pfr_error *err) {
    const double base = named_share(d, DIFF_BASE), changed = named_share(d, DIFF_NEW);
    if (d->options.by != PFR_DIFF_BY_SYMBOL || fabs(base - changed) < NAMED_POINTS)
        return PFR_OK;
    return diff_remark(d, err,
                       "different share with names (%.1f %%, %.1f %%): functions may seem new or gone because only one "
                       "side names them; see perfray symbols",
                       base, changed);
}

#define FEW_SAMPLES 200u

static pfr_status remark_single_runs(pfr_diff *d, pfr_error *err) {
    const pfr_diff_per per = d->options.per;
    PFR_TRY(diff_remark(d, err,
                        "one recording on a side: its intervals hold within this run, and another run of the same "
                        "program may differ more; compare several with --base and --new"));
    if (per > PFR_DIFF_PER_SECOND)
        return PFR_OK;
    return diff_remark(d, err, "the total has no verdict: it also depends on the CPU time that the machine gave%s",
                       per == PFR_DIFF_PER_TOTAL ? " and on the length of the recording"
                       : per == PFR_DIFF_PER_RUN ? " and on the length of the recording, and so do the values of rows"
                                                 : ", and so do the values of rows");
}

static pfr_status remark_small_sides(pfr_diff *d, pfr_error *err) {
    for (unsigned side = 0; side < 2; side++) {
        const uint64_t samples = side ? d->rows[0].new_samples : d->rows[0].base_samples;
        if (samples < FEW_SAMPLES)
            PFR_TRY(diff_remark(d, err, "the %s side has only %" PRIu64 " samples: small changes cannot be seen",
                                side ? "new" : "base", samples));
    }
    for (unsigned side = 0; side < 2; side++) {
        const struct diff_series *s = &d->sides[side].runs[0];
        if (d->sides[side].count == 1 && !s->has_interval)
            PFR_TRY(diff_remark(d, err,
                                "%s has %" PRIu32
                                " slot%s of time in the store: intervals and verdicts need at least %u; "
                                "push with shorter slots (perfray store push --slot), or compare the files",
                                s->run.name, s->slots, s->slots == 1 ? "" : "s", DIFF_SLOTS_LEAST));
    }
    return d->sides[0].count == 1 || d->sides[1].count == 1 ? remark_single_runs(d, err) : PFR_OK;
}

/* The remark is made only if some rows were called slower or faster merely because of the typical change. */
static pfr_status remark_typical(pfr_diff *d, pfr_error *err) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < d->nr_rows; i++)
        count += d->rows[i].self.verdict != PFR_DIFF_NOISE && diff_row_follows(d, &d->rows[i]);
    if (!count)
        return PFR_OK;
    return diff_remark(d, err,
                       "most shares changed by about %+.1f %% of their value, as happens if a few rows take more or "
                       "less time: the %" PRIu32 " row%s that changed by no more than this come%s after the others",
                       100 * (d->typical - 1), count, count == 1 ? "" : "s", count == 1 ? "s" : "");
}

#define LARGE_CHANGE 5.0 /* percent; used if the interval of the total is not known */

/* The share of a function changes with the total even if the function costs as much as before. */
static pfr_status remark_shares(pfr_diff *d, pfr_error *err) {
    const pfr_diff_value *total = &d->rows[0].self;
    const bool is_known = !isinf(total->low) && !isinf(total->high);
    const bool differs = is_known ? total->low > 0 || total->high < 0 : fabs(total->delta) >= LARGE_CHANGE;
    if (d->options.per != PFR_DIFF_PER_TOTAL || !differs)
        return PFR_OK;
    return diff_remark(d, err,
                       "values are shares, and the total changed by %+.1f %%: the share of a function changes even if "
                       "the function costs as much as before; compare absolute cost with --per run%s",
                       total->delta,
                       d->sides[0].runs[0].has_slots || d->sides[1].runs[0].has_slots
                           ? ""
                           : " (recordings of the same work) or --per second (of a service)");
}

/* The average number of CPUs that the recorded programs used; 0: not known, because the event does not count CPU time.
 */
static double cpus_of(const struct diff_side *side) {
    double weight = 0, time = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        const struct diff_series *s = &side->runs[i];
        const pfr_model_event *e = s->event ? pfr_model_get_event(s->run.model, s->event) : NULL;
        if (!e || !e->name || !strstr(e->name, "-clock") || s->has_slots || s->begin == PFR_NO_TIME)
            return 0;
        weight += s->weight;
        time += (double)(s->end - s->begin);
    }
    return time > 0 ? weight / time : 0;
}

#define LOAD_RATIO 1.1

static pfr_status remark_load(pfr_diff *d, pfr_error *err) {
    const double base = cpus_of(&d->sides[DIFF_BASE]), changed = cpus_of(&d->sides[DIFF_NEW]);
    if (base <= 0 || changed <= 0 || fmax(base, changed) < LOAD_RATIO * fmin(base, changed))
        return PFR_OK;
    return diff_remark(d, err,
                       "the sides used %.2f and %.2f CPUs on average: if other programs ran, kernel functions of "
                       "interrupts and task switches changed with them",
                       base, changed);
}

pfr_status diff_remarks_make(pfr_diff *d, pfr_error *err) {
    PFR_TRY(compare_events(d, err));
    PFR_TRY(remark_lacking_events(d, err));
    PFR_TRY(compare_attrs(d, err));
    PFR_TRY(compare_metas(d, err));
    PFR_TRY(compare_named(d, err));
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++)
            PFR_TRY(remark_losses(d, &d->sides[side].runs[i], err));
    PFR_TRY(remark_shares(d, err));
    PFR_TRY(remark_load(d, err));
    PFR_TRY(remark_typical(d, err));
    return remark_small_sides(d, err);
}

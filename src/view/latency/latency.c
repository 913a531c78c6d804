/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options and runs the steps from an XRay trace to its latency table: see latency_parts.h. */
#include "view/latency/latency_filter.h"
#include "view/latency/latency_formats.h"
#include "view/latency/latency_notes.h"
#include "view/latency/latency_rows.h"
#include "view/latency/latency_text.h"

#include "base/memory/fail.h"
#include "file/read/stored.h"

#include <string.h>

static void report_hole(void *context, const pfr_error *hole) {
    const struct latency *l = context;
    if (l->options->hole)
        l->options->hole(l->options->context, hole);
}

/* Checks the options before anything is read. */
static pfr_status choose(struct latency *l, pfr_error *err) {
    static const enum costs_by by[] = {[PFR_LATENCY_BY_FUNCTION] = COSTS_BY_FUNCTION,
                                       [PFR_LATENCY_BY_CALLER] = COSTS_BY_CALLER,
                                       [PFR_LATENCY_BY_THREAD] = COSTS_BY_THREAD};
    const pfr_latency_options *o = l->options;
    if (o->histogram && o->format == PFR_LATENCY_CSV)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format", "CSV has no histograms: text and JSON do");
    if (o->sort)
        PFR_TRY(latency_sort_check(o->sort, err));
    l->frequency = o->ticks ? 0 : l->reader->header.cycle_frequency;
    l->request = (struct costs_request){
        .by = by[o->by], .jobs = o->jobs, .deduce = o->deduce, .hole = report_hole, .context = l};
    return latency_filter_read(l, err);
}

/* Reports calls that were dropped or separated from their callers because of limits. They count as holes in the table,
   although every byte was read. */
static void report_limits(const struct latency *l) {
    const struct calls_totals *t = &l->costs.totals;
    pfr_error why;
    if (t->too_deep) {
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "depth",
                 "%llu calls are counted in their callers: more than %u were open at once",
                 (unsigned long long)t->too_deep, CALLS_DEEPEST);
        report_hole((void *)(uintptr_t)l, &why);
    }
    if (t->limited) {
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "memory",
                 "%llu calls are in [limit]: their paths did not fit (limit memory)", (unsigned long long)t->limited);
        report_hole((void *)(uintptr_t)l, &why);
    }
    if (name_limits_met(&l->names.limits, &why))
        report_hole((void *)(uintptr_t)l, &why);
    if (name_limits_met_lines(&l->names.limits, &why))
        report_hole((void *)(uintptr_t)l, &why);
}

static void report_notes(const struct latency *l) {
    char text[1024];
    const pfr_latency_options *o = l->options;
    if (!o->note)
        return;
    if (function_names_doubt(&l->names, text, sizeof text))
        o->note(o->context, text);
    symbol_texts_note(&l->names.texts, o->note, o->context);
    for (unsigned i = 0; o->format == PFR_LATENCY_CSV && l->sketched && latency_note(l, i, text); i++)
        if (text[0] == '~')
            o->note(o->context, text + 3);
}

static void report_empty(const struct latency *l) {
    const pfr_latency_options *o = l->options;
    const bool filters = o->functions || o->objects || o->tids || o->min_duration || o->time;
    if (l->shown == 0 && o->note)
        o->note(o->context, filters ? "no calls match the filters" : "the trace has no calls");
}

/* A store contains sums by function, or by caller and function, instead of calls. */
static pfr_status load_stored(struct latency *l, pfr_error *err) {
    const struct stored_source *s = l->reader->stored;
    l->costs.request = &l->request;
    return s->costs(s, &l->costs, &l->names, err);
}

static pfr_status load(struct latency *l, pfr_error *err) {
    const struct function_names_options names = {.naming = naming_of(l->options->naming),
                                                 .trace = l->reader->stored ? NULL : l->reader};
    PFR_TRY(function_names_open(&l->names, l->memory, &names, err));
    if (l->reader->stored)
        PFR_TRY(load_stored(l, err));
    else
        PFR_TRY(call_costs_load(&l->costs, l->reader, &l->request, err));
    return latency_rows_make(l, err);
}

static pfr_status write_form(const struct latency *l, pfr_output *out, pfr_error *err) {
    if (l->options->format == PFR_LATENCY_JSON)
        return latency_write_json(l, out, err);
    if (l->options->format == PFR_LATENCY_TEXT)
        return latency_write_text(l, out, err);
    latency_write_csv(l, out);
    return PFR_OK;
}

static pfr_status run(struct latency *l, pfr_output *out, pfr_error *err) {
    const struct calls_totals *t = &l->costs.totals;
    PFR_TRY(choose(l, err));
    PFR_TRY(load(l, err));
    report_limits(l);
    report_notes(l);
    PFR_TRY(write_form(l, out, err));
    report_empty(l);
    return t->lossy || t->too_deep || t->limited || name_limits_any(&l->names.limits) ? PFR_HOLE : PFR_OK;
}

pfr_status pfr_latency_print(pfr_reader *reader, const pfr_latency_options *options, pfr_output *out, pfr_error *err) {
    if (reader->stored ? !reader->stored->traced : !reader->trace)
        return pfr_fail(
            err, PFR_ERR_FORMAT, 0, 0, "latency",
            "perf.data contains samples, not calls, so it has no latencies; perfray report shows where the time goes");
    struct latency l = {.options = options, .reader = reader, .memory = &reader->memory};
    call_costs_init(&l.costs, l.memory);
    const pfr_status st = run(&l, out, err);
    mem_free(l.memory, l.rows, l.rows_room, sizeof *l.rows);
    if (l.names.memory)
        function_names_close(&l.names);
    call_costs_free(&l.costs);
    latency_filter_free(&l);
    return st;
}

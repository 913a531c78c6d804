/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model of a recording: loads the profile once, and turns its data into tables with ids. */
#include "file/read/stored.h"
#include "model/open/calls_rows.h"

#include "file/read/event_name.h"
#include "model/names/naming.h"
#include "model/open/model_tables.h"
#include "model/open/model_stacks.h"
#include "model/open/model_threads.h"
#include "model/open/model_collect.h"
#include "model/open/model_marks.h"
#include "model/open/model_intervals.h"
#include "model/open/model_facts.h"
#include "model/open/model_watch.h"

/* Bytes that a node and a frame will need when the profile becomes the model. */
#define NODE_COST 32u
#define FRAME_COST 160u
#define DEEPEST 65535u

struct loading {
    struct pfr_model *model;
    pfr_model_options options;
    struct collector collector;
    pfr_reader *trace;               /* NULL: only a recording */
    const struct model_watch *watch; /* NULL: no watch */
};

/* --- Options. */

static pfr_status check(const pfr_reader *trace, const pfr_model_options *o, pfr_error *err) {
    if (o->functions && (o->lines || o->inlined))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "functions",
                        "lines and inlined functions need addresses: they cannot be combined with `functions`");
    const pfr_symbol_options naming = naming_of(o->naming);
    if (naming.mangled && naming.parameters)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mangled", "mangled names have no parameters");
    if (o->max_stack > DEEPEST)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "max_stack", "max_stack is at most %u", DEEPEST);
    if (naming.instr_maps && !trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map",
                        "instrumentation maps apply only to XRay traces; this is perf.data");
    return PFR_OK;
}

static void report_hole(void *context, const pfr_error *hole) {
    const struct loading *l = context;
    if (l->options.hole)
        l->options.hole(l->options.context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct loading *l = context;
    l->options.note(l->options.context, sentence);
}

static struct profile_request request_of(struct loading *l) {
    const pfr_model_options *o = &l->options;
    return (struct profile_request){.shape = PROFILE_TREE,
                                    .unit = o->functions ? PROFILE_FUNCTIONS : PROFILE_NAMED_LAST,
                                    .lines = o->inlined ? PROFILE_INLINED
                                             : o->lines ? PROFILE_LINES
                                                        : PROFILE_NO_LINES,
                                    .mangled_names = true,
                                    .stitched = o->stitched,
                                    .max_stack = o->max_stack,
                                    .jobs = o->jobs,
                                    .node_cost = NODE_COST,
                                    .frame_cost = FRAME_COST,
                                    .names = {.naming = naming_of(o->naming)},
                                    .hole = report_hole,
                                    .note = o->note ? report_note : NULL,
                                    .context = l,
                                    .each = &l->collector.each};
}

/* --- Steps. */

static pfr_status make_events(struct loading *l, pfr_error *err) {
    struct pfr_model *m = l->model;
    const struct profile *p = m->profile;
    for (uint32_t i = 0; i < p->nr_events; i++) {
        const pfr_event *event = profile_event(m->reader, i);
        pfr_model_event row = {.name = event->name,
                               .unit = event_unit(event),
                               .samples = p->totals[i].samples,
                               .weight = p->totals[i].weight,
                               .first = PFR_NO_TIME,
                               .last = PFR_NO_TIME};
        uint32_t id;
        for (unsigned w = 0; w < l->collector.nr_workers; w++) {
            const struct event_span *span = &l->collector.workers[w].spans[i];
            if (span->first == PFR_NO_TIME)
                continue;
            row.last = row.first == PFR_NO_TIME || span->last > row.last ? span->last : row.last;
            row.first = span->first < row.first ? span->first : row.first;
        }
        PFR_TRY(rows_add(m, &m->events, &row, sizeof row, &id, "events", err));
    }
    return PFR_OK;
}

/* Keeps the offsets of values in samples, for cursors. */
static pfr_status learn_places(struct pfr_model *m, pfr_error *err) {
    const struct profile *p = m->profile;
    m->places = mem_zeroed(m->memory, (size_t)p->nr_events + 1, sizeof *m->places);
    if (!m->places)
        return mem_fail(m->memory, err, "events");
    for (uint32_t i = 0; i < p->nr_events; i++)
        pick_learn(&m->places[i], m->reader, i, &p->request);
    return PFR_OK;
}

/* Frees data that only counting needed, because memory use is highest while stacks are numbered. */
static void drop_counted(struct pfr_model *m) {
    struct profile *p = m->profile;
    node_weights_free(&p->self, p->memory);
    address_names_free(&p->names);
    address_names_init(&p->names, &p->state, p->memory, &p->request.names);
    memory_settle(m->memory);
}

/* Frees data that only loading needed. */
static void drop_loaded(struct pfr_model *m) {
    struct profile *p = m->profile;
    mem_free(p->memory, p->frames, p->rooms.frames, sizeof *p->frames);
    mem_free(p->memory, p->lines, p->rooms.lines, sizeof *p->lines);
    mem_free(p->memory, p->nodes, p->rooms.nodes, sizeof *p->nodes);
    p->frames = NULL;
    p->lines = NULL;
    p->nodes = NULL;
    p->rooms.frames = p->rooms.lines = p->rooms.nodes = 0;
    p->request.each = NULL;
    p->request.hole = NULL;
    p->request.note = NULL;
}

static pfr_status keep_columns(struct pfr_model *m, uint32_t wanted, pfr_error *err);

static pfr_status load_recording(struct loading *l, pfr_error *err) {
    struct pfr_model *m = l->model;
    collector_init(&l->collector, m, l->watch);
    const struct profile_request request = request_of(l);
    pfr_status st = profile_load(&m->profile, m->reader, &request, err);
    if (st >= 0)
        profile_report_limits(m->profile, report_hole, l);
    if (st >= 0)
        st = collector_settle(&l->collector, err);
    if (st >= 0)
        st = make_events(l, err);
    collector_free(&l->collector);
    PFR_TRY(st);
    drop_counted(m);
    PFR_TRY(model_number_stacks(m, m->columns.stack, m->columns.count, err));
    PFR_TRY(model_make_threads(m, err));
    model_end_threads(m);
    if (!l->options.no_intervals)
        PFR_TRY(model_make_intervals(m, err));
    else if (!l->options.no_marks)
        PFR_TRY(model_make_marks(m, err));
    drop_loaded(m);
    return learn_places(m, err);
}

/* --- Requested columns. */

static pfr_status fill_columns(struct pfr_model *m, struct sample_columns *to, pfr_error *err) {
    const pfr_sample_batch *b;
    pfr_status st = PFR_OK;
    pfr_samples *cursor = pfr_samples_open(m, NULL, err);
    if (!cursor)
        return err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK) {
        st = columns_grow(m->memory, to, b->count, err);
        if (st >= 0)
            columns_append(to, b);
    }
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static pfr_status keep_columns(struct pfr_model *m, uint32_t wanted, pfr_error *err) {
    struct sample_columns more = {.kept = wanted & ALL_COLUMNS & ~m->columns.kept};
    if (!more.kept)
        return PFR_OK;
    const pfr_status st = fill_columns(m, &more, err);
    if (st >= 0)
        columns_join(&m->columns, &more);
    columns_free(m->memory, &more);
    return st;
}

/* --- */

static pfr_status load_trace(struct loading *l, pfr_reader *trace, pfr_error *err) {
    struct calls_loading calls = {
        .model = l->model, .options = &l->options, .trace = trace, .hole = report_hole, .context = l};
    return model_load_calls(&calls, err);
}

/* Frees keys that only loading needed. */
static void drop_keys(struct pfr_model *m) {
    intern_free(&m->symbol_keys);
    intern_free(&m->frame_keys);
    memory_settle(m->memory);
}

/* Times can only be compared if both files state that they use CLOCK_MONOTONIC. */
static pfr_status check_clocks(const pfr_reader *recording, pfr_reader *trace, pfr_error *err) {
    PFR_TRY(xray_clock_learn(trace, err));
    const struct xray_clock clock = xray_clock_of(trace);
    const char *const ours = model_clock_name(recording), *const theirs = xray_clock_name(&clock);
    if (strcmp(ours, "monotonic") == 0 && strcmp(theirs, "monotonic") == 0)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "clock",
                    "the recording's clock is %s, the trace's %s: both must be monotonic (record -k monotonic)", ours,
                    theirs);
}

static pfr_status load_both(struct loading *l, pfr_error *err) {
    if (l->options.beside && l->model->reader->trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "beside", "a model cannot combine two traces");
    if (l->options.beside && !l->trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "beside", "a model cannot combine two recordings");
    if (!l->trace)
        return load_recording(l, err);
    if (!l->options.beside)
        return load_trace(l, l->trace, err);
    PFR_TRY(check_clocks(l->model->reader, l->trace, err));
    PFR_TRY(load_recording(l, err));
    return load_trace(l, l->trace, err);
}

static pfr_status open_model(struct loading *l, pfr_error *err) {
    struct pfr_model *m = l->model;
    PFR_TRY(check(l->trace, &l->options, err));
    PFR_TRY(load_both(l, err));
    drop_keys(m);
    PFR_TRY(model_make_facts(m, err));
    return m->profile ? keep_columns(m, l->options.columns, err) : PFR_OK;
}

/* The recording is the model's reader, whether it was passed as reader or as options.beside. */
static void choose_readers(struct loading *l, pfr_reader *reader) {
    pfr_reader *const beside = l->options.beside;
    l->trace = reader->trace ? reader : beside && beside->trace ? beside : NULL;
    l->model->reader = reader->trace && beside && !beside->trace ? beside : reader;
    if (l->trace == reader && beside && beside->trace)
        l->model->reader = beside; /* two traces: reported as an error later */
}

static pfr_model_options options_of(const pfr_model_options *options) {
    pfr_model_options own = {.size = sizeof own};
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    return own;
}

pfr_model *model_open_watched(pfr_reader *reader, const pfr_model_options *options, const struct model_watch *watch,
                              pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct memory *memory = &reader->memory;
    if (reader->stored) {
        const pfr_model_options how = options_of(options);
        return reader->stored->model(reader->stored, reader, &how, err);
    }
    struct loading *l = mem_zeroed(memory, 1, sizeof *l);
    struct pfr_model *m = l ? mem_zeroed(memory, 1, sizeof *m) : NULL;
    pfr_status st = m ? PFR_OK : mem_fail(memory, err, "model");
    if (st >= 0) {
        model_init(m, memory);
        l->model = m;
        l->options = options_of(options);
        l->watch = watch;
        choose_readers(l, reader);
        st = open_model(l, err);
        if (st < 0)
            pfr_model_close(m);
    }
    mem_free(memory, l, 1, sizeof *l);
    return st < 0 ? NULL : m;
}

pfr_model *pfr_model_open(pfr_reader *reader, const pfr_model_options *options, pfr_error *error) {
    return model_open_watched(reader, options, NULL, error);
}

/* --- The end. */

void pfr_model_close(pfr_model *m) {
    if (!m)
        return;
    struct memory *memory = m->memory, own = m->own;
    model_free_rows(m);
    model_free_calls(m);
    columns_free(memory, &m->columns);
    struct intern_table *const tables[] = {&m->comms, &m->thread_keys, &m->texts, &m->symbol_keys, &m->frame_keys};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        intern_free(tables[i]);
    mem_free(memory, m->slices.list, m->slices.count, sizeof *m->slices.list);
    mem_free(memory, m->slices.first, m->slices.first ? (size_t)m->slices.count + 1 : 0, sizeof *m->slices.first);
    mem_free(memory, m->slices.least, m->slices.nr_least, sizeof *m->slices.least);
    mem_free(memory, m->places, m->places ? (size_t)m->profile->nr_events + 1 : 0, sizeof *m->places);
    mem_free(memory, m->cgroups, m->nr_cgroups, sizeof *m->cgroups);
    mem_free(memory, m->ends, m->ends_room, sizeof *m->ends);
    mem_free(memory, m->facts.list, m->facts.room, sizeof *m->facts.list);
    mem_free(memory, m->facts.meta, m->facts.meta_room, sizeof *m->facts.meta);
    profile_close(m->profile);
    if (memory == &m->own)
        mem_free(&own, m, 1, sizeof *m);
    else
        mem_free(memory, m, 1, sizeof *m);
}

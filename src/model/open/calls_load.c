/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a trace to rows of calls: see calls_rows.h. One worker reads the trace, so that calls come in the order of
   their exits. */
#include "model/open/calls_spill.h"

#include "model/names/function_names.h"
#include "model/names/naming.h"
#include "file/read/recording.h"
#include "model/open/model_tables.h"
#include "model/open/model_stacks.h"
#include "model/open/model_frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct reading {
    struct calls_loading *of;
    struct pfr_model *model;
    struct model_calls *calls;
    struct intern_table threads; /* pid and tid -> number */
    struct call_thread *now;
    struct function_names names;
    struct stack_tree tree;
    struct u64_map frame_of;  /* function -> frame */
    struct u64_map object_of; /* path, as a number of the model's texts -> object */
    struct u64_map thread_of, process_of;
    uint32_t *chain; /* paths or frames, from a call outwards */
    size_t chain_room;
    uint32_t most; /* maximum number of calls in a stack */
};

/* --- Rows. */

static void free_threads(struct pfr_model *m, struct model_calls *c) {
    for (size_t i = 0; i < c->nr_threads; i++) {
        call_rows_free(m->memory, &c->threads[i]);
        model_free_arguments(m, &c->threads[i]);
    }
    mem_free(m->memory, c->threads, c->threads_room, sizeof *c->threads);
    c->threads = NULL;
    c->nr_threads = c->threads_room = 0;
    c->count = 0;
    call_file_close(c);
}

void model_free_calls(struct pfr_model *m) {
    if (!m->traced)
        return;
    free_threads(m, m->traced);
    mem_free(m->memory, m->traced->paths, m->traced->nr_paths, sizeof *m->traced->paths);
    mem_free(m->memory, m->traced, 1, sizeof *m->traced);
    m->traced = NULL;
}

static pfr_status on_begin(void *context, unsigned workers, pfr_error *err) {
    struct reading *r = context;
    (void)workers, (void)err;
    free_threads(r->model, r->calls);
    intern_free(&r->threads);
    intern_init(&r->threads, r->model->memory);
    r->now = NULL;
    return PFR_OK;
}

static pfr_status on_thread(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                            pfr_error *err) {
    struct reading *r = context;
    struct model_calls *c = r->calls;
    const int32_t key[2] = {thread->pid, thread->tid};
    uint32_t number;
    (void)worker;
    void *grown = mem_grow(r->model->memory, c->threads, c->nr_threads, &c->threads_room, 16, sizeof *c->threads);
    if (!grown)
        return mem_fail(r->model->memory, err, "calls");
    c->threads = grown;
    PFR_TRY(intern_put(&r->threads, key, sizeof key, &number, err));
    if (number == c->nr_threads)
        c->threads[c->nr_threads++] = (struct call_thread){.pid = thread->pid, .tid = thread->tid};
    r->now = &c->threads[number];
    return PFR_OK;
}

static pfr_status put_row(struct reading *r, const struct call_row *row, pfr_error *err) {
    struct call_thread *t = r->now;
    t->limited = t->limited || row->path == PATH_LIMIT;
    return call_rows_add(r->model->memory, r->calls, t, row, err);
}

static pfr_status on_calls(void *context, const struct calls_worker *worker, const struct call *calls, size_t count,
                           pfr_error *err) {
    (void)worker;
    for (size_t i = 0; i < count; i++) {
        const uint32_t flags = (calls[i].flags & CALL_TAIL ? PFR_CALL_TAIL : 0) |
                               (calls[i].flags & CALL_BACKWARD ? PFR_CALL_BACKWARD : 0) |
                               (calls[i].node == PATH_LIMIT ? PFR_CALL_LIMITED : 0);
        const struct call_row row = {calls[i].exit, calls[i].latency, calls[i].self, calls[i].node, flags};
        PFR_TRY(put_row(context, &row, err));
    }
    return PFR_OK;
}

static pfr_status on_open(void *context, const struct calls_worker *worker, uint32_t node, uint64_t enter,
                          pfr_error *err) {
    const struct call_row row = {enter, 0, 0, node, PFR_CALL_OPEN | (node == PATH_LIMIT ? PFR_CALL_LIMITED : 0)};
    (void)worker;
    return put_row(context, &row, err);
}

/* --- Functions. */

/* The object of a path: the recording's object, if it has one with this path. */
static pfr_status find_object(struct reading *r, const char *path, uint32_t *object, pfr_error *err) {
    struct pfr_model *m = r->model;
    const char *text = path ? path : "[unknown]", *slash = strrchr(text, '/');
    pfr_model_object row = {.kind = path ? PFR_OBJECT_FILE : PFR_OBJECT_UNKNOWN};
    uint64_t known;
    uint32_t number;
    PFR_TRY(intern_put(&m->texts, text, strlen(text), &number, err));
    if (u64_map_get(&r->object_of, number, &known))
        return *object = (uint32_t)known, PFR_OK;
    row.path = intern_chars(&m->texts, number);
    row.name = slash && slash[1] ? row.path + (slash + 1 - text) : row.path;
    PFR_TRY(rows_add(m, &m->objects, &row, sizeof row, object, "objects", err));
    return u64_map_put(&r->object_of, number, *object, err);
}

/* Notes the objects of the recording that is loaded together with the trace. */
static pfr_status learn_objects(struct reading *r, pfr_error *err) {
    struct pfr_model *m = r->model;
    uint32_t number;
    for (uint32_t id = m->objects.count; id > 0; id--) {
        const char *path = pfr_model_get_object(m, id)->path;
        PFR_TRY(intern_put(&m->texts, path, strlen(path), &number, err));
        PFR_TRY(u64_map_put(&r->object_of, number, id, err));
    }
    return PFR_OK;
}

static pfr_status put_line(struct reading *r, uint32_t function, pfr_model_frame *row, pfr_error *err) {
    const struct function_line *line;
    if (!r->of->options->lines && !r->of->options->inlined)
        return PFR_OK;
    PFR_TRY(function_names_line(&r->names, function, &line, err));
    if (!line->file)
        return PFR_OK;
    row->line = line->line;
    return model_text(r->model, line->file, strlen(line->file), &row->file, err);
}

/* A function that is in no map has its number as address. */
static pfr_status make_frame(struct reading *r, uint32_t function, uint32_t *frame, pfr_error *err) {
    const struct function_name *name;
    pfr_model_symbol symbol = {.size = 0};
    pfr_model_frame row = {.mode = PFR_CPUMODE_USER};
    PFR_TRY(function_names_find(&r->names, function, &name, err));
    PFR_TRY(find_object(r, name->path, &row.object, err));
    symbol.object = row.object;
    symbol.address = row.address = name->mapped ? name->address : function;
    PFR_TRY(model_text(r->model, name->text, name->length, &symbol.name, err));
    PFR_TRY(model_put_symbol(r->model, &symbol, false, &row.symbol, err));
    PFR_TRY(put_line(r, function, &row, err));
    return model_put_frame(r->model, &row, frame, err);
}

static pfr_status find_frame(struct reading *r, uint32_t function, uint32_t *frame, pfr_error *err) {
    uint64_t known;
    if (u64_map_get(&r->frame_of, function, &known))
        return *frame = (uint32_t)known, PFR_OK;
    PFR_TRY(make_frame(r, function, frame, err));
    return u64_map_put(&r->frame_of, function, *frame, err);
}

/* --- Paths, numbered in the order of the calls that use them. */

static pfr_status keep_chain(struct reading *r, size_t at, uint32_t value, pfr_error *err) {
    void *grown = mem_grow(r->model->memory, r->chain, at, &r->chain_room, 256, sizeof *r->chain);
    if (!grown)
        return mem_fail(r->model->memory, err, "calls");
    r->chain = grown;
    r->chain[at] = value;
    return PFR_OK;
}

/* Makes the stack of a path that is deeper than the maximum, from its innermost calls. */
static pfr_status number_cut(struct reading *r, const struct call_paths *paths, uint32_t path, uint32_t *stack,
                             pfr_error *err) {
    size_t count = 0;
    uint32_t frame;
    for (uint32_t at = path; count < r->most && at != PATH_ROOT; at = paths->at[at].parent) {
        PFR_TRY(find_frame(r, paths->at[at].function, &frame, err));
        PFR_TRY(keep_chain(r, count++, frame, err));
    }
    PFR_TRY(stack_tree_begin(&r->tree, *stack = 0, err));
    while (count-- > 0)
        PFR_TRY(stack_tree_child(&r->tree, *stack, r->chain[count], false, stack, err));
    return PFR_OK;
}

/* Collects the paths without a stack, from `path` outwards, then makes their stacks inwards. */
static pfr_status number_path(struct reading *r, const struct call_paths *paths, uint32_t path, pfr_error *err) {
    struct call_path_row *rows = r->calls->paths;
    size_t count = 0;
    uint32_t at = path, frame;
    for (; at != PATH_ROOT && !rows[at].stack; at = paths->at[at].parent)
        PFR_TRY(keep_chain(r, count++, at, err));
    uint32_t stack = at == PATH_ROOT ? 0 : rows[at].stack;
    PFR_TRY(stack_tree_begin(&r->tree, stack, err));
    while (count-- > 0) {
        at = r->chain[count];
        PFR_TRY(find_frame(r, paths->at[at].function, &frame, err));
        PFR_TRY(stack_tree_child(&r->tree, stack, frame, false, &stack, err));
        rows[at].stack = stack;
        rows[at].symbol = pfr_model_get_stack(r->model, stack)->symbol;
    }
    return PFR_OK;
}

static pfr_status number_row(struct reading *r, const struct call_paths *paths, uint32_t path, pfr_error *err) {
    struct call_path_row *row = &r->calls->paths[path];
    if (row->stack || path == PATH_LIMIT)
        return PFR_OK;
    if (row->depth < r->most)
        return number_path(r, paths, path, err);
    PFR_TRY(number_cut(r, paths, path, &row->stack, err));
    row->symbol = pfr_model_get_stack(r->model, row->stack)->symbol;
    return PFR_OK;
}

static pfr_status number_thread(struct reading *r, const struct call_paths *paths, const struct call_thread *t,
                                pfr_error *err) {
    struct call_reader reader = {0};
    const struct call_row *row;
    for (size_t i = 0; i < t->count; i++) {
        PFR_TRY(call_row_get(&reader, r->calls, t, i, &row, err));
        PFR_TRY(number_row(r, paths, row->path, err));
    }
    return PFR_OK;
}

/* Makes the rows to which calls refer, in the order of calls. */
static pfr_status on_end(void *context, const struct calls_worker *worker, pfr_error *err) {
    struct reading *r = context;
    struct model_calls *c = r->calls;
    const struct call_paths *paths = worker->paths;
    uint64_t first = 0;
    mem_free(r->model->memory, c->paths, c->nr_paths, sizeof *c->paths);
    c->nr_paths = 0;
    c->paths = mem_zeroed(r->model->memory, paths->count, sizeof *c->paths);
    if (!c->paths)
        return mem_fail(r->model->memory, err, "calls");
    c->nr_paths = paths->count;
    for (uint32_t i = PATH_LIMIT + 1; i < paths->count; i++)
        c->paths[i].depth = paths->at[i].parent == PATH_ROOT ? 0 : c->paths[paths->at[i].parent].depth + 1;
    if (c->nr_threads)
        qsort(c->threads, c->nr_threads, sizeof *c->threads, call_threads_compare);
    for (size_t t = 0; t < c->nr_threads; t++) {
        c->threads[t].first = first;
        first += c->threads[t].count;
        PFR_TRY(number_thread(r, paths, &c->threads[t], err));
    }
    return PFR_OK;
}

/* --- Threads. */

static uint64_t thread_word(uint32_t pid, uint32_t tid) {
    return (uint64_t)pid << 32 | tid;
}

/* Notes the threads of the recording that is loaded together with the trace: the first one of each pid and tid, or of
   each tid if the trace has no pids. */
static pfr_status learn_threads(struct reading *r, pfr_error *err) {
    const struct pfr_model *m = r->model;
    for (uint32_t id = m->threads.count; id > 0; id--) {
        const pfr_model_thread *row = pfr_model_get_thread(m, id);
        const uint32_t pid = pfr_model_get_process(m, row->process)->pid;
        PFR_TRY(u64_map_put(&r->thread_of, thread_word(pid, row->tid), id, err));
        PFR_TRY(u64_map_put(&r->thread_of, thread_word(0, row->tid), id, err));
        PFR_TRY(u64_map_put(&r->process_of, pid, row->process, err));
    }
    return PFR_OK;
}

static pfr_status find_process(struct reading *r, uint32_t pid, uint32_t *id, pfr_error *err) {
    const pfr_model_process row = {.pid = pid, .start = PFR_NO_TIME, .end = PFR_NO_TIME};
    uint64_t known;
    if (u64_map_get(&r->process_of, pid, &known))
        return *id = (uint32_t)known, PFR_OK;
    PFR_TRY(rows_add(r->model, &r->model->processes, &row, sizeof row, id, "processes", err));
    return u64_map_put(&r->process_of, pid, *id, err);
}

static pfr_status find_thread(void *context, int32_t pid, int32_t tid, uint32_t *id, pfr_error *err) {
    struct reading *r = context;
    const uint64_t key = thread_word((uint32_t)pid, (uint32_t)tid);
    pfr_model_thread row = {.tid = (uint32_t)tid, .start = PFR_NO_TIME, .end = PFR_NO_TIME};
    uint64_t known;
    if (u64_map_get(&r->thread_of, key, &known))
        return *id = (uint32_t)known, PFR_OK;
    PFR_TRY(find_process(r, (uint32_t)pid, &row.process, err));
    PFR_TRY(rows_add(r->model, &r->model->threads, &row, sizeof row, id, "threads", err));
    return u64_map_put(&r->thread_of, key, *id, err);
}

static pfr_status make_threads(struct reading *r, pfr_error *err) {
    PFR_TRY(learn_threads(r, err));
    for (size_t i = 0; i < r->calls->nr_threads; i++) {
        struct call_thread *t = &r->calls->threads[i];
        PFR_TRY(find_thread(r, t->pid, t->tid, &t->thread, err));
    }
    return PFR_OK;
}

/* --- The whole. */

static pfr_status make_event(struct reading *r, const struct calls_totals *totals, pfr_error *err) {
    struct pfr_model *m = r->model;
    const pfr_event *event = profile_event(r->of->trace, 0);
    pfr_model_event row = {
        .name = event->name, .unit = event->unit, .first = PFR_NO_TIME, .last = PFR_NO_TIME, .is_traced = true};
    uint32_t id;
    uint64_t ticks = 0;
    uint64_t *self = mem_zeroed(m->memory, (size_t)m->stacks.count + 1, sizeof *self);
    if (!self)
        return mem_fail(m->memory, err, "calls");
    pfr_status st = calls_add_self(m, self, err);
    for (uint32_t i = 0; i <= m->stacks.count; i++)
        ticks += self[i];
    mem_free(m->memory, self, (size_t)m->stacks.count + 1, sizeof *self);
    PFR_TRY(st);
    row.samples = totals->calls;
    row.weight = calls_ns(ticks, r->calls->clock.frequency);
    if (totals->first <= totals->last) {
        row.first = xray_clock_ns(&r->calls->clock, totals->first);
        row.last = xray_clock_ns(&r->calls->clock, totals->last);
    }
    m->traced_event = m->events.count + 1;
    return rows_add(m, &m->events, &row, sizeof row, &id, "events", err);
}

static void report_hole(void *context, const pfr_error *hole) {
    const struct reading *r = context;
    r->of->hole(r->of->context, hole);
}

static void report_limits(struct reading *r, const struct calls_totals *totals) {
    const pfr_model_options *o = r->of->options;
    char text[1024];
    pfr_error why;
    if (name_limits_met(&r->names.limits, &why))
        report_hole(r, &why);
    if (totals->too_deep) {
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "depth",
                 "%" PRIu64 " calls are counted in their callers: more than %u were open at once", totals->too_deep,
                 CALLS_DEEPEST);
        report_hole(r, &why);
    }
    if (o->note && function_names_doubt(&r->names, text, sizeof text))
        o->note(o->context, text);
    if (o->note)
        symbol_texts_note(&r->names.texts, o->note, o->context);
    r->model->facts.unmatched_exits = totals->lone;
    r->model->lossy = r->model->lossy || totals->lossy || totals->too_deep;
    r->model->facts.limited_calls = totals->limited;
}

static pfr_status load(struct reading *r, pfr_error *err) {
    static const struct calls_sink sink = {
        .begin = on_begin, .thread = on_thread, .calls = on_calls, .open = on_open, .end = on_end};
    const pfr_model_options *o = r->of->options;
    const pfr_symbol_options naming = naming_of(o->naming);
    const struct function_names_options how = {
        .naming = naming, .trace = r->of->trace, .parameters = naming.parameters};
    const struct calls_request request = {
        .sink = &sink, .gather = CALLS_SINGLY, .jobs = 1, .hole = report_hole, .context = r};
    struct calls_totals totals;
    PFR_TRY(xray_clock_learn(r->of->trace, err));
    PFR_TRY(function_names_open(&r->names, r->model->memory, &how, err));
    PFR_TRY(calls_read(r->of->trace, &request, &totals, err));
    if (totals.arguments && !totals.too_deep) /* otherwise the numbers of enters would differ from those of calls */
        PFR_TRY(model_load_arguments(r->model, r->of->trace, err));
    r->calls->clock = xray_clock_of(r->of->trace);
    r->calls->clock.frequency = totals.frequency;
    r->model->ticks = totals.frequency == 0;
    PFR_TRY(make_threads(r, err));
    if (totals.custom || totals.typed)
        PFR_TRY(model_load_events(r->model, r->of->trace, &(struct trace_threads){find_thread, r}, err));
    PFR_TRY(make_event(r, &totals, err));
    report_limits(r, &totals);
    return PFR_OK;
}

pfr_status model_load_calls(struct calls_loading *l, pfr_error *err) {
    struct pfr_model *m = l->model;
    struct reading r = {
        .of = l, .model = m, .most = l->options->max_stack ? l->options->max_stack : PROFILE_CALLS_DEEP};
    if (pfr_get_header(l->trace)->format == PFR_XRAY_PROFILE)
        return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "model",
                        "an XRay profile has sums of calls, not single calls");
    m->traced = r.calls = mem_zeroed(m->memory, 1, sizeof *r.calls);
    if (!r.calls)
        return mem_fail(m->memory, err, "calls");
    intern_init(&r.threads, m->memory);
    struct u64_map *const maps[] = {&r.frame_of, &r.object_of, &r.thread_of, &r.process_of};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        u64_map_init(maps[i], m->memory);
    stack_tree_init(&r.tree, m);
    pfr_status st = stack_tree_resume(&r.tree, err);
    if (st >= 0)
        st = learn_objects(&r, err);
    if (st >= 0)
        st = load(&r, err);
    stack_tree_free(&r.tree);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        u64_map_free(maps[i]);
    intern_free(&r.threads);
    mem_free(m->memory, r.chain, r.chain_room, sizeof *r.chain);
    function_names_close(&r.names);
    return st;
}

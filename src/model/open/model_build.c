/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a model from rows that the caller adds: the same tables, with all columns of samples. */
#include "model/open/model_parts.h"
#include "model/open/model_frames.h"
#include "model/open/model_stacks.h"
#include "model/open/model_tables.h"

#include <inttypes.h>

struct pfr_build {
    struct pfr_model *model;
    struct stack_tree tree;
    struct intern_table objects; /* by object_key */
    pfr_error err;               /* the first failure; status PFR_OK: no failure yet */
};

pfr_build *pfr_model_build(const pfr_alloc *alloc, const pfr_limits *limits, pfr_error *err) {
    const bool says_memory = limits && limits->size >= offsetof(pfr_limits, memory) + sizeof limits->memory;
    struct memory memory;
    memory_init(&memory, alloc, says_memory ? limits->memory : 0);
    struct pfr_model *m = mem_zeroed(&memory, 1, sizeof *m);
    pfr_build *b = m ? mem_zeroed(&memory, 1, sizeof *b) : NULL;
    if (!b) {
        mem_fail(&memory, err, "model");
        mem_free(&memory, m, 1, sizeof *m);
        return NULL;
    }
    m->own = memory;
    model_init(m, &m->own);
    m->columns.kept = ALL_COLUMNS;
    b->model = m;
    intern_init(&b->objects, m->memory);
    stack_tree_init(&b->tree, m);
    return b;
}

static void free_build(pfr_build *b) {
    struct memory *memory = b->model->memory;
    intern_free(&b->objects);
    stack_tree_free(&b->tree);
    mem_free(memory, b, 1, sizeof *b);
}

void pfr_build_free(pfr_build *b) {
    if (!b)
        return;
    struct pfr_model *m = b->model;
    free_build(b);
    pfr_model_close(m);
}

/* --- Rows. After a failure every function that adds a row returns 0. */

static bool is_well(const pfr_build *b) {
    return b->err.status >= 0;
}

static bool refers(pfr_build *b, const char *table, uint32_t id, uint32_t count) {
    if (id <= count)
        return true;
    pfr_fail(&b->err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, table, "there is no row %" PRIu32 " in the table %s", id, table);
    return false;
}

static bool refers_to(pfr_build *b, const char *table, uint32_t id, uint32_t count) {
    return refers(b, table, id ? id : UINT32_MAX, count);
}

static const char *own_text(pfr_build *b, const char *text) {
    const char *own = NULL;
    if (text && is_well(b))
        model_text(b->model, text, strlen(text), &own, &b->err);
    return own;
}

static uint32_t put_row(pfr_build *b, struct id_table *rows, const void *row, size_t size, const char *table) {
    uint32_t id = 0;
    return is_well(b) && rows_add(b->model, rows, row, size, &id, table, &b->err) >= 0 ? id : 0;
}

uint32_t pfr_build_event(pfr_build *b, const pfr_model_event *event) {
    pfr_model_event row = {.name = own_text(b, event->name ? event->name : ""),
                           .unit = own_text(b, event->unit),
                           .first = PFR_NO_TIME,
                           .last = PFR_NO_TIME,
                           .is_traced = event->is_traced};
    return put_row(b, &b->model->events, &row, sizeof row, "event");
}

uint32_t pfr_build_process(pfr_build *b, const pfr_model_process *process) {
    struct pfr_model *m = b->model;
    if (!is_well(b) || !refers(b, "process", process->parent, m->processes.count) ||
        !refers(b, "comm", process->comm, m->comms.count))
        return 0;
    return put_row(b, &m->processes, process, sizeof *process, "process");
}

uint32_t pfr_build_thread(pfr_build *b, const pfr_model_thread *thread) {
    struct pfr_model *m = b->model;
    if (!is_well(b) || !refers_to(b, "process", thread->process, m->processes.count) ||
        !refers(b, "comm", thread->comm, m->comms.count))
        return 0;
    return put_row(b, &m->threads, thread, sizeof *thread, "thread");
}

uint32_t pfr_build_comm(pfr_build *b, const char *name) {
    uint32_t id;
    if (!is_well(b) || intern_put(&b->model->comms, name, strlen(name), &id, &b->err) < 0)
        return 0;
    return id + 1;
}

struct object_key {
    const char *path;
    uint32_t kind, build_id_size;
    uint8_t build_id[24];
};

uint32_t pfr_build_object(pfr_build *b, const pfr_model_object *object) {
    pfr_model_object row = *object;
    uint32_t number;
    row.path = own_text(b, object->path ? object->path : "");
    row.name = object->name ? own_text(b, object->name) : row.path;
    row.build_id_size = row.build_id_size < sizeof row.build_id ? row.build_id_size : sizeof row.build_id;
    struct object_key key = {.path = row.path, .kind = (uint32_t)row.kind, .build_id_size = row.build_id_size};
    memcpy(key.build_id, row.build_id, row.build_id_size);
    if (!is_well(b) || intern_put(&b->objects, &key, sizeof key, &number, &b->err) < 0)
        return 0;
    return number < b->model->objects.count ? number + 1 : put_row(b, &b->model->objects, &row, sizeof row, "object");
}

uint32_t pfr_build_symbol(pfr_build *b, const pfr_model_symbol *symbol) {
    pfr_model_symbol row = *symbol;
    uint32_t id;
    if (!is_well(b) || !refers_to(b, "object", symbol->object, b->model->objects.count))
        return 0;
    row.name = own_text(b, symbol->name);
    row.mangled = own_text(b, symbol->mangled);
    return is_well(b) && model_put_symbol(b->model, &row, false, &id, &b->err) >= 0 ? id : 0;
}

uint32_t pfr_build_frame(pfr_build *b, const pfr_model_frame *frame) {
    pfr_model_frame row = *frame;
    uint32_t id;
    if (!is_well(b) || !refers_to(b, "symbol", frame->symbol, b->model->symbols.count))
        return 0;
    row.object = pfr_model_get_symbol(b->model, frame->symbol)->object;
    row.file = own_text(b, frame->file);
    row.function_file = own_text(b, frame->function_file);
    return is_well(b) && model_put_frame(b->model, &row, &id, &b->err) >= 0 ? id : 0;
}

uint32_t pfr_build_stack(pfr_build *b, uint32_t parent, uint32_t frame) {
    uint32_t id;
    if (!is_well(b) || !refers_to(b, "frame", frame, b->model->frames.count) ||
        !refers(b, "stack", parent, b->model->stacks.count))
        return 0;
    if (stack_tree_begin(&b->tree, parent, &b->err) < 0)
        return 0;
    return stack_tree_child(&b->tree, parent, frame, false, &id, &b->err) >= 0 ? id : 0;
}

/* --- Rows in time. */

static void count_sample(pfr_model_event *event, const pfr_sample *s) {
    event->samples++;
    event->weight += s->weight;
    if (s->time == PFR_NO_TIME)
        return;
    event->last = event->first == PFR_NO_TIME || s->time > event->last ? s->time : event->last;
    event->first = s->time < event->first ? s->time : event->first;
}

static bool sample_refers(pfr_build *b, const pfr_sample *s) {
    const struct pfr_model *m = b->model;
    return is_well(b) && refers_to(b, "event", s->event, m->events.count) &&
           refers(b, "thread", s->thread, m->threads.count) && refers(b, "comm", s->comm, m->comms.count) &&
           refers(b, "stack", s->stack, m->stacks.count);
}

uint32_t pfr_build_sample(pfr_build *b, const pfr_sample *sample) {
    struct sample_columns *columns = &b->model->columns;
    if (!sample_refers(b, sample))
        return 0;
    if (columns->count >= UINT32_MAX - 1) {
        pfr_fail(&b->err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "sample", "there are more than 2^32 samples");
        return 0;
    }
    if (columns_grow(b->model->memory, columns, 1, &b->err) < 0)
        return 0;
    columns_set(columns, columns->count, sample);
    count_sample(row_at(&b->model->events, sample->event, sizeof(pfr_model_event)), sample);
    return (uint32_t)++columns->count;
}

uint32_t pfr_build_call(pfr_build *b, const pfr_call *call) {
    struct pfr_model *m = b->model;
    if (!is_well(b) || !refers(b, "thread", call->thread, m->threads.count) ||
        !refers(b, "symbol", call->symbol, m->symbols.count) || !refers(b, "stack", call->stack, m->stacks.count) ||
        !refers(b, "call", call->parent <= m->calls.count ? (uint32_t)call->parent : UINT32_MAX, m->calls.count))
        return 0;
    return put_row(b, &m->calls, call, sizeof *call, "call");
}

uint32_t pfr_build_interval(pfr_build *b, const pfr_interval *interval) {
    struct pfr_model *m = b->model;
    if (!is_well(b) || !refers_to(b, "thread", interval->thread, m->threads.count) ||
        !refers(b, "thread", interval->waker, m->threads.count) ||
        !refers(b, "stack", interval->stack, m->stacks.count) ||
        !refers(b, "stack", interval->waker_stack, m->stacks.count))
        return 0;
    return put_row(b, &m->intervals, interval, sizeof *interval, "interval");
}

uint32_t pfr_build_mark(pfr_build *b, const pfr_mark *mark) {
    struct pfr_model *m = b->model;
    pfr_mark row = *mark;
    if (!is_well(b) || !refers(b, "thread", mark->thread, m->threads.count) ||
        !refers(b, "event", mark->event, m->events.count))
        return 0;
    row.text = own_text(b, mark->text);
    return put_row(b, &m->marks, &row, sizeof row, "mark");
}

/* --- The model. */

pfr_model *pfr_build_finish(pfr_build *b, pfr_error *err) {
    struct pfr_model *m = b->model;
    const pfr_error failure = b->err;
    free_build(b);
    if (failure.status < 0) {
        if (err)
            *err = failure;
        pfr_model_close(m);
        return NULL;
    }
    model_sort_intervals(m);
    intern_free(&m->symbol_keys);
    intern_free(&m->frame_keys);
    return m;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a model from the selected rows. First objects, symbols, frames and stacks are added to a pfr_build. Then each
 * row adds as many samples as it counts, all with the time of its slot. The row's weight is divided equally among them
 * and the first gets the remainder, so sums are exact but single weights are not. There is one process, with one thread
 * per thread name.
 */
#include "store/stored_rows.h"

#include "model/open/model_parts.h"

#include <inttypes.h>
#include <perfray/samples.h>
#include <perfray/spans.h>
#include <stdio.h>
#include <string.h>

struct modelling {
    const struct stored *stored;
    pfr_build *build;
    struct memory *memory;
    uint32_t *object_of, *frame_of, *stack_of, *comm_of, *thread_of, *event_of; /* ids in the model, by number in
                                                                                   `stored`; 0: not made yet */
    uint32_t unknown, process;
};

/* --- Rows by number. */

static uint8_t digit(char c) {
    return (uint8_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

static pfr_object_kind kind_of(uint8_t kind) {
    static const pfr_object_kind kinds[] = {PFR_OBJECT_FILE,      PFR_OBJECT_KERNEL, PFR_OBJECT_MODULE, PFR_OBJECT_VDSO,
                                            PFR_OBJECT_ANONYMOUS, PFR_OBJECT_MEMORY, PFR_OBJECT_BPF,    PFR_OBJECT_JIT};
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : PFR_OBJECT_OTHER;
}

static uint32_t object_id(struct modelling *m, uint32_t number) {
    const struct stored_object *o = &m->stored->objects[number];
    pfr_model_object row = {.path = "[unknown]", .name = "[unknown]", .kind = PFR_OBJECT_UNKNOWN};
    uint32_t *const id = number ? &m->object_of[number] : &m->unknown;
    if (*id)
        return *id;
    if (number) {
        row = (pfr_model_object){.path = o->path.bytes, .name = o->name.bytes, .kind = kind_of(o->kind)};
        const size_t size = strlen(o->build_id) / 2;
        row.build_id_size = (uint8_t)(size < sizeof row.build_id ? size : sizeof row.build_id);
        for (uint8_t i = 0; i < row.build_id_size; i++)
            row.build_id[i] = (uint8_t)(digit(o->build_id[2 * i]) << 4 | digit(o->build_id[2 * i + 1]));
    }
    return *id = pfr_build_object(m->build, &row);
}

static uint32_t frame_id(struct modelling *m, uint32_t number) {
    const struct stored_frame *f = &m->stored->frames[number];
    if (m->frame_of[number])
        return m->frame_of[number];
    const pfr_model_symbol symbol = {.name = f->named ? f->name.bytes : NULL,
                                     .object = object_id(m, f->object),
                                     .address = f->inlined ? 0 : f->address,
                                     .size = f->size};
    const pfr_model_frame frame = {.symbol = pfr_build_symbol(m->build, &symbol),
                                   .object = symbol.object,
                                   .address = f->address,
                                   .mode = f->mode,
                                   .inlined = f->inlined};
    return m->frame_of[number] = pfr_build_frame(m->build, &frame);
}

static uint32_t stack_id(struct modelling *m, uint32_t number) {
    const struct stored_stack *k = &m->stored->stacks[number];
    if (!number || m->stack_of[number])
        return number ? m->stack_of[number] : 0;
    uint32_t stack = 0;
    for (uint32_t i = k->count; i > 0; i--)
        stack = pfr_build_stack(m->build, stack, frame_id(m, k->frames[i - 1]));
    return m->stack_of[number] = stack;
}

static uint32_t comm_id(struct modelling *m, uint32_t number) {
    if (number && !m->comm_of[number])
        m->comm_of[number] = pfr_build_comm(m->build, m->stored->comms[number].bytes);
    return number ? m->comm_of[number] : 0;
}

/* A store has no thread ids, so threads with the same name become one thread. */
static uint32_t thread_id(struct modelling *m, uint32_t comm) {
    if (m->thread_of[comm])
        return m->thread_of[comm];
    if (!m->process)
        m->process =
            pfr_build_process(m->build, &(pfr_model_process){.pid = 1, .start = PFR_NO_TIME, .end = PFR_NO_TIME});
    return m->thread_of[comm] = pfr_build_thread(m->build, &(pfr_model_thread){.process = m->process,
                                                                               .tid = comm + 1,
                                                                               .comm = comm_id(m, comm),
                                                                               .start = PFR_NO_TIME,
                                                                               .end = PFR_NO_TIME});
}

static uint32_t event_id(struct modelling *m, uint32_t number) {
    const struct stored_event *e = &m->stored->events[number];
    const bool in_ns = e->traced && m->stored->frequency;
    const pfr_model_event row = {.name = e->name, .unit = in_ns ? "ns" : *e->unit ? e->unit : NULL};
    if (!m->event_of[number])
        m->event_of[number] = pfr_build_event(m->build, &row);
    return m->event_of[number];
}

/* --- Samples. */

static uint64_t weight_of(const struct stored *s, const struct stored_row *row) {
    const uint64_t weight = stored_amount(s, row), f = s->frequency;
    return s->source.traced && f ? (uint64_t)((unsigned __int128)weight * SECOND_NS / f) : weight;
}

static void put_row(struct modelling *m, const struct stored_row *row) {
    const uint64_t count = row->n ? row->n : 1, weight = weight_of(m->stored, row), each = weight / count;
    pfr_sample sample = {.time = row->time ? row->time : PFR_NO_TIME,
                         .thread = thread_id(m, row->comm),
                         .comm = comm_id(m, row->comm),
                         .cpu = PFR_NO_CPU,
                         .event = event_id(m, row->event),
                         .stack = stack_id(m, row->stack)};
    if (row->stack)
        sample.mode = m->stored->frames[m->stored->stacks[row->stack].frames[0]].mode;
    for (uint64_t i = 0; i < count; i++) {
        sample.weight = sample.period = i ? each : weight - each * (count - 1);
        if (!pfr_build_sample(m->build, &sample))
            return;
    }
}

/* --- The steps. */

static bool make_room(struct modelling *m) {
    const struct stored *s = m->stored;
    m->object_of = mem_zeroed(m->memory, (size_t)s->object_ids.count + 1, sizeof(uint32_t));
    m->frame_of = mem_zeroed(m->memory, (size_t)s->frame_ids.count + 1, sizeof(uint32_t));
    m->stack_of = mem_zeroed(m->memory, (size_t)s->stack_ids.count + 1, sizeof(uint32_t));
    m->comm_of = mem_zeroed(m->memory, (size_t)s->comm_ids.count + 1, sizeof(uint32_t));
    m->thread_of = mem_zeroed(m->memory, (size_t)s->comm_ids.count + 1, sizeof(uint32_t));
    m->event_of = mem_zeroed(m->memory, (size_t)s->event_ids.count + 1, sizeof(uint32_t));
    return m->object_of && m->frame_of && m->stack_of && m->comm_of && m->thread_of && m->event_of;
}

static void free_room(struct modelling *m) {
    const struct stored *s = m->stored;
    uint32_t *const arrays[] = {m->object_of, m->frame_of, m->stack_of, m->comm_of, m->thread_of, m->event_of};
    const uint32_t counts[] = {s->object_ids.count, s->frame_ids.count, s->stack_ids.count,
                               s->comm_ids.count,   s->comm_ids.count,  s->event_ids.count};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mem_free(m->memory, arrays[i], arrays[i] ? (size_t)counts[i] + 1 : 0, sizeof(uint32_t));
}

static pfr_status check(const struct stored *s, const pfr_model_options *o, pfr_error *err) {
    if (s->timeless)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, STORED_SUMS,
                        "this selection reads sums, which have no samples");
    const char *const what = o->lines || o->inlined ? "source lines or inlined functions"
                             : o->stitched          ? "branch stacks to stitch"
                             : o->beside            ? "a clock that a trace could share"
                                                    : NULL;
    return what ? pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "a store does not have %s", what) : PFR_OK;
}

/* Notes that times are rounded to slots, with the longest slot of the uploads. */
static void note_slots(const struct stored *s, const pfr_model_options *options) {
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{SECOND_NS, "s"}, {1000000, "ms"}, {1, "ns"}};
    uint64_t slot = 0;
    char text[100];
    size_t unit = 0;
    for (size_t i = 0; i < s->uploads.count; i++)
        slot = s->uploads.at[i].slot > slot ? s->uploads.at[i].slot : slot;
    if (!options->note || !slot)
        return;
    while (slot % units[unit].ns)
        unit++;
    snprintf(text, sizeof text, "times in a store are rounded to slots of %" PRIu64 " %s", slot / units[unit].ns,
             units[unit].name);
    options->note(options->context, text);
}

pfr_model *stored_model(const struct stored_source *source, pfr_reader *reader, const pfr_model_options *options,
                        pfr_error *err) {
    struct modelling m = {.stored = (const struct stored *)(const void *)source};
    struct memory memory;
    (void)reader;
    memory_init(&memory, &m.stored->memory.alloc, m.stored->memory.limit);
    m.memory = &memory;
    if (check(m.stored, options, err) < 0)
        return NULL;
    const pfr_limits limits = {.size = sizeof limits, .memory = m.stored->memory.limit};
    m.build = make_room(&m) ? pfr_model_build(&memory.alloc, &limits, err) : (mem_fail(&memory, err, "store"), NULL);
    for (size_t i = 0; m.build && i < m.stored->nr_rows; i++)
        put_row(&m, &m.stored->rows[i]);
    note_slots(m.stored, options);
    free_room(&m);
    pfr_model *const model = m.build ? pfr_build_finish(m.build, err) : NULL;
    if (model)
        model->has_slots = true;
    return model;
}

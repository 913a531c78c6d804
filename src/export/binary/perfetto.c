/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's trace format (protos/perfetto/trace/trace.proto): a file is a list of packets on one sequence.
 *
 *     clock, names, mappings, frames       written first, interned by the ids of the model
 *     a descriptor for each thread
 *     PerfSample (or StackSample)          a sample; a stack is interned in the first packet that uses it
 *     TrackEvent                           begin and end of a call, on the track of its thread
 *     PerfSample with kernel_records_lost  lost records
 *     TrackEvent, instant                  an event that the program logged, named by its text
 *
 * Times are those of the recording's clock. The file declares this clock to be the monotonic clock, and gives the
 * boot-time clock the same time.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/proto.h"
#include "export/rows/row_sinks.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_CLOCKS = 6, PACKET_TIME = 8, PACKET_SEQUENCE = 10, PACKET_TRACK_EVENT, PACKET_INTERNED, PACKET_FLAGS };
enum { PACKET_DEFAULTS = 59, PACKET_TRACK, PACKET_PERF_SAMPLE = 66, PACKET_STACK_SAMPLE = 135 };
enum { DEFAULT_CLOCK = 58, DEFAULT_STACK_SAMPLE = 100 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS = 2 };
enum { CLOCK_MONOTONIC_ID = 3, CLOCK_BOOT_ID = 6 };
enum { INTERNED_CATEGORY = 1, INTERNED_EVENT_NAME, INTERNED_FUNCTION = 5, INTERNED_FRAME, INTERNED_STACK };
enum { INTERNED_PATH = 17, INTERNED_MAPPING = 19 };
enum { STRING_IID = 1, STRING_BYTES };
enum { MAPPING_IID = 1, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_REL_PC };
enum { STACK_IID = 1, STACK_FRAMES };
enum { TRACK_UUID = 1, TRACK_THREAD = 4 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum { SAMPLE_CPU_FIELD = 1, SAMPLE_PID_FIELD, SAMPLE_TID_FIELD, SAMPLE_STACK, SAMPLE_MODE, SAMPLE_LOST = 17 };
enum { STACK_SAMPLE_TASK = 1, STACK_SAMPLE_EXECUTION = 3, STACK_SAMPLE_STACK = 6, STACK_SAMPLE_COUNTER = 9 };
enum { STACK_SAMPLE_WEIGHT = 11, TASK_PID = 2, TASK_TID, EXECUTION_CPU = 2, EXECUTION_MODE, COUNTER_NAME = 2 };
enum { EVENT_CATEGORY = 3, EVENT_TYPE = 9, EVENT_NAME, EVENT_TRACK, EVENT_CATEGORY_TEXT = 22, EVENT_NAME_TEXT };
enum { EVENT_BEGIN = 1, EVENT_END, EVENT_INSTANT };

#define ENTRIES_OF_PACKET 256u
#define SEQUENCE 1u

struct perfetto {
    bool stack_samples;
    struct output packet, part, inner, list; /* messages nested in each other */
    bool *has_stack;                         /* by stack: whether it is interned */
    uint32_t *path;
    size_t nr_stacks, path_room;
    struct row_frames frames; /* open calls of the current thread */
    uint64_t last;            /* time of the last event */
    uint32_t thread;
    bool has_begun; /* the first packet has been written */
};

static pfr_status end_packet(struct rows *r, uint64_t flags, pfr_error *err) {
    struct perfetto *p = r->state;
    proto_u64(&p->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_u64(&p->packet, PACKET_FLAGS, flags);
    proto_message(r->out, TRACE_PACKET, &p->packet);
    if (p->packet.status < 0 || p->part.status < 0 || p->inner.status < 0 || p->list.status < 0)
        return mem_fail(r->memory, err, "export");
    return r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

/* --- The head: clocks and interned data. */

static void put_clock(struct perfetto *p, uint64_t id, uint64_t time) {
    proto_u64(&p->inner, 1, id);
    proto_u64(&p->inner, 2, time);
    proto_message(&p->part, 1, &p->inner);
}

static pfr_status put_head(struct rows *r, pfr_error *err) {
    struct perfetto *p = r->state;
    put_clock(p, CLOCK_MONOTONIC_ID, r->begin);
    put_clock(p, CLOCK_BOOT_ID, r->begin);
    proto_message(&p->packet, PACKET_CLOCKS, &p->part);
    proto_u64(&p->part, DEFAULT_CLOCK, CLOCK_MONOTONIC_ID);
    if (p->stack_samples) {
        proto_bytes(&p->inner, 1, "linux.perf", strlen("linux.perf"));
        proto_message(&p->part, DEFAULT_STACK_SAMPLE, &p->inner);
    }
    proto_message(&p->packet, PACKET_DEFAULTS, &p->part);
    return end_packet(r, FLAG_CLEARED, err);
}

static void put_string(struct perfetto *p, unsigned field, uint64_t iid, struct intern_text text) {
    proto_u64(&p->inner, STRING_IID, iid);
    proto_bytes(&p->inner, STRING_BYTES, text.bytes, text.length);
    proto_message(&p->part, field, &p->inner);
}

/* The format stores names as bytes, but readers expect UTF-8. The escaped form is UTF-8. */
static struct intern_text escaped(struct rows *r, struct intern_text text) {
    struct perfetto *p = r->state;
    out_clear(&p->list);
    out_escaped(&p->list, text.bytes, text.length);
    const struct intern_text made = {(const uint8_t *)(p->list.used ? p->list.buffer : ""), (uint32_t)p->list.used};
    out_clear(&p->list);
    return made;
}

static void put_symbol(struct rows *r, uint32_t id) {
    struct perfetto *p = r->state;
    const pfr_model_symbol *symbol = pfr_model_get_symbol(r->model, id);
    const struct intern_text name = escaped(r, rows_symbol(r, id));
    if (r->is_traced)
        put_string(p, INTERNED_EVENT_NAME, id, name);
    if (!r->is_sampled)
        return;
    put_string(p, INTERNED_FUNCTION, id, name);
    proto_u64(&p->inner, FRAME_IID, id);
    proto_u64(&p->inner, FRAME_FUNCTION, id);
    proto_u64(&p->inner, FRAME_MAPPING, symbol->object);
    proto_number(&p->inner, FRAME_REL_PC, symbol->address);
    proto_message(&p->part, INTERNED_FRAME, &p->inner);
}

static void put_object(struct rows *r, uint32_t id) {
    struct perfetto *p = r->state;
    const char *path = pfr_model_get_object(r->model, id)->path;
    path = path ? path : pfr_model_get_object(r->model, id)->name;
    put_string(p, INTERNED_PATH, id, escaped(r, (struct intern_text){(const uint8_t *)path, (uint32_t)strlen(path)}));
    proto_u64(&p->inner, MAPPING_IID, id);
    proto_u64(&p->inner, MAPPING_PATH, id);
    proto_message(&p->part, INTERNED_MAPPING, &p->inner);
}

static pfr_status put_table(struct rows *r, pfr_table table, void (*put)(struct rows *r, uint32_t id), pfr_error *err) {
    struct perfetto *p = r->state;
    const uint32_t count = pfr_model_count(r->model, table);
    for (uint32_t id = 1; id <= count; id++) {
        put(r, id);
        if (id % ENTRIES_OF_PACKET && id < count)
            continue;
        proto_message(&p->packet, PACKET_INTERNED, &p->part);
        PFR_TRY(end_packet(r, FLAG_NEEDS, err));
    }
    return PFR_OK;
}

static pfr_status put_threads(struct rows *r, pfr_error *err) {
    struct perfetto *p = r->state;
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_THREAD); id++) {
        const struct intern_text name = escaped(r, rows_thread_name(r, id));
        proto_u64(&p->inner, THREAD_PID, rows_pid(r, id));
        proto_u64(&p->inner, THREAD_TID, rows_tid(r, id));
        proto_bytes(&p->inner, THREAD_NAME, name.bytes, name.length);
        proto_u64(&p->part, TRACK_UUID, id);
        proto_message(&p->part, TRACK_THREAD, &p->inner);
        proto_message(&p->packet, PACKET_TRACK, &p->part);
        PFR_TRY(end_packet(r, 0, err));
    }
    return PFR_OK;
}

/* --- Samples. */

/* Writes the stack into the packet, outermost frame first. */
static pfr_status intern_stack(struct rows *r, uint32_t stack, pfr_error *err) {
    struct perfetto *p = r->state;
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    size_t depth = 0;
    if (!stack || p->has_stack[stack])
        return PFR_OK;
    for (uint32_t id = stack; id; id = stacks[id].parent) {
        uint32_t *grown = mem_grow(r->memory, p->path, depth, &p->path_room, 256, sizeof *grown);
        if (!grown)
            return mem_fail(r->memory, err, "export");
        p->path = grown;
        p->path[depth++] = stacks[id].symbol;
    }
    proto_u64(&p->inner, STACK_IID, stack);
    while (depth > 0)
        proto_u64(&p->inner, STACK_FRAMES, p->path[--depth]);
    proto_message(&p->part, INTERNED_STACK, &p->inner);
    proto_message(&p->packet, PACKET_INTERNED, &p->part);
    p->has_stack[stack] = true;
    return PFR_OK;
}

static void put_perf_sample(struct rows *r, const pfr_sample *s) {
    struct perfetto *p = r->state;
    if (s->cpu != PFR_NO_CPU)
        proto_number(&p->part, SAMPLE_CPU_FIELD, s->cpu);
    proto_number(&p->part, SAMPLE_PID_FIELD, rows_pid(r, s->thread));
    proto_number(&p->part, SAMPLE_TID_FIELD, rows_tid(r, s->thread));
    proto_u64(&p->part, SAMPLE_STACK, s->stack);
    proto_u64(&p->part, SAMPLE_MODE, s->mode <= 5 ? s->mode : 0);
    proto_message(&p->packet, PACKET_PERF_SAMPLE, &p->part);
}

static uint64_t stack_sample_mode(uint8_t mode) {
    static const uint8_t modes[] = {0, 2, 1, 3, 4, 5}; /* by PFR_CPUMODE_*; the kernel is 1 there, 2 here */
    return mode < sizeof modes ? modes[mode] : 0;
}

static void put_stack_sample(struct rows *r, const pfr_sample *s) {
    struct perfetto *p = r->state;
    const char *event = rows_event_name(r, s->event);
    proto_u64(&p->inner, TASK_PID, rows_pid(r, s->thread));
    proto_u64(&p->inner, TASK_TID, rows_tid(r, s->thread));
    proto_message(&p->part, STACK_SAMPLE_TASK, &p->inner);
    if (s->cpu != PFR_NO_CPU)
        proto_number(&p->inner, EXECUTION_CPU, s->cpu);
    proto_u64(&p->inner, EXECUTION_MODE, stack_sample_mode(s->mode));
    proto_message(&p->part, STACK_SAMPLE_EXECUTION, &p->inner);
    proto_u64(&p->part, STACK_SAMPLE_STACK, s->stack);
    const struct intern_text name = escaped(r, (struct intern_text){(const uint8_t *)event, (uint32_t)strlen(event)});
    proto_bytes(&p->inner, COUNTER_NAME, name.bytes, name.length);
    proto_message(&p->part, STACK_SAMPLE_COUNTER, &p->inner);
    proto_number(&p->part, STACK_SAMPLE_WEIGHT, s->weight);
    proto_message(&p->packet, PACKET_STACK_SAMPLE, &p->part);
}

static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    struct perfetto *p = r->state;
    proto_number(&p->packet, PACKET_TIME, s->time == PFR_NO_TIME ? r->begin : s->time);
    PFR_TRY(intern_stack(r, s->stack, err));
    if (p->stack_samples)
        put_stack_sample(r, s);
    else
        put_perf_sample(r, s);
    return end_packet(r, FLAG_NEEDS, err);
}

static pfr_status put_logged(struct rows *r, const pfr_mark *mark, pfr_error *err) {
    struct perfetto *p = r->state;
    const char *text = mark->text ? mark->text : rows_mark_name(mark);
    const struct intern_text name = escaped(r, (struct intern_text){(const uint8_t *)text, (uint32_t)strlen(text)});
    proto_number(&p->packet, PACKET_TIME, mark->time == PFR_NO_TIME ? r->begin : mark->time);
    proto_u64(&p->part, EVENT_TYPE, EVENT_INSTANT);
    proto_u64(&p->part, EVENT_TRACK, mark->thread);
    proto_bytes(&p->part, EVENT_CATEGORY_TEXT, "event", strlen("event"));
    proto_bytes(&p->part, EVENT_NAME_TEXT, name.bytes, name.length);
    proto_message(&p->packet, PACKET_TRACK_EVENT, &p->part);
    return end_packet(r, FLAG_NEEDS, err);
}

static pfr_status put_mark(struct rows *r, const pfr_mark *mark, pfr_error *err) {
    struct perfetto *p = r->state;
    if (rows_is_logged(mark) && mark->thread)
        return put_logged(r, mark, err);
    if (mark->kind != PFR_MARK_LOST && mark->kind != PFR_MARK_LOST_SAMPLES)
        return PFR_OK;
    proto_number(&p->packet, PACKET_TIME, mark->time == PFR_NO_TIME ? r->end : mark->time);
    if (mark->cpu != PFR_NO_CPU)
        proto_number(&p->part, SAMPLE_CPU_FIELD, mark->cpu);
    proto_number(&p->part, SAMPLE_LOST, mark->count);
    proto_message(&p->packet, PACKET_PERF_SAMPLE, &p->part);
    return end_packet(r, FLAG_NEEDS, err);
}

/* --- Calls: each has a begin event and an end event. A callee ends before its caller. */

static pfr_status put_event(struct rows *r, unsigned type, uint32_t symbol, uint64_t time, pfr_error *err) {
    struct perfetto *p = r->state;
    p->last = time > p->last ? time : p->last;
    proto_number(&p->packet, PACKET_TIME, p->last);
    if (type == EVENT_BEGIN) {
        proto_u64(&p->part, EVENT_CATEGORY, 1);
        proto_u64(&p->part, EVENT_NAME, symbol);
    }
    proto_u64(&p->part, EVENT_TYPE, type);
    proto_u64(&p->part, EVENT_TRACK, p->thread);
    proto_message(&p->packet, PACKET_TRACK_EVENT, &p->part);
    return end_packet(r, FLAG_NEEDS, err);
}

/* Ends the calls that end before a call of this depth begins. */
static pfr_status end_calls(struct rows *r, uint32_t depth, pfr_error *err) {
    struct perfetto *p = r->state;
    struct row_frame left;
    while (row_frames_pop(&p->frames, depth, &left))
        PFR_TRY(put_event(r, EVENT_END, left.symbol, left.end, err));
    return PFR_OK;
}

static pfr_status put_call(struct rows *r, const struct row_call *c, pfr_error *err) {
    struct perfetto *p = r->state;
    PFR_TRY(end_calls(r, c->depth, err));
    PFR_TRY(put_event(r, EVENT_BEGIN, c->symbol, c->start, err));
    return row_frames_push(r, &p->frames, c, err);
}

static pfr_status put_calls(struct rows *r, struct row_calls *calls, pfr_error *err) {
    struct perfetto *p = r->state;
    const struct row_call *c;
    p->thread = calls->thread;
    p->last = 0;
    pfr_status st = row_calls_begin(calls, err);
    while (st >= 0 && (st = row_calls_next(calls, &c, err)) == PFR_OK)
        st = put_call(r, c, err);
    return st < 0 ? st : end_calls(r, 0, err);
}

static pfr_status write_perfetto(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = put_sample, .mark = put_mark, .in_time_order = true};
    struct perfetto *p = r->state;
    out_open_memory(&p->packet, r->memory);
    out_open_memory(&p->part, r->memory);
    out_open_memory(&p->inner, r->memory);
    out_open_memory(&p->list, r->memory);
    p->has_begun = true;
    p->nr_stacks = (size_t)pfr_model_count(r->model, PFR_TABLE_STACK) + 1;
    p->has_stack = mem_zeroed(r->memory, p->nr_stacks, sizeof *p->has_stack);
    if (!p->has_stack)
        return mem_fail(r->memory, err, "export");
    PFR_TRY(put_head(r, err));
    put_string(p, INTERNED_CATEGORY, 1, (struct intern_text){(const uint8_t *)"call", 4});
    proto_message(&p->packet, PACKET_INTERNED, &p->part);
    PFR_TRY(end_packet(r, FLAG_NEEDS, err));
    PFR_TRY(put_table(r, PFR_TABLE_OBJECT, put_object, err));
    PFR_TRY(put_table(r, PFR_TABLE_SYMBOL, put_symbol, err));
    PFR_TRY(put_threads(r, err));
    PFR_TRY(rows_walk(r, &visit, err));
    return r->is_traced ? rows_each_thread(r, put_calls, err) : PFR_OK;
}

static void clear(struct rows *r) {
    struct perfetto *p = r->state;
    mem_free(r->memory, p->has_stack, p->has_stack ? p->nr_stacks : 0, sizeof *p->has_stack);
    mem_free(r->memory, p->path, p->path_room, sizeof *p->path);
    row_frames_free(r, &p->frames);
    if (!p->has_begun)
        return;
    out_close(&p->packet, NULL);
    out_close(&p->part, NULL);
    out_close(&p->inner, NULL);
    out_close(&p->list, NULL);
}

static const struct row_option options[] = {{"stack-samples", ROW_FLAG, offsetof(struct perfetto, stack_samples)}, {0}};

const struct row_sink sink_perfetto = {
    .format = {.name = "perfetto",
               .suffix = ".pftrace",
               .about = "Perfetto's protobuf trace: samples and calls on one time line",
               .binary = true,
               .reader = "Perfetto UI, trace_processor",
               .losses = "weights of samples, unless --set stack-samples",
               .holds_both = true},
    .options = options,
    .state_size = sizeof(struct perfetto),
    .write = write_perfetto,
    .clear = clear,
};

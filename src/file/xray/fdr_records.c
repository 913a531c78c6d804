/* SPDX-License-Identifier: Apache-2.0 */
/* One record of the flight recorder: its length, whether it is plausible, and how it changes the current thread, cpu
   and time. The offsets of members are looked up in the layout tables only once, because this code runs for every
   call. */
#include "file/xray/fdr_records.h"

#include <perfray/record_structs.h>

#define MICROSECONDS 1000000u /* per second */
#define SECONDS_MOST ((uint64_t)1 << 33)

uint32_t xray_field_place(const pfr_reader *r, unsigned layout, const char *name) {
    uint32_t place = 0;
    uint64_t size;
    for (const struct field *f = layout_at(layout)->fields(); f->name && strcmp(f->name, name) != 0; f++)
        if (field_present(f, &r->context, NULL, 0) && field_fixed_size(f, &r->context, &size))
            place += (uint32_t)size;
    return place;
}

static void learn_bits(const pfr_reader *r, const char *name, uint32_t *shift, uint32_t *mask) {
    const unsigned pack = field_named(layout_at(L_fdr_function), name)->extra;
    const uint64_t bits = bits_into(0, 32, pack, r->context.mirrored, UINT64_MAX);
    *shift = (uint32_t)__builtin_ctzll(bits);
    *mask = (uint32_t)(bits >> *shift);
}

void fdr_learn(pfr_reader *r) {
    struct xray_trace *t = r->trace;
    t->places = (struct fdr_places){
        .tid = xray_field_place(r, L_fdr_new_buffer, "tid"),
        .pid = xray_field_place(r, L_fdr_pid, "pid"),
        .cpu = xray_field_place(r, L_fdr_new_cpu_id, "cpu"),
        .cpu_tsc = xray_field_place(r, L_fdr_new_cpu_id, "tsc"),
        .wrap_tsc = xray_field_place(r, L_fdr_tsc_wrap, "tsc"),
        .event_size = xray_field_place(r, L_fdr_custom_event, "size"),
        .event_tsc = xray_field_place(r, L_fdr_custom_event, "tsc"),
        .event_cpu = xray_field_place(r, L_fdr_custom_event, "cpu"),
        .event_delta = xray_field_place(r, L_fdr_custom_event, "delta"),
        .typed_delta = xray_field_place(r, L_fdr_typed_event, "delta"),
        .extents = xray_field_place(r, L_fdr_buffer_extents, "size"),
        .seconds = xray_field_place(r, L_fdr_wall_clock_time, "seconds"),
        .microseconds = xray_field_place(r, L_fdr_wall_clock_time, "microseconds"),
        .call_delta = xray_field_place(r, L_fdr_function, "delta"),
    };
    learn_bits(r, "action", &t->places.action_shift, &t->places.action_mask);
    learn_bits(r, "function", &t->places.function_shift, &t->places.function_mask);
    for (unsigned after = 0; after < FDR_STATES; after++)
        t->may_follow[after] = fdr_may_follow(t->version, after);
}

static uint32_t at_u32(const pfr_reader *r, const uint8_t *bytes, uint32_t place) {
    return load_u32(bytes + place, r->context.swap);
}

static uint64_t at_u64(const pfr_reader *r, const uint8_t *bytes, uint32_t place) {
    return load_u64(bytes + place, r->context.swap);
}

const char *fdr_wrong(const pfr_reader *r, uint32_t kind, const uint8_t *bytes, size_t have) {
    const struct fdr_places *p = &r->trace->places;
    if (kind == FDR_CALL) {
        const bool whole = have >= FDR_FUNCTION;
        return whole && (at_u32(r, bytes, 0) >> p->action_shift & p->action_mask) > PFR_TRACE_ENTER_ARGUMENT
                   ? "an action that no version has"
                   : NULL;
    }
    if (kind == FDR_NO_KIND)
        return "a type of record that no version has";
    if (fdr_is_event(kind) && have >= FDR_METADATA && (int32_t)at_u32(r, bytes, p->event_size) < 0)
        return "an event of negative size";
    return NULL;
}

uint64_t fdr_length(const pfr_reader *r, uint32_t kind, const uint8_t *bytes) {
    if (kind == FDR_CALL)
        return FDR_FUNCTION;
    return FDR_METADATA + (fdr_is_event(kind) ? (uint64_t)at_u32(r, bytes, r->trace->places.event_size) : 0);
}

void fdr_begin(pfr_reader *r, uint64_t end) {
    struct xray_trace *t = r->trace;
    t->buffer = (struct fdr_buffer){.inside = true, .end = end, .after = FDR_BEGIN};
    t->point = (pfr_trace_point){.buffer = t->point.buffer + 1, .buffer_offset = r->cursor.at};
}

pfr_status fdr_keep_base(pfr_reader *r, pfr_error *err) {
    const struct xray_trace *t = r->trace;
    if (t->version > 1 || !t->point.has_tid || !t->point.timed)
        return PFR_OK;
    PFR_TRY(u64_map_put(&r->trace->bases, (uint32_t)t->point.tid | FDR_BASE_LOST, 0, err));
    return u64_map_put(&r->trace->bases, (uint32_t)t->point.tid, t->buffer.base, err);
}

pfr_status fdr_lose_base(pfr_reader *r, pfr_error *err) {
    const struct xray_trace *t = r->trace;
    if (t->version > 1 || !t->point.has_tid)
        return PFR_OK;
    return u64_map_put(&r->trace->bases, (uint32_t)t->point.tid | FDR_BASE_LOST, 1, err);
}

bool fdr_kept_base(const pfr_reader *r, uint64_t *base) {
    const struct xray_trace *t = r->trace;
    const uint32_t tid = (uint32_t)t->point.tid;
    uint64_t lost = 0;
    u64_map_get(&t->bases, tid | FDR_BASE_LOST, &lost);
    return t->version == 1 && !lost && u64_map_get(&t->bases, tid, base);
}

/* Sets the base of later deltas, which is also the time of this record. */
static void set_base(struct xray_trace *t, uint64_t tsc) {
    t->buffer.base = t->point.tsc = tsc;
}

static void on_call(pfr_reader *r, const uint8_t *bytes) {
    struct xray_trace *t = r->trace;
    if (!t->point.timed && t->version == 1) /* in other versions the delta is added to 0 */
        t->point.timed = fdr_kept_base(r, &t->buffer.base);
    set_base(t, t->buffer.base + at_u32(r, bytes, t->places.call_delta));
}

static void move_base(pfr_reader *r, const uint8_t *bytes, uint32_t place) {
    const int64_t delta = (int32_t)at_u32(r, bytes, place);
    set_base(r->trace, r->trace->buffer.base + (uint64_t)delta);
}

/* From version 5 on, an event has a delta and moves the base; events of earlier versions state their own time. */
static void on_custom_event(pfr_reader *r, const uint8_t *bytes) {
    struct xray_trace *t = r->trace;
    if (t->version >= 5) {
        move_base(r, bytes, t->places.event_delta);
        return;
    }
    t->point.tsc = at_u64(r, bytes, t->places.event_tsc);
    if (t->version == 4)
        t->point.cpu = load_u16(bytes + t->places.event_cpu, r->context.swap);
}

static void on_typed_event(pfr_reader *r, const uint8_t *bytes) {
    move_base(r, bytes, r->trace->places.typed_delta);
}

/* 0 seconds and 0 microseconds mean that the recorder could not read the clock. */
static void on_wall_clock(pfr_reader *r, const uint8_t *bytes) {
    const uint64_t seconds = at_u64(r, bytes, r->trace->places.seconds);
    const uint32_t microseconds = at_u32(r, bytes, r->trace->places.microseconds);
    const bool is_time = seconds < SECONDS_MOST && microseconds < MICROSECONDS;
    r->trace->buffer.monotonic = is_time ? (seconds * MICROSECONDS + microseconds) * 1000 : 0;
}

static void on_new_cpu_id(pfr_reader *r, const uint8_t *bytes) {
    struct xray_trace *t = r->trace;
    t->point.cpu = t->buffer.cpu = load_u16(bytes + t->places.cpu, r->context.swap);
    t->point.timed = true;
    set_base(t, at_u64(r, bytes, t->places.cpu_tsc));
    xray_clock_add(&t->clock, t->point.tsc, t->buffer.monotonic);
}

static void on_tsc_wrap(pfr_reader *r, const uint8_t *bytes) {
    r->trace->point.timed = true;
    set_base(r->trace, at_u64(r, bytes, r->trace->places.wrap_tsc));
    xray_clock_add(&r->trace->clock, r->trace->point.tsc, 0);
}

static void on_new_buffer(pfr_reader *r, const uint8_t *bytes) {
    r->trace->point.tid = (int32_t)at_u32(r, bytes, r->trace->places.tid);
    r->trace->point.has_tid = true;
}

static void on_pid(pfr_reader *r, const uint8_t *bytes) {
    r->trace->point.pid = (int32_t)at_u32(r, bytes, r->trace->places.pid);
    r->trace->point.has_pid = true;
}

typedef void fdr_action(pfr_reader *r, const uint8_t *bytes);

static fdr_action *const actions[FDR_KINDS] = {
    [FDR_NEW_BUFFER] = on_new_buffer,      [FDR_NEW_CPU_ID] = on_new_cpu_id,   [FDR_TSC_WRAP] = on_tsc_wrap,
    [FDR_CUSTOM_EVENT] = on_custom_event,  [FDR_TYPED_EVENT] = on_typed_event, [FDR_PID] = on_pid,
    [FDR_WALL_CLOCK_TIME] = on_wall_clock,
};

void fdr_step(pfr_reader *r, uint32_t kind, const uint8_t *bytes) {
    struct xray_trace *t = r->trace;
    if (kind != FDR_END_OF_BUFFER ||
        t->version == 1) /* meaningless in later versions: reading continues as if it were absent */
        t->buffer.after = kind;
    t->buffer.reported = false;
    t->point.cpu = t->buffer.cpu;
    if (kind == FDR_CALL)
        on_call(r, bytes);
    else if (actions[kind])
        actions[kind](r, bytes);
    if (kind != FDR_WALL_CLOCK_TIME && kind != FDR_PID) /* any other record separates the two parts of a clock pair */
        t->buffer.monotonic = 0;
}

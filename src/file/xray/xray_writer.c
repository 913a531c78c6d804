/* SPDX-License-Identifier: Apache-2.0 */
/* Writes traces: see xray_writer.h. Records are written by their layouts. Only calls, which number in the millions, are
   assembled from bit positions that were looked up once. */
#include "file/xray/xray_writer.h"

#include "base/memory/fail.h"
#include "file/xray/xray.h"
#include "wire/layout_write.h"

#include <inttypes.h>

#define ROOM_MOST ((uint64_t)16 << 20)
#define STRIDE_LEAST 256u
#define STRIDE_USUAL 16384u
#define WITH_ARGUMENT (FDR_FUNCTION + FDR_METADATA)

static const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void store_u32(uint8_t *at, uint32_t v, bool swap) {
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(at, &v, sizeof v);
}

/* Appends one record to the buffer, encoded by its layout. */
static pfr_status put(struct xray_writer *w, struct output *out, unsigned number, const void *rec, pfr_bytes data,
                      pfr_error *err) {
    uint8_t bytes[64];
    struct writing to = writing_into(bytes, sizeof bytes);
    PFR_TRY(layout_write(layout_at(number), &w->context, rec, &to, err));
    out_write(out, bytes, (size_t)to.used);
    out_write(out, data.at, (size_t)data.length);
    w->records++;
    return PFR_OK;
}

static const pfr_bytes nothing;

static pfr_status put_metadata(struct xray_writer *w, unsigned number, const void *rec, pfr_error *err) {
    return put(w, &w->body, number, rec, nothing, err);
}

/* --- Opening. */

static struct call_places places_in(const struct pfr_context *c) {
    const struct layout *l = layout_at(L_fdr_function);
    const uint64_t action = bits_into(0, 32, field_named(l, "action")->extra, c->mirrored, UINT64_MAX);
    const uint64_t function = bits_into(0, 32, field_named(l, "function")->extra, c->mirrored, UINT64_MAX);
    return (struct call_places){(unsigned)__builtin_ctzll(action), (unsigned)__builtin_ctzll(function)};
}

/* Distance of buffers for version 1. Other versions do not use this word of the header, and it gets the source's buffer
   size. */
static uint64_t stride_like(const pfr_header *like) {
    return like->buffer_size >= STRIDE_LEAST && like->buffer_size <= ROOM_MOST ? like->buffer_size : STRIDE_USUAL;
}

static pfr_status write_header(struct xray_writer *w, const pfr_header *like, pfr_error *err) {
    const struct pfr_rec_xray_header header = {.version = (uint16_t)w->form.version,
                                               .type = !w->form.basic,
                                               .free_form = w->form.basic ? XRAY_BASIC_MARK : 0,
                                               .constant_tsc = like->constant_tsc,
                                               .nonstop_tsc = like->nonstop_tsc,
                                               .cycle_frequency = like->cycle_frequency,
                                               .buffer_size = w->form.basic ? 0
                                                              : w->stride   ? w->stride
                                                                            : like->buffer_size};
    const pfr_status s = put(w, w->out, L_xray_header, &header, nothing, err);
    w->records = 0;
    return s;
}

pfr_status xray_writer_open(struct xray_writer *w, const struct xray_form *form, const pfr_header *like,
                            struct memory *memory, struct output *out, pfr_error *err) {
    *w = (struct xray_writer){.memory = memory, .out = out, .form = *form, .room = ROOM_MOST};
    w->context.trace = true;
    w->context.swap = form->big_endian != host_big;
    w->context.mirrored = form->big_endian;
    w->context.word[WORD_VERSION] = form->version;
    w->places = places_in(&w->context);
    if (!form->basic && form->version == 1) {
        w->stride = stride_like(like);
        w->room = w->stride - FDR_METADATA;
    }
    out_open_memory(&w->body, memory);
    return write_header(w, like, err);
}

/* --- Buffers. */

static void fill(struct xray_writer *w, uint64_t length) {
    while (length > 0 && w->out->status >= 0) {
        const uint64_t piece = length < OUTPUT_BUFFER ? length : OUTPUT_BUFFER;
        out_fill(w->out, '\0', (size_t)piece);
        length -= piece;
    }
}

static pfr_status put_end(struct xray_writer *w, uint64_t length, pfr_error *err) {
    const struct pfr_rec_fdr_end_of_buffer end = {.metadata = 1, .kind = FDR_END_OF_BUFFER};
    if (w->form.version > 1)
        return PFR_OK;
    PFR_TRY(put(w, w->out, L_fdr_end_of_buffer, &end, nothing, err));
    fill(w, w->stride - FDR_METADATA - length);
    return PFR_OK;
}

static pfr_status put_extents(struct xray_writer *w, uint64_t length, pfr_error *err) {
    const struct pfr_rec_fdr_buffer_extents extents = {.metadata = 1, .kind = FDR_BUFFER_EXTENTS, .size = length};
    return w->form.version > 1 ? put(w, w->out, L_fdr_buffer_extents, &extents, nothing, err) : PFR_OK;
}

/* Writes the current buffer, except if it has no NewCPUId and therefore no records. */
static pfr_status end_buffer(struct xray_writer *w, pfr_error *err) {
    size_t length;
    if (!w->open)
        return PFR_OK;
    w->open = false;
    if (w->body.status < 0)
        return mem_fail(w->memory, err, "trace");
    const char *bytes = out_bytes(&w->body, &length);
    if (w->has_cpu) {
        PFR_TRY(put_extents(w, length, err));
        out_write(w->out, bytes, length);
        PFR_TRY(put_end(w, length, err));
        w->buffers++;
    }
    out_clear(&w->body);
    return PFR_OK;
}

/* CLOCK_MONOTONIC belongs to the first ticks of the thread. A continuation buffer has no such pair, so it gets 0. */
static pfr_status begin_buffer(struct xray_writer *w, bool goes_on, pfr_error *err) {
    const struct xray_thread_said *t = &w->thread;
    const struct pfr_rec_fdr_new_buffer begin = {.metadata = 1, .kind = FDR_NEW_BUFFER, .tid = (uint32_t)t->tid};
    const struct pfr_rec_fdr_wall_clock_time wall = {.metadata = 1,
                                                     .kind = FDR_WALL_CLOCK_TIME,
                                                     .seconds = goes_on ? 0 : (uint64_t)t->seconds,
                                                     .microseconds = goes_on ? 0 : (uint32_t)t->microseconds};
    const struct pfr_rec_fdr_pid pid = {.metadata = 1, .kind = FDR_PID, .pid = (uint32_t)t->pid};
    PFR_TRY(put_metadata(w, L_fdr_new_buffer, &begin, err));
    PFR_TRY(put_metadata(w, L_fdr_wall_clock_time, &wall, err));
    if (w->form.version >= 3 && t->has_pid)
        PFR_TRY(put_metadata(w, L_fdr_pid, &pid, err));
    w->open = true;
    w->has_cpu = false;
    w->base = 0;
    return PFR_OK;
}

pfr_status xray_write_thread(struct xray_writer *w, const struct xray_thread_said *thread, pfr_error *err) {
    w->thread = *thread;
    if (w->form.basic)
        return PFR_OK;
    w->may_have_argument = false;
    PFR_TRY(end_buffer(w, err));
    return begin_buffer(w, false, err);
}

static pfr_status put_cpu(struct xray_writer *w, uint16_t cpu, uint64_t tsc, pfr_error *err) {
    const struct pfr_rec_fdr_new_cpu_id rec = {.metadata = 1, .kind = FDR_NEW_CPU_ID, .cpu = cpu, .tsc = tsc};
    w->may_have_argument = false;
    w->has_cpu = true;
    w->cpu = cpu;
    w->base = tsc;
    return put_metadata(w, L_fdr_new_cpu_id, &rec, err);
}

/* Makes room for a record of `need` bytes on this cpu at this time; if the buffer is full, begins another. */
static pfr_status make_room(struct xray_writer *w, uint16_t cpu, uint64_t tsc, uint64_t need, pfr_error *err) {
    if (!w->open)
        PFR_TRY(begin_buffer(w, true, err));
    if (w->body.used + need + 2 * FDR_METADATA > w->room) {
        PFR_TRY(end_buffer(w, err));
        PFR_TRY(begin_buffer(w, true, err));
    }
    return w->has_cpu && w->cpu == cpu ? PFR_OK : put_cpu(w, cpu, tsc, err);
}

pfr_status xray_write_cpu(struct xray_writer *w, uint16_t cpu, uint64_t tsc, pfr_error *err) {
    if (w->form.basic)
        return PFR_OK;
    PFR_TRY(make_room(w, w->has_cpu ? w->cpu : cpu, tsc, FDR_METADATA, err));
    return w->base == tsc && w->cpu == cpu && w->has_cpu ? PFR_OK : put_cpu(w, cpu, tsc, err);
}

static pfr_status put_wrap(struct xray_writer *w, uint64_t tsc, pfr_error *err) {
    const struct pfr_rec_fdr_tsc_wrap rec = {.metadata = 1, .kind = FDR_TSC_WRAP, .tsc = tsc};
    w->base = tsc;
    w->may_have_argument = false;
    return put_metadata(w, L_fdr_tsc_wrap, &rec, err);
}

pfr_status xray_write_wrap(struct xray_writer *w, uint64_t tsc, pfr_error *err) {
    if (w->form.basic)
        return PFR_OK;
    PFR_TRY(make_room(w, w->cpu, tsc, FDR_METADATA, err));
    return put_wrap(w, tsc, err);
}

/* Computes the delta to this time. If it is too large for its field, writes a TSCWrap first. */
static pfr_status delta_to(struct xray_writer *w, uint64_t tsc, uint32_t *delta, pfr_error *err) {
    const uint64_t most = w->form.version >= 5 ? INT32_MAX : UINT32_MAX;
    if (tsc < w->base || tsc - w->base > most)
        PFR_TRY(put_wrap(w, tsc, err));
    *delta = (uint32_t)(tsc - w->base);
    return PFR_OK;
}

/* --- Calls. */

static pfr_status basic_call(struct xray_writer *w, uint16_t cpu, const struct xray_call *call, pfr_error *err) {
    const struct pfr_rec_basic_function rec = {.cpu = (uint8_t)cpu,
                                               .action = (uint8_t)call->action,
                                               .function = call->function,
                                               .tsc = call->tsc,
                                               .tid = (uint32_t)w->thread.tid,
                                               .pid = (uint32_t)w->thread.pid};
    return put(w, w->out, L_basic_function, &rec, nothing, err);
}

/* Whether the trace form has room for the function of the last call: flight-recorder traces have 28 bits. */
static bool has_room_for_function(const struct xray_writer *w) {
    return w->form.basic || w->last.function <= FDR_FUNCTION_ID_MOST;
}

static pfr_status refuse_function(const struct xray_writer *w, pfr_error *err) {
    return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "call",
                    "function %" PRIu32 ": flight-recorder traces have only functions below 2^28", w->last.function);
}

pfr_status xray_write_call(struct xray_writer *w, uint16_t cpu, const struct xray_call *call, pfr_error *err) {
    uint8_t bytes[FDR_FUNCTION];
    uint32_t delta;
    w->last = *call;
    if (w->form.basic) {
        w->may_have_argument = true;
        return basic_call(w, cpu, call, err);
    }
    if (!has_room_for_function(w))
        return refuse_function(w, err);
    if (!w->open || !w->has_cpu || w->cpu != cpu || w->body.used + WITH_ARGUMENT + 2 * FDR_METADATA > w->room)
        PFR_TRY(make_room(w, cpu, call->tsc, WITH_ARGUMENT, err));
    PFR_TRY(delta_to(w, call->tsc, &delta, err));
    store_u32(bytes, call->action << w->places.action | call->function << w->places.function, w->context.swap);
    store_u32(bytes + 4, delta, w->context.swap);
    out_write(&w->body, bytes, sizeof bytes);
    w->base = call->tsc;
    w->records++;
    w->may_have_argument = true;
    return PFR_OK;
}

pfr_status xray_write_argument(struct xray_writer *w, uint64_t value, pfr_error *err) {
    const struct pfr_rec_fdr_call_argument rec = {.metadata = 1, .kind = FDR_CALL_ARGUMENT, .value = value};
    const struct pfr_rec_basic_argument basic = {.kind = 1,
                                                 .function = w->last.function,
                                                 .tid = (uint32_t)w->thread.tid,
                                                 .pid = (uint32_t)w->thread.pid,
                                                 .value = value};
    if (!has_room_for_function(w))
        return refuse_function(w, err);
    if (!w->may_have_argument)
        return PFR_OK;
    if (w->form.basic)
        return put(w, w->out, L_basic_argument, &basic, nothing, err);
    if (w->body.used + FDR_METADATA > w->room)
        return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "argument", "a call has more arguments than fit in a buffer");
    return put_metadata(w, L_fdr_call_argument, &rec, err);
}

/* --- Events. */

static pfr_status put_event(struct xray_writer *w, unsigned number, const void *rec, pfr_error *err) {
    struct writing to = writing_nowhere();
    PFR_TRY(layout_write(layout_at(number), &w->context, rec, &to, err));
    const size_t length = (size_t)to.used;
    uint8_t *bytes = mem_alloc(w->memory, length, 1);
    if (!bytes)
        return mem_fail(w->memory, err, "trace");
    to = writing_into(bytes, length);
    const pfr_status s = layout_write(layout_at(number), &w->context, rec, &to, err);
    if (s >= 0)
        out_write(&w->body, bytes, length);
    w->records += s >= 0;
    mem_free(w->memory, bytes, length, 1);
    return s;
}

static pfr_status put_custom(struct xray_writer *w, uint64_t tsc, const pfr_bytes *data, pfr_error *err) {
    struct pfr_rec_fdr_custom_event rec = {
        .metadata = 1, .kind = FDR_CUSTOM_EVENT, .size = (uint32_t)data->length, .data = *data};
    if (w->form.version >= 5) {
        PFR_TRY(delta_to(w, tsc, &rec.delta, err));
        w->base = tsc;
    } else {
        rec.tsc = tsc;
        rec.cpu = w->cpu;
    }
    return put_event(w, L_fdr_custom_event, &rec, err);
}

static pfr_status put_typed(struct xray_writer *w, uint64_t tsc, uint16_t type, const pfr_bytes *data, pfr_error *err) {
    struct pfr_rec_fdr_typed_event rec = {
        .metadata = 1, .kind = FDR_TYPED_EVENT, .size = (uint32_t)data->length, .type = type, .data = *data};
    PFR_TRY(delta_to(w, tsc, &rec.delta, err));
    w->base = tsc;
    return put_event(w, L_fdr_typed_event, &rec, err);
}

pfr_status xray_write_event(struct xray_writer *w, uint16_t cpu, uint64_t tsc, int32_t type, const pfr_bytes *data,
                            pfr_error *err) {
    const uint64_t need = FDR_METADATA + data->length;
    if (w->form.basic || (type >= 0 && w->form.version < 5))
        return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "event", "%s of version %u has no %s events",
                        w->form.basic ? "a basic log" : "a flight recorder's trace", w->form.version,
                        type < 0 ? "custom" : "typed");
    if (data->length == 0)
        return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "event", "an event of 0 bytes, which readers refuse");
    if (need + 7 * FDR_METADATA > w->room)
        return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "event",
                        "an event of %" PRIu64 " bytes does not fit in a buffer", data->length);
    PFR_TRY(make_room(w, cpu, tsc, need, err));
    w->may_have_argument = false;
    return type < 0 ? put_custom(w, tsc, data, err) : put_typed(w, tsc, (uint16_t)type, data, err);
}

/* --- The end. */

pfr_status xray_writer_end(struct xray_writer *w, pfr_error *err) {
    return w->form.basic ? PFR_OK : end_buffer(w, err);
}

void xray_writer_close(struct xray_writer *w) {
    out_close(&w->body, NULL);
}

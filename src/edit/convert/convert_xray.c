/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts an XRay trace into another version and byte order. Each buffer becomes one buffer. Records that the output
 * format cannot represent (typed events before version 5, any event in a basic log, events of 0 bytes) are counted and
 * reported as lost. For truncated buffers, the extents are corrected to match the contents.
 */
#include "edit/convert/convert_xray.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"
#include "base/io/whole_file.h"
#include "file/xray/xray_writer.h"
#include "wire/any_layout.h"
#include "wire/recorder_file.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define CALLS_AT_ONCE SIZE_MOST_calls_batch
#define KIND_AT offsetof(struct rtf_note, kind) /* offset of the lowest byte: the runtime writes little-endian */

struct xray_conversion {
    pfr_reader *reader;
    const pfr_edit_options *options;
    pfr_edit_counts counts;
    const pfr_trace_point *point;
    struct xray_writer writer;
    struct xray_thread_said thread;
    uint64_t buffer; /* number of the input buffer to which `thread` belongs */
    bool begun;      /* the writer has the preamble of the thread */
};

typedef pfr_status conversion_record(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                                     pfr_error *err);

static void lose(struct xray_conversion *c, const pfr_error *hole) {
    c->counts.lost++;
    c->counts.lost_bytes += hole->length;
    if (c->options->hole)
        c->options->hole(c->options->context, hole);
}

/* --- Threads. */

/* Writes the preamble of a buffer, unless that is already done. Callers call this before the first record that is not
 * part of the preamble, when all parts of the preamble are known. */
static pfr_status begin(struct xray_conversion *c, pfr_error *err) {
    if (c->begun)
        return PFR_OK;
    c->begun = true;
    return xray_write_thread(&c->writer, &c->thread, err);
}

/* Basic logs have no buffers: consecutive calls of one thread become one buffer. */
static pfr_status follow_thread(struct xray_conversion *c, pfr_error *err) {
    const pfr_trace_point *p = c->point;
    if (c->reader->header.format == PFR_XRAY_BASIC &&
        (!c->begun || c->thread.tid != p->tid || c->thread.pid != p->pid)) {
        c->thread = (struct xray_thread_said){.tid = p->tid, .pid = p->pid, .has_pid = p->has_pid};
        c->begun = false;
    }
    return begin(c, err);
}

static void begin_buffer(struct xray_conversion *c) {
    c->buffer = c->point->buffer;
    c->thread = (struct xray_thread_said){.tid = c->point->tid};
    c->begun = false;
}

/* --- Records. */

static pfr_status on_new_buffer(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                                pfr_error *err) {
    (void)rec;
    (void)err;
    c->thread.tid = (int32_t)body->as_fdr_new_buffer.tid;
    return PFR_OK;
}

static pfr_status on_wall_clock(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                                pfr_error *err) {
    (void)rec;
    (void)err;
    c->thread.seconds = (int64_t)body->as_fdr_wall_clock_time.seconds;
    c->thread.microseconds = (int32_t)body->as_fdr_wall_clock_time.microseconds;
    return PFR_OK;
}

static pfr_status on_pid(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                         pfr_error *err) {
    (void)rec;
    (void)err;
    c->thread.pid = (int32_t)body->as_fdr_pid.pid;
    c->thread.has_pid = true;
    return PFR_OK;
}

static pfr_status on_cpu(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                         pfr_error *err) {
    (void)rec;
    PFR_TRY(begin(c, err));
    return xray_write_cpu(&c->writer, body->as_fdr_new_cpu_id.cpu, body->as_fdr_new_cpu_id.tsc, err);
}

static pfr_status on_wrap(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                          pfr_error *err) {
    (void)rec;
    PFR_TRY(begin(c, err));
    return xray_write_wrap(&c->writer, body->as_fdr_tsc_wrap.tsc, err);
}

/* `s` is the status of writing the record. HOLE means that the output format cannot represent the record, which is then
 * reported as lost; other errors are returned. */
static pfr_status lose_here(struct xray_conversion *c, const pfr_record *rec, pfr_status s, pfr_error *why,
                            pfr_error *err) {
    if (s == PFR_HOLE) {
        why->offset = rec->offset;
        why->length = rec->size;
        lose(c, why);
    } else if (s < 0) {
        *err = *why;
    }
    return s < 0 ? s : PFR_OK;
}

static pfr_status write_event(struct xray_conversion *c, const pfr_record *rec, int32_t type, const pfr_bytes *data,
                              pfr_error *err) {
    pfr_error why;
    PFR_TRY(begin(c, err));
    const pfr_status s = xray_write_event(&c->writer, c->point->cpu, c->point->tsc, type, data, &why);
    return lose_here(c, rec, s, &why, err);
}

/* True for a control block of the runtime that announces slots. Slots are not copied, so the copy of the control block
 * must not announce them, or readers would take the output for a truncated trace. */
static bool describes_slots(const pfr_bytes *data) {
    return data->length >= sizeof(struct rtf_control) && memcmp(data->at, RTF_MAGIC, RTF_MAGIC_SIZE) == 0 &&
           (data->at[KIND_AT] == RTF_RUNNING || data->at[KIND_AT] == RTF_SETTLED);
}

static pfr_status write_control(struct xray_conversion *c, const pfr_record *rec, const pfr_bytes *data,
                                pfr_error *err) {
    struct memory *const memory = &c->reader->memory;
    uint8_t *const own = mem_alloc(memory, data->length, 1);
    if (!own)
        return mem_fail(memory, err, "control");
    memcpy(own, data->at, data->length);
    own[KIND_AT] = RTF_COPIED;
    const pfr_status st = write_event(c, rec, -1, &(pfr_bytes){own, data->length}, err);
    mem_free(memory, own, data->length, 1);
    return st;
}

static pfr_status on_custom(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                            pfr_error *err) {
    const pfr_bytes *const data = &body->as_fdr_custom_event.data;
    return describes_slots(data) ? write_control(c, rec, data, err) : write_event(c, rec, -1, data, err);
}

static pfr_status on_typed(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                           pfr_error *err) {
    return write_event(c, rec, body->as_fdr_typed_event.type, &body->as_fdr_typed_event.data, err);
}

static pfr_status write_argument(struct xray_conversion *c, const pfr_record *rec, uint64_t value, pfr_error *err) {
    pfr_error why;
    return lose_here(c, rec, xray_write_argument(&c->writer, value, &why), &why, err);
}

/* An argument at the start of a buffer belongs to no call; the reader has reported it. */
static pfr_status on_argument(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                              pfr_error *err) {
    return c->begun ? write_argument(c, rec, body->as_fdr_call_argument.value, err) : PFR_OK;
}

static pfr_status on_basic_argument(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                                    pfr_error *err) {
    if (body->as_basic_argument.function != c->writer.last.function ||
        (int32_t)body->as_basic_argument.tid != c->thread.tid)
        return PFR_OK; /* belongs to another call; the reader has reported it */
    return write_argument(c, rec, body->as_basic_argument.value, err);
}

/* Writes a call and all calls that follow it directly. Their records have the same size. */
static pfr_status write_calls(struct xray_conversion *c, const pfr_record *rec, const struct xray_call *first,
                              pfr_error *err) {
    struct xray_call calls[CALLS_AT_ONCE];
    pfr_error why;
    size_t count;
    PFR_TRY(follow_thread(c, err));
    PFR_TRY(lose_here(c, rec, xray_write_call(&c->writer, c->point->cpu, first, &why), &why, err));
    pfr_record each = *rec;
    while ((count = xray_take_calls(c->reader, calls, sizes.calls_batch)) > 0)
        for (size_t i = 0; i < count; i++) {
            each.offset = c->reader->cursor.at - (count - i) * (uint64_t)rec->size;
            PFR_TRY(lose_here(c, &each, xray_write_call(&c->writer, c->point->cpu, &calls[i], &why), &why, err));
        }
    return PFR_OK;
}

static pfr_status on_call(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                          pfr_error *err) {
    struct xray_call call;
    (void)body;
    return xray_call_of(c->reader, rec, &call) ? write_calls(c, rec, &call, err) : PFR_OK;
}

static pfr_status on_basic_call(struct xray_conversion *c, const pfr_record *rec, const union any_layout *body,
                                pfr_error *err) {
    const struct xray_call call = {body->as_basic_function.tsc, body->as_basic_function.function,
                                   body->as_basic_function.action};
    return write_calls(c, rec, &call, err);
}

/* NULL: the writer makes records of this type itself. No default: the compiler reports a type that is missing here. */
static conversion_record *conversion_of(uint32_t type) {
    switch ((pfr_trace_type)type) {
    case PFR_TRACE_FUNCTION:
        return on_call;
    case PFR_TRACE_BASIC_FUNCTION:
        return on_basic_call;
    case PFR_TRACE_NEW_CPU_ID:
        return on_cpu;
    case PFR_TRACE_TSC_WRAP:
        return on_wrap;
    case PFR_TRACE_CALL_ARGUMENT:
        return on_argument;
    case PFR_TRACE_BASIC_ARGUMENT:
        return on_basic_argument;
    case PFR_TRACE_CUSTOM_EVENT:
        return on_custom;
    case PFR_TRACE_TYPED_EVENT:
        return on_typed;
    case PFR_TRACE_NEW_BUFFER:
        return on_new_buffer;
    case PFR_TRACE_WALL_CLOCK_TIME:
        return on_wall_clock;
    case PFR_TRACE_PID:
        return on_pid;
    case PFR_TRACE_END_OF_BUFFER:
    case PFR_TRACE_BUFFER_EXTENTS:
    case PFR_TRACE_PROFILE_BLOCK: /* profiles cannot be written */
    case PFR_TRACE_PROFILE_PATH:
        break;
    }
    return NULL;
}

/* A WallClockTime forms a clock pair with the next NewCPUId, with at most a Pid between them. Any other record clears
 * the time, so that no pair is formed with a NewCPUId that the writer inserts. */
static void follow_clock(struct xray_conversion *c, uint32_t type) {
    if (type != PFR_TRACE_WALL_CLOCK_TIME && type != PFR_TRACE_PID && type != PFR_TRACE_NEW_CPU_ID)
        c->thread.seconds = c->thread.microseconds = 0;
}

static pfr_status conversion_one(struct xray_conversion *c, const pfr_record *rec, pfr_error *err) {
    union any_layout body;
    if (c->reader->header.format == PFR_XRAY_FDR && c->point->buffer != c->buffer)
        begin_buffer(c);
    follow_clock(c, rec->type);
    conversion_record *const conversion = conversion_of(rec->type);
    if (!conversion)
        return PFR_OK;
    if (rec->type != PFR_TRACE_FUNCTION)
        PFR_TRY(pfr_decode(rec, &body, layout_at(layout_of_type(rec->context, rec->type))->size, err));
    return conversion(c, rec, &body, err);
}

static pfr_status conversion_all(struct xray_conversion *c, pfr_error *err) {
    pfr_record rec;
    pfr_error hole;
    pfr_status s;
    while ((s = pfr_next(c->reader, &rec, &hole)) >= 0 && s != PFR_END) {
        if (s == PFR_HOLE)
            lose(c, &hole);
        else
            PFR_TRY(conversion_one(c, &rec, err));
    }
    if (s < 0)
        *err = hole;
    PFR_TRY(s);
    return xray_writer_end(&c->writer, err);
}

/* --- Output. */

static pfr_status form_of(const struct xray_conversion *c, struct xray_form *form, pfr_error *err) {
    const pfr_header *h = &c->reader->header;
    const pfr_edit_options *o = c->options;
    if (h->format == PFR_XRAY_PROFILE)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "", "XRay profiles cannot be written");
    if (o->to_form || o->attr_size || o->compression != PFR_EDIT_AS_IT_IS)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "",
                        "XRay traces have no container, attribute size or compression to convert");
    form->big_endian = o->order == PFR_ORDER_HOST ? h->big_endian : o->order == PFR_ORDER_BIG;
    form->basic = o->trace == PFR_EDIT_TRACE_SAME ? h->format == PFR_XRAY_BASIC : o->trace == PFR_EDIT_TRACE_BASIC;
    form->version = form->basic ? 3 : o->trace == PFR_EDIT_TRACE_SAME ? h->version : (unsigned)o->trace;
    return PFR_OK;
}

static pfr_status write_to(struct xray_conversion *c, const struct xray_form *form, struct output *out,
                           pfr_error *err) {
    pfr_status s = xray_writer_open(&c->writer, form, &c->reader->header, &c->reader->memory, out, err);
    if (s >= 0)
        s = conversion_all(c, err);
    xray_writer_close(&c->writer);
    c->counts.records = c->writer.records;
    return s;
}

static pfr_status write_stream(struct xray_conversion *c, const struct xray_form *form, pfr_error *err) {
    struct output out;
    PFR_TRY(out_open_fd(&out, STDOUT_FILENO, false, &c->reader->memory, NULL, err));
    const pfr_status s = write_to(c, form, &out, err), closed = out_close(&out, s < 0 ? NULL : err);
    return s < 0 ? s : closed < 0 ? closed : s;
}

static pfr_status write_file(struct xray_conversion *c, const struct xray_form *form, pfr_error *err) {
    struct whole_file file;
    struct output out;
    PFR_TRY(whole_file_may_go_to(c->options->path, err));
    PFR_TRY(whole_file_open(&file, c->options->path, &c->reader->memory, &out, err));
    const pfr_status s = write_to(c, form, &out, err);
    const pfr_status closed = whole_file_close(&file, &out, s >= 0, s < 0 ? NULL : err);
    return s < 0 ? s : closed < 0 ? closed : s;
}

pfr_status conversion_trace(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts,
                            pfr_error *err) {
    struct xray_conversion c = {.reader = reader, .options = options, .point = pfr_get_trace_point(reader)};
    struct xray_form form;
    PFR_TRY(form_of(&c, &form, err));
    const pfr_status s = strcmp(options->path, "-") == 0 ? write_stream(&c, &form, err) : write_file(&c, &form, err);
    if (counts)
        *counts = c.counts;
    return s < 0 || c.counts.lost == 0 ? s : PFR_HOLE;
}

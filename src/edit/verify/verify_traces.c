/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for XRay traces: sequences that the grammar allows but that confuse readers. Calls are read in batches. */
#include "edit/verify/verify_parts.h"

#include "file/xray/xray_calls.h"
#include "wire/any_layout.h"
#include "wire/recorder_file.h"

#include "base/memory/sizes.h"

#define CALLS_AT_ONCE SIZE_MOST_calls_batch
#define MILLION 1000000

static bool body_of(const struct verify *v, union any_layout *body) {
    const struct layout *l = layout_at(layout_of_type(v->rec->context, v->rec->type));
    return l && pfr_decode(v->rec, body, l->size, NULL) == PFR_OK;
}

pfr_status xray_thread(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body) && (int32_t)body.as_fdr_new_buffer.tid <= 0)
        verify_report_record(v, rule,
                             (int32_t)body.as_fdr_new_buffer.tid < 0
                                 ? "a buffer of thread %d: gettid(2) was refused to the recorder, as seccomp filters do"
                                 : "a buffer of thread %d",
                             (int)body.as_fdr_new_buffer.tid);
    return PFR_OK;
}

pfr_status xray_wall_clock(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (!body_of(v, &body))
        return PFR_OK;
    const int32_t micros = (int32_t)body.as_fdr_wall_clock_time.microseconds;
    if (micros < 0 || micros >= MILLION || (int64_t)body.as_fdr_wall_clock_time.seconds < 0)
        verify_report_record(v, rule, "%lld seconds and %d microseconds",
                             (long long)body.as_fdr_wall_clock_time.seconds, micros);
    return PFR_OK;
}

pfr_status xray_function_zero(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if ((int32_t)v->call->function <= 0)
        verify_report_record(v, rule, "no function has the number %d", (int)v->call->function);
    return PFR_OK;
}

pfr_status xray_argument_missing(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    verify_report(v, rule, v->buffer.waits_from, 8, "an enter record announces an argument, but no argument follows");
    return PFR_OK;
}

pfr_status xray_event_empty(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body) && body.as_fdr_custom_event.size == 0)
        verify_report_record(v, rule, "an event of 0 bytes");
    return PFR_OK;
}

pfr_status xray_typed_empty(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body) && body.as_fdr_typed_event.size == 0)
        verify_report_record(v, rule, "an event of 0 bytes");
    return PFR_OK;
}

pfr_status profile_path_empty(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body) && body.as_profile_path.path.count == 0)
        verify_report_record(v, rule, "a profile has an empty call path");
    return PFR_OK;
}

/* --- Rules of a buffer. */

pfr_status xray_no_cpu(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->buffer.number > 0 && v->buffer.has_records && !v->buffer.has_cpu && v->reader->header.version > 1)
        verify_report(v, rule, v->buffer.offset, 16, "a buffer without NewCPUId: its records have no time");
    return PFR_OK;
}

/* The next buffer begins, or the input ends, before this buffer's extents do. */
pfr_status xray_extents(struct verify *v, const struct rule *rule, pfr_error *err) {
    const struct verify_buffer *b = &v->buffer;
    const bool is_last = v->point->buffer == b->number;
    const uint64_t next = is_last ? v->reader->cursor.at : v->point->buffer_offset;
    (void)err;
    if (b->end > next)
        verify_report(v, rule, b->offset, 16, "the buffer should end at %llu, but %s at %llu",
                      (unsigned long long)b->end, is_last ? "the trace ends" : "the next one begins",
                      (unsigned long long)next);
    return PFR_OK;
}

pfr_status xray_no_buffers(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->point && v->reader->damage.quality.records == 0 && v->reader->damage.quality.holes == 0)
        verify_report(v, rule, 0, v->reader->header.header_size, "nothing follows the header");
    return PFR_OK;
}

pfr_status xray_frequency(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_header *h = &v->reader->header;
    (void)err;
    if (v->point && h->format != PFR_XRAY_PROFILE && h->cycle_frequency == 0)
        verify_report(v, rule, 8, 8, "the frequency of the clock is 0: times are ticks");
    return PFR_OK;
}

/* Calls left out by a requested depth limit are not lost. */
pfr_status xray_lost(struct verify *v, const struct rule *rule, pfr_error *err) {
    pfr_trace_loss loss;
    (void)err;
    for (uint32_t i = 0; pfr_get_trace_loss(v->reader, i, &loss); i++)
        if (strcmp(loss.cause, "depth") != 0)
            verify_report(v, rule, RTF_CONTROL_AT, sizeof(struct rtf_control), "%s", loss.sentence);
    return PFR_OK;
}

/* --- The walk. */

/* Reports an enter record that announced an argument if the argument did not follow. */
static pfr_status settle_argument(struct verify *v, pfr_error *err) {
    if (v->buffer.waits_from == UINT64_MAX)
        return PFR_OK;
    const pfr_status s = verify_ask_only(v, AT_CALL, CALL_WITHOUT_ARGUMENT, err);
    v->buffer.waits_from = UINT64_MAX;
    return s;
}

static pfr_status end_buffer(struct verify *v, pfr_error *err) {
    PFR_TRY(settle_argument(v, err));
    return verify_ask_only(v, AT_BUFFER, 0, err);
}

pfr_status verify_trace_end(struct verify *v, pfr_error *err) {
    return v->reader->header.format == PFR_XRAY_FDR ? end_buffer(v, err) : PFR_OK;
}

static pfr_status begin_buffer(struct verify *v, pfr_error *err) {
    PFR_TRY(end_buffer(v, err));
    v->buffer =
        (struct verify_buffer){.number = v->point->buffer, .offset = v->point->buffer_offset, .waits_from = UINT64_MAX};
    return PFR_OK;
}

static void note_extents(struct verify *v) {
    union any_layout body;
    const uint64_t begin = v->rec->offset + v->rec->size;
    if (body_of(v, &body))
        v->buffer.end =
            body.as_fdr_buffer_extents.size > UINT64_MAX - begin ? UINT64_MAX : begin + body.as_fdr_buffer_extents.size;
}

/* Checks the call of the current record. */
static pfr_status check_call(struct verify *v, const struct xray_call *call, pfr_error *err) {
    v->call = call;
    PFR_TRY(settle_argument(v, err));
    if (call->action == PFR_TRACE_ENTER_ARGUMENT && v->reader->header.format == PFR_XRAY_FDR)
        v->buffer.waits_from = v->rec->offset;
    return verify_ask_only(v, AT_CALL, CALL_MADE, err);
}

static inline bool is_plain(const struct xray_call *call) {
    return (int32_t)call->function > 0 && call->action != PFR_TRACE_ENTER_ARGUMENT;
}

/* Reads the calls that directly follow, in batches. Checks each call with v->rec set to its record, except calls that
 * cannot break a rule. */
static pfr_status check_calls(struct verify *v, pfr_error *err) {
    struct xray_call calls[CALLS_AT_ONCE];
    const pfr_record *before = v->rec;
    pfr_record at = *before;
    pfr_status s = PFR_OK;
    size_t count;
    v->rec = &at;
    while (s >= 0 && (count = xray_take_calls(v->reader, calls, sizes.calls_batch)) > 0) {
        at.offset = v->reader->cursor.at - (uint64_t)count * at.size;
        for (size_t i = 0; s >= 0 && i < count; i++, at.offset += at.size)
            if (!is_plain(&calls[i]) || v->buffer.waits_from != UINT64_MAX)
                s = check_call(v, &calls[i], err);
    }
    v->rec = before;
    return s;
}

static bool call_of(const struct verify *v, struct xray_call *call) {
    union any_layout body;
    if (v->rec->type != PFR_TRACE_BASIC_FUNCTION)
        return xray_call_of(v->reader, v->rec, call);
    if (!body_of(v, &body))
        return false;
    *call =
        (struct xray_call){body.as_basic_function.tsc, body.as_basic_function.function, body.as_basic_function.action};
    return true;
}

pfr_status verify_trace_record(struct verify *v, pfr_error *err) {
    const uint32_t type = v->rec->type;
    struct xray_call call;
    if (v->reader->header.format == PFR_XRAY_FDR && v->point->buffer != v->buffer.number)
        PFR_TRY(begin_buffer(v, err));
    if (type == PFR_TRACE_BUFFER_EXTENTS)
        note_extents(v);
    v->buffer.has_cpu |= type == PFR_TRACE_NEW_CPU_ID;
    v->buffer.has_records |= type != PFR_TRACE_BUFFER_EXTENTS;
    if (call_of(v, &call)) {
        PFR_TRY(check_call(v, &call, err));
        return check_calls(v, err);
    }
    if (type == PFR_TRACE_CALL_ARGUMENT)
        v->buffer.waits_from = UINT64_MAX;
    PFR_TRY(settle_argument(v, err));
    return verify_ask_only(v, AT_RECORD, type, err);
}

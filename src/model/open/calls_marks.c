/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that the traced program logged, as marks: see calls_rows.h. The trace is read again in
 * file order; calls between events are read and dropped in runs.
 */
#include "model/open/calls_rows.h"

#include "base/memory/escape_bytes.h"
#include "file/read/recording.h"
#include "file/xray/xray_calls.h"
#include "model/open/model_tables.h"
#include "wire/recorder_file.h"

#include <perfray/record_structs.h>

struct event_walk {
    struct pfr_model *model;
    pfr_reader *trace;
    const pfr_trace_point *point;
    const struct trace_threads *threads;
};

/* --- Payloads. */

static bool is_control(uint32_t code) {
    return (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7f && code < 0xa0);
}

/* Returns how many bytes of a payload are shown as text, at most PFR_MARK_TEXT_MOST; 0: the payload
   is not printable. */
static size_t text_length(const uint8_t *at, size_t length) {
    size_t kept = 0, took;
    uint32_t code;
    length -= length > 0 && at[length - 1] == 0;
    for (size_t i = 0; i < length; i += took) {
        took = utf8_take(at + i, length - i, &code);
        if (took == 0 || is_control(code))
            return 0;
        kept = i + took <= PFR_MARK_TEXT_MOST ? i + took : kept;
    }
    return kept;
}

static bool is_note(const pfr_bytes *payload) {
    return payload->length >= RTF_MAGIC_SIZE && memcmp(payload->at, RTF_MAGIC, RTF_MAGIC_SIZE) == 0;
}

/* --- Marks. */

static pfr_status put_mark(const struct event_walk *w, pfr_mark *mark, const pfr_bytes *payload, pfr_error *err) {
    struct pfr_model *m = w->model;
    const pfr_trace_point *p = w->point;
    const size_t length = text_length(payload->at, payload->length);
    uint32_t number;
    mark->count = payload->length;
    mark->time = p->timed ? xray_clock_ns(&m->traced->clock, p->tsc) : PFR_NO_TIME;
    mark->cpu = p->timed ? p->cpu : PFR_NO_CPU;
    if (p->has_tid)
        PFR_TRY(w->threads->find(w->threads->context, p->pid, p->tid, &mark->thread, err));
    PFR_TRY(model_text(m, length ? (const char *)payload->at : NULL, length, &mark->text, err));
    return rows_add(m, &m->marks, mark, sizeof *mark, &number, "marks", err);
}

static pfr_status take_custom(const struct event_walk *w, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_fdr_custom_event body;
    pfr_mark mark = {.kind = PFR_MARK_CUSTOM, .offset = rec->offset};
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK || is_note(&body.data))
        return PFR_OK;
    return put_mark(w, &mark, &body.data, err);
}

static pfr_status take_typed(const struct event_walk *w, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_fdr_typed_event body;
    pfr_mark mark = {.kind = PFR_MARK_TYPED, .offset = rec->offset};
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    mark.type = body.type;
    return put_mark(w, &mark, &body.data, err);
}

static pfr_status walk_all(const struct event_walk *w, pfr_error *err) {
    struct xray_call calls[256];
    pfr_record rec;
    pfr_error why;
    pfr_status st;
    while ((st = pfr_next(w->trace, &rec, &why)) >= 0 && st != PFR_END) {
        if (st == PFR_OK && rec.type == PFR_TRACE_CUSTOM_EVENT)
            PFR_TRY(take_custom(w, &rec, err));
        else if (st == PFR_OK && rec.type == PFR_TRACE_TYPED_EVENT)
            PFR_TRY(take_typed(w, &rec, err));
        while (xray_take_calls(w->trace, calls, sizeof calls / sizeof *calls) > 0)
            continue;
    }
    if (st < 0 && err)
        *err = why;
    return st < 0 ? st : PFR_OK;
}

pfr_status model_load_events(struct pfr_model *m, pfr_reader *trace, const struct trace_threads *threads,
                             pfr_error *err) {
    const pfr_quality quality = trace->damage.quality; /* reading the calls counted the holes */
    const struct event_walk w = {.model = m, .trace = trace, .point = pfr_get_trace_point(trace), .threads = threads};
    PFR_TRY(pfr_rewind(trace, err));
    const pfr_status st = walk_all(&w, err);
    trace->damage.quality = quality;
    return st;
}

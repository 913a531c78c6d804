/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfr_verify goes through a recording and passes each hole, record, event and feature, and finally the whole recording,
 * to the rules of its stage. If the reader has found that the length of a sample is right, only reserved bits in the
 * sample could be wrong. Such samples are decoded field by field only if notes are requested.
 */
#include "file/read/features.h"
#include "edit/verify/verify_parts.h"

#include "wire/variant.h"

const char *pfr_severity_name(pfr_severity severity) {
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

const pfr_rule *pfr_get_rule(uint32_t index) {
    return index < nr_verify_rules ? &verify_rules[index].public : NULL;
}

/* --- Calling rules. */

static void sort_rules(struct verify *v) {
    size_t used[STAGES] = {0};
    for (uint32_t i = 0; i < nr_verify_rules; i++)
        v->by_stage[verify_rules[i].stage][used[verify_rules[i].stage]++] = &verify_rules[i];
}

/* --- Records. */

/* Whether to check the fields of the record one by one. */
static bool is_worth_reading(const struct verify *v, const pfr_record *rec) {
    return rec->type == PFR_RECORD_SAMPLE ? v->options->notes && rec->event >= 0 : true;
}

static pfr_status check_fields(struct verify *v, pfr_error *err) {
    const pfr_record *rec = v->rec;
    const unsigned number = layout_of_type(rec->context, rec->type);
    if (!number || !is_worth_reading(v, rec))
        return PFR_OK;
    struct pfr_context c = *rec->context;
    c.word[WORD_MISC] = rec->misc;
    c.word[WORD_VARIANT] = variant_of(number, rec->bytes, rec->size, rec->context);
    const pfr_bytes body = {rec->bytes + RECORD_HEADER, (uint64_t)rec->size - RECORD_HEADER - rec->tail};
    return verify_layout(v, layout_at(number), &c, body, rec->offset + RECORD_HEADER, layout_at(number)->name, err);
}

static pfr_status note_attr_place(struct verify *v, pfr_error *err) {
    if (v->nr_attr_places == v->attr_room) {
        uint64_t *more = mem_grow(v->memory, v->attr_places, v->nr_attr_places, &v->attr_room, 8, sizeof *more);
        if (!more)
            return mem_fail(v->memory, err, "verify");
        v->attr_places = more;
    }
    v->attr_places[v->nr_attr_places++] = v->rec->offset;
    return PFR_OK;
}

/* Notes facts that later rules need. */
static pfr_status note_record(struct verify *v, pfr_error *err) {
    const pfr_record *rec = v->rec;
    static const struct {
        uint32_t type;
        bool is_compressed;
    } marked[] = {{81, true}, {83, true}, {64, false}};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        if (rec->type != marked[i].type)
            continue;
        if (!marked[i].is_compressed)
            return note_attr_place(v, err);
        if (v->sums.compressed_at == UINT64_MAX)
            v->sums.compressed_at = rec->offset;
    }
    return PFR_OK;
}

/* Timestamp order within rounds is checked per file of a directory recording. */
static void begin_part(struct verify *v) {
    v->rounds = (struct rounds){0};
    v->rounds_part = v->rec->part;
}

static pfr_status check_record(struct verify *v, pfr_error *err) {
    if (v->point)
        return verify_trace_record(v, err);
    if (v->rec->part != v->rounds_part)
        begin_part(v);
    PFR_TRY(note_record(v, err));
    PFR_TRY(verify_ask(v, AT_RECORD, v->rec->type, err));
    return check_fields(v, err);
}

/* The kind of a hole: depends on which of the reader's counters increased at the hole. */
static enum hole_kind kind_of_hole(const pfr_quality *before, const pfr_quality *after, bool is_finding) {
    if (is_finding)
        return HOLE_HEADER;
    if (after->bad_records != before->bad_records)
        return HOLE_RECORD;
    if (after->garbage != before->garbage)
        return HOLE_GARBAGE;
    if (after->cut != before->cut)
        return HOLE_CUT;
    if (after->bad_compressed != before->bad_compressed)
        return HOLE_COMPRESSED;
    return after->bad_order != before->bad_order ? HOLE_ORDER : HOLE_HEADER;
}

static pfr_status check_records(struct verify *v, pfr_error *err) {
    pfr_record rec;
    pfr_error hole;
    pfr_status s;
    const pfr_reader *r = v->reader;
    v->rec = &rec;
    for (;;) {
        const pfr_quality before = r->damage.quality;
        const uint32_t findings_before = r->damage.findings_reported;
        if ((s = pfr_next(v->reader, &rec, &hole)) < 0 || s == PFR_END)
            break;
        if (s == PFR_OK) {
            PFR_TRY(check_record(v, err));
            continue;
        }
        v->hole = &hole;
        v->kind = kind_of_hole(&before, &r->damage.quality, r->damage.findings_reported != findings_before);
        PFR_TRY(verify_ask_only(v, AT_HOLE, v->kind, err));
    }
    v->rec = NULL;
    if (s < 0 && err)
        *err = hole;
    return s < 0 ? s : PFR_OK;
}

static pfr_status check_events(struct verify *v, pfr_error *err) {
    for (uint32_t i = 0; i < v->reader->events.count; i++) {
        uint64_t length;
        const uint64_t place = verify_event_place(v, i, &length);
        v->event = &v->reader->events.list[i];
        v->event_index = i;
        PFR_TRY(verify_ask(v, AT_EVENT, ANY_TYPE, err));
        if (v->event->public.attr.size <= v->event->public.attr_bytes.length)
            PFR_TRY(verify_layout(v, layout_at(L_attr), &v->reader->context, v->event->public.attr_bytes, place, "attr",
                                  err));
    }
    return PFR_OK;
}

/* --- The whole recording. */

static pfr_status run(struct verify *v, pfr_error *err) {
    sort_rules(v);
    if (!v->point)
        PFR_TRY(verify_learn_features(v, err));
    v->feature = NULL;
    PFR_TRY(check_records(v, err));
    if (v->point)
        PFR_TRY(verify_trace_end(v, err));
    PFR_TRY(check_events(v, err));
    if (!v->point)
        PFR_TRY(verify_all_features(v, err));
    v->feature = NULL;
    PFR_TRY(verify_ask(v, AT_END, ANY_TYPE, err));
    return features_unread(v->reader, err);
}

pfr_status pfr_verify(pfr_reader *reader, const pfr_verify_options *options, pfr_error *err) {
    static const pfr_verify_options none = {.size = sizeof none};
    struct verify *v = mem_zeroed(&reader->memory, 1, sizeof *v);
    if (!v)
        return mem_fail(&reader->memory, err, "verify");
    v->reader = reader;
    v->options = options ? options : &none;
    v->memory = &reader->memory;
    v->point = pfr_get_trace_point(reader);
    v->sums = (struct verify_sums){.first = UINT64_MAX, .compressed_at = UINT64_MAX};
    v->buffer.waits_from = UINT64_MAX;
    u64_map_init(&v->index, v->memory);
    reader->cursor.part_reported = true;
    const pfr_status s = run(v, err);
    reader->cursor.part_reported = false;
    const uint64_t found = v->found;
    u64_map_free(&v->index);
    mem_free(v->memory, v->attr_places, v->attr_room, sizeof *v->attr_places);
    mem_free(&reader->memory, v, 1, sizeof *v);
    return s < 0 ? s : found ? PFR_HOLE : PFR_OK;
}

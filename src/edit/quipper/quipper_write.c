/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a recording to a PerfDataProto: events of the recording, then records, then features. Records are in time
 * order, as quipper writes them, or in file order. Records about the container (attrs, features, compression) become
 * other fields. Sorting keeps copies of records in memory; beyond a limit it writes sorted runs to a temporary file.
 */
#include "file/read/recording.h"
#include "edit/quipper/quipper_write.h"

#include "base/memory/sizes.h"
#include "edit/quipper/quipper_writing.h"
#include "wire/layout_write.h"

#include <inttypes.h>
#include <unistd.h>

/* Returns an error of the memory buffers or the output. */
static pfr_status check(struct quipper_output *q, pfr_error *err) {
    const struct output *const made[] = {&q->message, &q->field, &q->kept, &q->lost_features};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (made[i]->status < 0)
            return mem_fail(q->memory, err, "quipper");
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        if (q->parts.at[i].status < 0)
            return mem_fail(q->memory, err, "quipper");
    if (q->out.status < 0 && q->out.error_number)
        return pfr_fail_errno(err, q->out.error_number, "write",
                              strcmp(q->options->path, "-") == 0 ? "standard output" : q->options->path);
    return q->out.status < 0 ? mem_fail(q->memory, err, "output") : PFR_OK;
}

/* --- One record. */

static void owner_of(const void *owners, uint64_t id, struct quipper_owner *owner) {
    const pfr_reader *r = owners;
    int32_t event = pfr_event_of_id(r, id);
    event = event == PFR_NO_EVENT && r->events.count ? 0 : event;
    *owner = (struct quipper_owner){&r->context, event, false};
    if (event >= 0) {
        owner->context = &r->events.list[event].context;
        owner->has_tail = r->events.list[event].tail > 0;
    }
}

/* Reads the data after an AUXTRACE record; the caller frees it. HOLE: the input ends before the data do. */
static pfr_status read_payload(struct quipper_output *q, const pfr_record *rec, pfr_bytes *payload, pfr_error *err) {
    struct part *p = &q->reader->parts[0];
    size_t got = 0;
    *payload = (pfr_bytes){0};
    for (uint32_t i = 0; i < q->reader->nr_parts; i++)
        if (q->reader->parts[i].number == rec->part)
            p = &q->reader->parts[i];
    const uint64_t from = rec->offset + rec->size, size = input_size(&p->in);
    const uint64_t length = rec->size >= 16 ? load_u64(rec->bytes + 8, q->reader->context.swap) : 0;
    if (length == 0)
        return PFR_OK;
    if (from > size || length > size - from)
        return pfr_fail(err, PFR_HOLE, rec->offset, rec->size, "auxtrace", "the data after the record are truncated");
    uint8_t *bytes = mem_alloc(q->memory, (size_t)length, 1);
    if (!bytes)
        return mem_fail(q->memory, err, "AUX data");
    const pfr_status s = input_read_at(&p->in, from, bytes, (size_t)length, &got, err);
    *payload = (pfr_bytes){bytes, length};
    return s < 0 || got == length
               ? s
               : pfr_fail(err, PFR_ERR_CHANGED, rec->offset, 0, "auxtrace", "the input changed while it was read");
}

/* Builds the header in the last of q->parts, which is free because bodies are never nested that deep. */
static void put_header(struct quipper_output *q, const pfr_record *rec, uint32_t size) {
    struct output *part = &q->parts.at[QUIPPER_DEPTH - 1];
    proto_number(part, 1, rec->type);
    proto_number(part, 2, rec->misc);
    proto_number(part, 3, size);
    proto_message(&q->message, 1, part);
}

static bool is_map(uint32_t type) {
    return type == PFR_RECORD_MMAP || type == PFR_RECORD_MMAP2;
}

/* Changes the decoded record to what quipper writes. HOLE: nothing is written, because the mapping was merged into an
 * earlier one. */
static pfr_status see_as_quipper(struct quipper_output *q, const pfr_record *rec, union any_layout *body,
                                 uint32_t *size, pfr_error *err) {
    const struct quipper_join *join = is_map(rec->type) ? quipper_joins_next(&q->joins) : NULL;
    if (join && join->joined)
        return PFR_HOLE;
    if (join && join->type == rec->type)
        quipper_joins_apply(&q->joins, join, body, size);
    q->maps += is_map(rec->type);
    return quipper_output_place(q, rec, body, err);
}

/* Makes the message of a record in q->message, with fields ordered by number. HOLE: there is no message, because the
 * record cannot be decoded or was merged into another. */
static pfr_status put_event(struct quipper_output *q, const pfr_record *rec, const struct quipper_row *row,
                            const pfr_bytes *payload, pfr_error *err) {
    const unsigned number = layout_of_type(rec->context, rec->type);
    const struct layout *l = layout_at(number);
    const struct pfr_context c = record_context(rec, number);
    const struct quipper_row *time = quipper_row_named(M_event, "timestamp", 9);
    struct output *part = &q->parts.at[0];
    union any_layout body;
    struct pfr_rec_sample_id id = {0};
    uint32_t size = rec->size;
    if (pfr_decode(rec, &body, l->size, NULL) != PFR_OK)
        return PFR_HOLE;
    const pfr_status seen = see_as_quipper(q, rec, &body, &size, err);
    if (seen != PFR_OK)
        return seen;
    if (rec->tail && pfr_decode_id(rec, &id, NULL) != PFR_OK)
        return PFR_HOLE;
    const struct quipper_source s = {.layout = l,
                                     .context = &c,
                                     .body = &body,
                                     .id = rec->tail ? &id : NULL,
                                     .payload = *payload,
                                     .size = size,
                                     .misc = rec->misc};
    if (row->message && quipper_put(&q->parts, 1, row->message, &s, part, NULL) < 0) {
        out_clear(part);
        return PFR_HOLE;
    }
    put_header(q, rec, size);
    if (row->message && row->number < time->number)
        proto_message(&q->message, row->number, part);
    proto_number(&q->message, time->number, rec->type == PFR_RECORD_SAMPLE ? body.as_sample.time : id.time);
    if (row->message && row->number > time->number)
        proto_message(&q->message, row->number, part);
    return PFR_OK;
}

/* Copies a record with zeros as the padding of its texts, where recorders leave bytes of earlier texts. Returns its
   length; 0: it cannot be copied. */
static uint64_t without_leftovers(uint8_t *to, const pfr_record *rec, const uint8_t *bytes) {
    const unsigned number = layout_of_type(rec->context, rec->type);
    const struct pfr_context c = record_context(rec, number);
    struct writing w = writing_into(to, RECORD_MOST);
    const uint64_t length = (uint64_t)rec->size - RECORD_HEADER - rec->tail;
    memcpy(to, bytes, RECORD_HEADER);
    w.used = RECORD_HEADER;
    if (layout_convert(layout_at(number), &c, bytes + RECORD_HEADER, length, 0, &c, &w, NULL) < 0)
        return 0;
    memcpy(to + w.used, bytes + rec->size - rec->tail, rec->tail);
    return w.used + rec->tail;
}

static bool is_equal_without_padding(struct quipper_output *q, const pfr_record *rec, const pfr_record *again) {
    uint8_t *const both[] = {q->compared, q->compared + RECORD_MOST + 1};
    if (again->size != rec->size)
        return false;
    const uint64_t length = without_leftovers(both[0], rec, rec->bytes);
    return length && without_leftovers(both[1], rec, again->bytes) == length &&
           memcmp(both[0], both[1], (size_t)length) == 0;
}

/* Sets *all to whether the message, without the original bytes, gives the same record. For text output, the padding of
 * texts may differ. */
static pfr_status compare_rebuilt_record(struct quipper_output *q, const pfr_record *rec, bool *all, pfr_error *err) {
    pfr_record again;
    pfr_bytes payload;
    size_t length;
    const char *bytes = out_bytes(&q->message, &length);
    const pfr_status s =
        quipper_make_record(&q->maker, cursor_on(bytes, length, 0, false), false, &again, &payload, err);
    *all = s == PFR_OK && again.size == rec->size && memcmp(again.bytes, rec->bytes, rec->size) == 0;
    if (s == PFR_OK && !*all && q->text)
        *all = is_equal_without_padding(q, rec, &again);
    return s < 0 ? s : PFR_OK;
}

static pfr_status put_record(struct quipper_output *q, const pfr_record *rec, const pfr_bytes *payload,
                             pfr_error *err) {
    const struct quipper_row *row = rec->type < QUIPPER_TYPES ? q->rows[rec->type] : NULL;
    bool all = false, is_event = row && (rec->type != PFR_RECORD_SAMPLE || rec->event != PFR_NO_EVENT);
    const pfr_status put = is_event ? put_event(q, rec, row, payload, err) : PFR_HOLE;
    PFR_TRY(put);
    is_event = put == PFR_OK;
    if (is_event)
        PFR_TRY(compare_rebuilt_record(q, rec, &all, err));
    else
        out_clear(&q->message);
    if (!all && q->text)
        q->lost[rec->type < QUIPPER_TYPES ? rec->type : QUIPPER_TYPES]++;
    else if (!all && is_event)
        proto_bytes(&q->message, QUIPPER_OUR_RECORD, rec->bytes, rec->size);
    else if (!all)
        out_write(&q->message, rec->bytes, rec->size);
    if (is_event || !q->text) {
        quipper_output_field(q, is_event ? 2 : QUIPPER_OUR_RECORD);
        q->counts.records++;
        q->counts.samples += rec->type == PFR_RECORD_SAMPLE;
    }
    return check(q, err);
}

/* True for records that become other fields (attrs and features of streams) and for COMPRESSED records, whose contents
   follow as records. */
static bool is_container(uint32_t type) {
    static const bool container[QUIPPER_TYPES] = {
        [PFR_RECORD_ATTR] = true,       [PFR_RECORD_EVENT_TYPE] = true, [PFR_RECORD_TRACING_DATA] = true,
        [PFR_RECORD_BUILD_ID] = true,   [PFR_RECORD_FEATURE] = true,    [PFR_RECORD_COMPRESSED] = true,
        [PFR_RECORD_COMPRESSED2] = true};
    return type < QUIPPER_TYPES && container[type];
}

static pfr_status on_record(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    pfr_bytes payload;
    if (rec->type < QUIPPER_TYPES)
        q->types[rec->type]++;
    if (rec->type == PFR_RECORD_BUILD_ID || rec->type == PFR_RECORD_EVENT_TYPE)
        return quipper_output_keep(q, rec, err);
    if (is_container(rec->type))
        return PFR_OK;
    pfr_error why;
    pfr_status s = rec->type == PFR_RECORD_AUXTRACE ? read_payload(q, rec, &payload, &why) : PFR_OK;
    if (rec->type != PFR_RECORD_AUXTRACE)
        payload = (pfr_bytes){0};
    if (s == PFR_HOLE) {
        quipper_output_lost(q, &why);
        s = PFR_OK;
    } else if (s == PFR_OK) {
        s = put_record(q, rec, &payload, err);
    } else if (err) {
        *err = why;
    }
    if (payload.at)
        mem_free(q->memory, (void *)(uintptr_t)payload.at, (size_t)payload.length, 1);
    return s;
}

/* --- All records. */

/* Passes each record to `each` in file order. Holes are reported if `report_holes` is set. */
static pfr_status walk(struct quipper_output *q,
                       pfr_status (*each)(struct quipper_output *, const pfr_record *, pfr_error *), bool report_holes,
                       pfr_error *err) {
    pfr_record rec;
    pfr_error hole;
    pfr_status s;
    PFR_TRY(pfr_rewind(q->reader, err));
    while ((s = pfr_next(q->reader, &rec, &hole)) != PFR_END) {
        if (s < 0 && err)
            *err = hole;
        PFR_TRY(s);
        if (s == PFR_HOLE && report_holes)
            quipper_output_lost(q, &hole);
        else if (s == PFR_OK && each)
            PFR_TRY(each(q, &rec, err));
    }
    return PFR_OK;
}

/* The sort key of a record: its time. Records without a time come first. */
static uint64_t order_of(const struct quipper_output *q, const pfr_record *rec) {
    const uint64_t time = time_of(q->reader, rec);
    return time == NO_TIME ? 1 : time < UINT64_MAX - 1 ? time + 1 : time;
}

/* Mappings are noted first, because they are written only after all of them are known. */
static pfr_status note_map(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    union any_layout body;
    if (!is_map(rec->type) ||
        pfr_decode(rec, &body, layout_at(layout_of_type(rec->context, rec->type))->size, NULL) != PFR_OK)
        return PFR_OK;
    return quipper_joins_note(&q->joins, rec, &body, order_of(q, rec) - 1, err);
}

/* Records of equal time keep their file order. */
static pfr_status wait_for_others(struct quipper_output *q, const pfr_record *rec, pfr_error *err) {
    if (is_container(rec->type))
        return on_record(q, rec, err);
    PFR_TRY(note_map(q, rec, err));
    PFR_TRY(window_put(&q->window, rec, order_of(q, rec), err));
    return q->window.bytes > sizes.quipper_wait ? runs_keep(&q->runs, &q->window, q->reader->context.swap, err)
                                                : PFR_OK;
}

static pfr_status give_sorted(struct quipper_output *q, pfr_error *err) {
    const bool swap = q->reader->context.swap;
    pfr_record rec;
    uint64_t time;
    pfr_status s = PFR_OK;
    if (q->runs.fd >= 0) {
        PFR_TRY(runs_keep(&q->runs, &q->window, swap, err));
        PFR_TRY(runs_merge(&q->runs, err));
        while ((s = runs_take(&q->runs, &rec, &time, err)) == PFR_OK)
            PFR_TRY(on_record(q, &rec, err));
        return s < 0 ? s : PFR_OK;
    }
    PFR_TRY(window_release(&q->window, UINT64_MAX, err));
    while (window_take(&q->window, swap, &rec, &time))
        PFR_TRY(on_record(q, &rec, err));
    return PFR_OK;
}

static pfr_status put_all(struct quipper_output *q, pfr_error *err) {
    const bool sorted = !q->options->file_order;
    if (sorted)
        PFR_TRY(walk(q, wait_for_others, true, err));
    else /* file order: first pass for mappings and for events, which streams have between records */
        PFR_TRY(walk(q, note_map, false, err));
    PFR_TRY(quipper_joins_settle(&q->joins, sorted, err));
    PFR_TRY(quipper_output_front(q, err));
    PFR_TRY(sorted ? give_sorted(q, err) : walk(q, on_record, true, err));
    return quipper_output_back(q, err);
}

/* --- Losses of text output. */

static void report_lost(struct quipper_output *q) {
    pfr_error hole;
    size_t length;
    const char *names = out_bytes(&q->lost_features, &length);
    pfr_fail(&hole, PFR_HOLE, PFR_NO_OFFSET, 0, "features", "quipper's text cannot express features: %.*s",
             length > 100 ? 100 : (int)length, length ? names : "");
    if (length)
        quipper_output_lost(q, &hole);
    for (uint32_t type = 0; type <= QUIPPER_TYPES; type++) {
        const struct layout *l = type < QUIPPER_TYPES ? layout_at(layout_of_type(&q->reader->context, type)) : NULL;
        if (q->lost[type] == 0)
            continue;
        pfr_fail(&hole, PFR_HOLE, PFR_NO_OFFSET, 0, "record",
                 "quipper's text cannot express all of %" PRIu64 " %s record%s", q->lost[type], l ? l->name : "unknown",
                 q->lost[type] == 1 ? "" : "s");
        quipper_output_lost(q, &hole);
        q->counts.lost += q->lost[type] - 1;
    }
}

/* --- The output. */

static pfr_status open_output(struct quipper_output *q, pfr_error *err) {
    const char *path = q->options->path;
    if (strcmp(path, "-") == 0)
        return out_open_fd(&q->out, STDOUT_FILENO, false, q->memory, NULL, err);
    PFR_TRY(whole_file_may_go_to(path, err));
    PFR_TRY(whole_file_open(&q->file, path, q->memory, &q->out, err));
    q->named = true;
    return PFR_OK;
}

static pfr_status close_output(struct quipper_output *q, bool is_whole, pfr_error *err) {
    if (q->named)
        return whole_file_close(&q->file, &q->out, is_whole, err);
    return out_close(&q->out, err);
}

static pfr_status prepare(struct quipper_output *q, pfr_error *err) {
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        out_open_memory(&q->parts.at[i], q->memory);
    out_open_memory(&q->message, q->memory);
    out_open_memory(&q->field, q->memory);
    out_open_memory(&q->kept, q->memory);
    out_open_memory(&q->lost_features, q->memory);
    quipper_joins_init(&q->joins, q->memory);
    quipper_places_init(&q->places, q->memory);
    window_init(&q->window, q->memory);
    runs_init(&q->runs, q->memory);
    for (uint32_t type = 0; type < QUIPPER_TYPES; type++) {
        const struct layout *l = layout_at(layout_of_type(&q->reader->context, type));
        q->rows[type] = l ? quipper_row_from(M_event, l->name) : NULL;
    }
    q->compared = mem_alloc(q->memory, 2, RECORD_MOST + 1);
    q->marked = mem_alloc(q->memory, 1, RECORD_MOST + 1);
    if (!q->compared || !q->marked)
        return mem_fail(q->memory, err, "record");
    q->maker.owner_of = owner_of;
    q->maker.owners = q->reader;
    q->maker.base = &q->reader->context;
    return quipper_maker_open(&q->maker, q->memory, err);
}

static void clear(struct quipper_output *q) {
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        out_close(&q->parts.at[i], NULL);
    out_close(&q->message, NULL);
    out_close(&q->field, NULL);
    out_close(&q->kept, NULL);
    out_close(&q->lost_features, NULL);
    quipper_joins_free(&q->joins);
    quipper_places_free(&q->places);
    window_free(&q->window);
    runs_free(&q->runs);
    mem_free(q->memory, q->compared, 2, RECORD_MOST + 1);
    mem_free(q->memory, q->marked, 1, RECORD_MOST + 1);
    if (q->maker.record)
        quipper_maker_close(&q->maker);
}

static pfr_status run(struct quipper_output *q, pfr_error *err) {
    PFR_TRY(quipper_leave_out(q->options->quipper_without, q->parts.without, err));
    PFR_TRY(prepare(q, err));
    PFR_TRY(open_output(q, err));
    pfr_error own;
    pfr_status s = put_all(q, err);
    out_flush(&q->out, NULL);
    if (s >= 0)
        s = check(q, err);
    const pfr_status closed = close_output(q, s >= 0, s >= 0 ? err : &own);
    return s < 0 ? s : closed;
}

pfr_status quipper_write(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err) {
    if (reader->trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "trace",
                        "XRay traces cannot be converted to quipper's format");
    struct quipper_output *q = mem_zeroed(&reader->memory, 1, sizeof *q);
    if (!q)
        return mem_fail(&reader->memory, err, "quipper");
    q->reader = reader;
    q->options = options;
    q->memory = &reader->memory;
    q->text = options->quipper == PFR_EDIT_QUIPPER_TEXT;
    pfr_status s = run(q, err);
    if (s >= 0)
        report_lost(q);
    clear(q);
    if (counts)
        *counts = q->counts;
    if (s >= 0 && q->counts.lost)
        s = PFR_HOLE;
    mem_free(&reader->memory, q, 1, sizeof *q);
    return s;
}

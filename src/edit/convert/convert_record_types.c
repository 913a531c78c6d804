/* SPDX-License-Identifier: Apache-2.0 */
/* Records that concern their container: a table of functions by type. */
#include "edit/convert/convert_record_types.h"
#include "edit/convert/convert_check.h"
#include "edit/convert/convert_features.h"
#include "edit/convert/convert_losses.h"
#include "edit/convert/repair_features.h"
#include "wire/any_layout.h"
#include "wire/map_range.h"

#define SPECIAL 128u
#define ATTR_SIZE_OF_OLD_PERF 128u

/* Handles a record decoded into `body`. Sets *copy to whether the record is also copied to the output. */
typedef pfr_status special_fn(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                              pfr_error *err);

/* --- Copying. */

/* A truncated payload is not copied, because the missing bytes cannot be reconstructed. */
static bool payload_is_there(const struct conversion *c) {
    const struct part *p = &c->reader->parts[c->waiting.part];
    const uint64_t end = p->end < input_size(&p->in) ? p->end : input_size(&p->in);
    return c->payload_at <= end && c->waiting.payload <= end - c->payload_at;
}

static pfr_status copy_payload(struct conversion *c, const pfr_record *rec, pfr_error *err) {
    struct input *in = &c->reader->parts[rec->part].in;
    uint8_t piece[4096];
    size_t got;
    for (uint64_t at = 0; at < rec->payload; at += got) {
        const uint64_t left = rec->payload - at;
        PFR_TRY(
            input_read_at(in, c->payload_at + at, piece, left < sizeof piece ? (size_t)left : sizeof piece, &got, err));
        if (got == 0)
            return pfr_fail(err, PFR_ERR_CHANGED, rec->offset, 0, "auxtrace", "the input changed while it was read");
        PFR_TRY(pfr_writer_payload(c->writer, piece, got, err));
    }
    return PFR_OK;
}

static pfr_status hand_on(struct conversion *c, const pfr_record *rec, pfr_error *err) {
    pfr_error lost;
    const pfr_status s = pfr_writer_copy(c->writer, rec, &lost);
    if (s == PFR_HOLE) {
        c->counts.records--;
        c->written -= conversion_counts(rec->type);
        c->counts.samples -= rec->type == PFR_RECORD_SAMPLE;
        return conversion_lost(c, &lost), PFR_OK;
    }
    if (s < 0 && err)
        *err = lost;
    return s < 0 ? s : copy_payload(c, rec, err);
}

/* A record with a payload waits until the reader has found the next record, because only then it is known whether the
 * payload is intact. */
static void wait_for_payload(struct conversion *c, const pfr_record *rec) {
    c->waiting = *rec;
    c->waiting.bytes = memcpy(c->waiting_bytes, rec->bytes, rec->size);
    c->payload_at = c->reader->cursor.at;
}

static bool is_inside_payload(const struct conversion *c, const pfr_error *hole) {
    return c->reader->cursor.part == c->waiting.part && hole->offset >= c->payload_at &&
           hole->offset - c->payload_at < c->waiting.payload;
}

pfr_status conversion_waiting(struct conversion *c, const pfr_error *hole, pfr_error *err) {
    pfr_record rec = c->waiting;
    pfr_error lost;
    c->waiting.size = 0;
    if (rec.size == 0)
        return PFR_OK;
    if (payload_is_there(c) && !(hole && is_inside_payload(c, hole)))
        return hand_on(c, &rec, err);
    c->counts.records--;
    c->written -= conversion_counts(rec.type);
    pfr_fail(&lost, PFR_HOLE, rec.offset, rec.size, "auxtrace", "the data after the record are truncated");
    return conversion_lost(c, &lost), PFR_OK;
}

pfr_status conversion_copy(struct conversion *c, const pfr_record *rec, pfr_error *err) {
    if (!c->writer)
        return PFR_OK;
    if (rec->payload == 0)
        return hand_on(c, rec, err);
    return wait_for_payload(c, rec), PFR_OK;
}

/* --- By type. */

/* While a stream has only one event, its reader ignores ids. If a second event follows records, the pass restarts, so
   that the ids of those records are checked, too. */
static pfr_status on_attr(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                          pfr_error *err) {
    (void)rec, (void)body;
    *copy = c->verbatim || c->reader->header.container != PFR_PIPE;
    c->again = c->again || (c->recover && c->writer && c->events_given == 1 && c->reader->events.count > 1);
    return *copy ? PFR_OK : conversion_events(c, err);
}

static pfr_status carry_bit(struct conversion *c, uint32_t bit, pfr_error *err) {
    pfr_error why;
    const pfr_feature *f = pfr_find_feature(c->reader, bit, &why);
    if (!f && why.status < 0 && err)
        *err = why;
    if (!f)
        return why.status;
    return c->to == PFR_PIPE && c->given[bit] ? PFR_OK : conversion_feature(c, f, err);
}

/* In a file, recover omits FEATURE records with a damaged payload, which is the one that the reader added last. */
static bool is_damaged(struct conversion *c, uint64_t bit) {
    pfr_error lost;
    const pfr_feature *f = c->recover && bit < FEATURES ? pfr_find_feature(c->reader, (uint32_t)bit, &lost) : NULL;
    if (!f || pfr_check_feature(c->reader, f, &lost) != PFR_HOLE)
        return false;
    if (c->writer)
        conversion_lost(c, &lost);
    return true;
}

/* The FEATURE record without a payload marks the end of features; readers do not need it. */
static pfr_status on_feature(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                             pfr_error *err) {
    const struct pfr_rec_header_feature *f = &body->as_header_feature;
    const bool is_stream = c->reader->header.container == PFR_PIPE;
    (void)rec;
    *copy = c->verbatim || (!is_stream && !(f->payload.length && is_damaged(c, f->feat_id)));
    if (!is_stream || *copy || f->payload.length == 0 || f->feat_id >= FEATURES)
        return PFR_OK;
    return carry_bit(c, (uint32_t)f->feat_id, err);
}

/* Formats inside the record, as simpleperf writes them, are copied with it. */
static bool has_broken_formats(const pfr_record *rec, const union any_layout *body) {
    const struct pfr_rec_header_tracing_data *data = &body->as_header_tracing_data;
    const uint64_t length = data->inside.length < data->size ? data->inside.length : data->size;
    pfr_feature f = {.bit = BIT_TRACING_DATA, .offset = rec->offset, .bytes = {data->inside.at, length}};
    pfr_error why;
    return data->inside.length > 4 && repair_check_blob(&f, &why) != PFR_OK;
}

static pfr_status on_tracing_data(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                                  pfr_error *err) {
    pfr_error lost;
    *copy = c->verbatim || c->reader->header.container != PFR_PIPE;
    if (!*copy)
        return carry_bit(c, BIT_TRACING_DATA, err);
    *copy = !c->recover || !has_broken_formats(rec, body);
    if (!*copy && c->writer) {
        pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "header_tracing_data.inside",
                 "a record is left out, because its formats of tracepoints cannot be read");
        conversion_lost(c, &lost);
    }
    return PFR_OK;
}

/* In a stream, each build-id is a record; in a file, all build-ids are one feature. */
static pfr_status on_build_id(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                              pfr_error *err) {
    const struct pfr_rec_header_build_id *b = &body->as_header_build_id;
    *copy = c->reader->header.container != PFR_PIPE || c->to == PFR_PIPE;
    if (*copy || !c->writer)
        return PFR_OK;
    const struct pfr_rec_build_id_entry entry = {.misc = rec->misc,
                                                 .pid = b->pid,
                                                 .build_id = b->build_id,
                                                 .length = b->length,
                                                 .reserved = b->reserved,
                                                 .filename = b->filename};
    return pfr_writer_build_id(c->writer, &entry, err);
}

static pfr_status on_round(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                           pfr_error *err) {
    (void)rec, (void)body, (void)err;
    *copy = !c->without_rounds;
    rounds_end(&c->rounds);
    c->rounds_written = *copy;
    return PFR_OK;
}

/* perf before 6.0 stops at this record, which has no data. It is omitted if the option attr_size asks for attributes of
 * at most 128 bytes, which are meant for perf up to 6.2. */
static pfr_status on_finished_init(struct conversion *c, const pfr_record *rec, const union any_layout *body,
                                   bool *copy, pfr_error *err) {
    const uint32_t size = c->options->attr_size;
    (void)rec, (void)body, (void)err;
    *copy = size == 0 || size > ATTR_SIZE_OF_OLD_PERF;
    return PFR_OK;
}

/* The records inside this record are the next ones that the reader returns. Whether this record can be copied is known
   only after it was decompressed. */
static pfr_status on_compressed(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                                pfr_error *err) {
    (void)body, (void)err;
    *copy = false;
    if (rec->inside)
        return PFR_OK;
    const bool is_first = !c->was_packed;
    c->was_packed = true;
    if (is_first && c->writer && !c->keeps_packed && c->options->compression == PFR_EDIT_AS_IT_IS)
        c->again = true;
    if (c->keeps_packed) {
        memcpy(c->packed, rec->bytes, rec->size);
        c->packed_length = rec->size;
    }
    return PFR_OK;
}

pfr_status conversion_packed_is_good(struct conversion *c, pfr_error *err) {
    const pfr_record rec = {.type = PFR_RECORD_COMPRESSED,
                            .size = (uint32_t)c->packed_length,
                            .bytes = c->packed,
                            .event = PFR_NO_EVENT,
                            .context = &c->reader->context};
    c->packed_length = 0;
    return c->writer ? pfr_writer_copy(c->writer, &rec, err) : PFR_OK;
}

/* Recover omits a map of unknown form; the reader has reported it. */
static pfr_status on_cpu_map(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                             pfr_error *err) {
    const pfr_items *map = &body->as_cpu_map.data.map;
    struct items_walk walk = items_start(map);
    union any_layout part;
    (void)rec, (void)err;
    if (!c->recover)
        return PFR_OK;
    *copy = map->of != L_NONE;
    if (map->of == L_cpu_map_mask && items_next(map, &walk, &part, NULL) == PFR_OK)
        *copy = part.as_cpu_map_mask.mask.of != L_NONE;
    return PFR_OK;
}

/* Recover omits a map past the end of the address space: its bytes are damaged although they fill the record. verify
 * reports it as an error. */
static void leave_out_wrapped(struct conversion *c, const pfr_record *rec, uint64_t addr, uint64_t length, bool *copy) {
    pfr_error lost;
    if (!c->recover || !range_wraps(addr, length))
        return;
    *copy = false;
    pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "record",
             "a mapping beyond the end of the address space is omitted");
    conversion_lost(c, &lost);
}

static pfr_status on_mmap(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                          pfr_error *err) {
    (void)err;
    leave_out_wrapped(c, rec, body->as_mmap.addr, body->as_mmap.len, copy);
    return PFR_OK;
}

static pfr_status on_mmap2(struct conversion *c, const pfr_record *rec, const union any_layout *body, bool *copy,
                           pfr_error *err) {
    (void)err;
    leave_out_wrapped(c, rec, body->as_mmap2.addr, body->as_mmap2.len, copy);
    return PFR_OK;
}

static special_fn *const specials[SPECIAL] = {
    [PFR_RECORD_MMAP] = on_mmap,
    [PFR_RECORD_MMAP2] = on_mmap2,
    [PFR_RECORD_ATTR] = on_attr,
    [PFR_RECORD_TRACING_DATA] = on_tracing_data,
    [PFR_RECORD_BUILD_ID] = on_build_id,
    [PFR_RECORD_FINISHED_ROUND] = on_round,
    [PFR_RECORD_CPU_MAP] = on_cpu_map,
    [PFR_RECORD_FINISHED_INIT] = on_finished_init,
    [PFR_RECORD_FEATURE] = on_feature,
    [PFR_RECORD_COMPRESSED] = on_compressed,
    [PFR_RECORD_COMPRESSED2] = on_compressed,
};

bool conversion_special(struct conversion *c, const pfr_record *rec, pfr_status *status, pfr_error *err) {
    special_fn *const special = rec->type < SPECIAL ? specials[rec->type] : NULL;
    union any_layout body;
    bool copy = true;
    if (!special)
        return false;
    const struct layout *l = layout_at(c->reader->events.rules[rec->type].layout);
    if (pfr_decode(rec, &body, l->size, NULL) != PFR_OK)
        return false;
    *status = special(c, rec, &body, &copy, err);
    return !copy;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes records from three sources: a struct; another recording (unchanged, or converted through the structs of their
 * layouts if the byte order differs); a ring buffer, which holds complete records. If the writer compresses, kernel
 * records are compressed; records that perf itself writes stay uncompressed between them, in the original order.
 */
#include "file/read/recording.h"
#include "file/write/writer_records.h"
#include "file/write/deflate.h"
#include "file/write/recording_writer.h"
#include "file/write/writer_features.h"
#include "file/write/writer_folder.h"
#include "file/write/writer_part.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"

#include <inttypes.h>

#define FEATURE_ID 8u /* bytes before the payload in the body of a FEATURE record */

static pfr_status put_bytes(pfr_writer *w, uint32_t type, const uint8_t *bytes, size_t length, pfr_error *err) {
    if (type < FIRST_USER && part_of(w)->deflater.context)
        return deflate_records(w, bytes, length, err);
    PFR_TRY(deflate_flush(w, err));
    out_write(&part_of(w)->out, bytes, length);
    return writer_check(w, err);
}

/* Adds an AUXTRACE record to the index that lets readers find AUX data in any order. An entry has the record's offset
   and its size without the payload. */
static pfr_status note_auxtrace(pfr_writer *w, const uint8_t *record, pfr_error *err) {
    uint8_t entry[16];
    size_t length;
    PFR_TRY(deflate_flush(w, err));
    out_bytes(&w->index, &length);
    memset(entry, 0, 8);
    if (length == 0)
        out_write(&w->index, entry, 8); /* reserves space for the number of entries */
    put_u64(entry, out_written(&part_of(w)->out), w->context.swap);
    put_u64(entry + 8, load_u16(record + 6, w->context.swap), w->context.swap);
    out_write(&w->index, entry, sizeof entry);
    return PFR_OK;
}

static pfr_status ready(pfr_writer *w, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    PFR_TRY(writer_start(w, err));
    if (w->payload_left == 0)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_payload",
                    "%llu bytes of the previous record's payload are missing", (unsigned long long)w->payload_left);
}

static pfr_status emit(pfr_writer *w, uint32_t type, const uint8_t *bytes, size_t length, uint64_t payload,
                       pfr_error *err) {
    w->payload_left = payload;
    if (type == PFR_RECORD_AUXTRACE && w->container != PFR_PIPE && part_of(w)->number == 0)
        PFR_TRY(note_auxtrace(w, bytes, err));
    return put_bytes(w, type, bytes, length, err);
}

/* Completes and writes the record whose body is in w->scratch. `payload` bytes follow the record. */
static pfr_status emit_made(pfr_writer *w, uint32_t type, uint16_t misc, uint64_t length, uint64_t payload,
                            pfr_error *err) {
    const bool swap = w->context.swap;
    put_u32(w->scratch, type, swap);
    put_u16(w->scratch + 4, misc, swap);
    put_u16(w->scratch + 6, (uint16_t)(RECORD_HEADER + length), swap);
    return emit(w, type, w->scratch, RECORD_HEADER + (size_t)length, payload, err);
}

pfr_status record_emit(pfr_writer *w, uint32_t type, uint16_t misc, uint64_t length, pfr_error *err) {
    return emit_made(w, type, misc, length, 0, err);
}

/* --- From a struct. */

static pfr_status too_long(uint64_t length, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "record",
                    "a record of %llu bytes: at most 65535 are possible", (unsigned long long)length);
}

/* Number of bytes that follow a record of this type, according to its own size field. */
static uint64_t payload_of(uint32_t type, const union any_layout *body) {
    if (type == PFR_RECORD_AUXTRACE)
        return body->as_auxtrace.size;
    if (type == PFR_RECORD_TRACING_DATA && body->as_header_tracing_data.inside.length <= 4)
        return body->as_header_tracing_data.size;
    return 0;
}

static pfr_status write_id(const struct written_event *e, uint32_t type, const struct pfr_rec_sample_id *id,
                           struct writing *to, pfr_error *err) {
    static const struct pfr_rec_sample_id zeros;
    if (!e || type >= FIRST_USER || type == PFR_RECORD_SAMPLE || !e->attr.flags.sample_id_all)
        return PFR_OK;
    return layout_write(layout_at(L_sample_id), &e->context, id ? id : &zeros, to, err);
}

pfr_status pfr_writer_put(pfr_writer *w, uint32_t event, uint32_t type, uint16_t misc, const void *body, size_t size,
                          const struct pfr_rec_sample_id *id, pfr_error *err) {
    const struct layout *l = layout_at(layout_of_type(&w->context, type));
    const struct written_event *e = event < w->events.count ? &w->events.list[event] : NULL;
    PFR_TRY(ready(w, err));
    if (!l || l->size != size || (type == PFR_RECORD_SAMPLE && !e))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_put",
                        "type %u of event %u has no struct of %zu bytes", type, event, size);
    struct pfr_context c = e ? e->context : w->context;
    struct writing to = writing_into(w->scratch + RECORD_HEADER, RECORD_ROOM - RECORD_HEADER);
    c.word[WORD_MISC] = misc;
    PFR_TRY(layout_write(l, &c, body, &to, err));
    PFR_TRY(write_id(e, type, id, &to, err));
    if (to.used > RECORD_MOST - RECORD_HEADER)
        return too_long(to.used + RECORD_HEADER, err);
    return emit_made(w, type, misc, to.used, payload_of(type, body), err);
}

/* --- From another recording. */

/* Converts the payload of a FEATURE record, whose layout is that of the feature. Formats of tracepoints state their own
   byte order. */
static pfr_status convert_feature(const pfr_writer *w, const pfr_record *rec, struct writing *to, pfr_error *err) {
    const uint64_t bit = load_u64(rec->bytes + RECORD_HEADER, rec->context->swap), at = RECORD_HEADER + FEATURE_ID;
    const pfr_bytes payload = {rec->bytes + at, rec->size - at};
    if (payload.length == 0 || bit == BIT_TRACING_DATA)
        return PFR_OK;
    if (bit >= FEATURES || !layout_find(TABLE_PERF_FEATURE, (uint32_t)bit))
        return pfr_fail(err, PFR_ERR_DAMAGE, rec->offset, rec->size, "header_feature.payload",
                        "feature %" PRIu64 " cannot be converted to the other byte order", bit);
    to->used = FEATURE_ID;
    return features_convert(w, rec->context, (uint32_t)bit, payload, rec->offset + at, to, err);
}

/* Converts body and sample_id to the writer's byte order. */
static pfr_status convert_body(pfr_writer *w, const pfr_record *rec, unsigned number, struct writing *to,
                               pfr_error *err) {
    const struct pfr_context from = record_context(rec, number);
    const struct pfr_context target = writer_context_like(w, &from);
    const uint64_t length = rec->size - RECORD_HEADER - rec->tail;
    PFR_TRY(layout_convert(layout_at(number), &from, rec->bytes + RECORD_HEADER, length, rec->offset + RECORD_HEADER,
                           &target, to, err));
    if (rec->type == PFR_RECORD_FEATURE)
        return convert_feature(w, rec, to, err);
    if (rec->tail == 0)
        return PFR_OK;
    return layout_convert(layout_at(L_sample_id), &from, rec->bytes + rec->size - rec->tail, rec->tail,
                          rec->offset + rec->size - rec->tail, &target, to, err);
}

static pfr_status convert(pfr_writer *w, const pfr_record *rec, pfr_error *err) {
    const unsigned number = layout_of_type(rec->context, rec->type);
    struct writing to = writing_into(w->scratch + RECORD_HEADER, RECORD_MOST - RECORD_HEADER);
    pfr_error why;
    if (!number)
        return pfr_fail(err, PFR_HOLE, rec->offset, rec->size, "record",
                        "a record of unknown type %u cannot be converted to the other byte order", rec->type);
    if (rec->type == PFR_RECORD_SAMPLE && rec->event == PFR_NO_EVENT)
        return pfr_fail(err, PFR_HOLE, rec->offset, rec->size, "sample",
                        "a sample that belongs to no event cannot be converted to the other byte order");
    if (convert_body(w, rec, number, &to, &why) < 0)
        return pfr_fail(err, PFR_HOLE, rec->offset, rec->size, why.where, "%s", why.text);
    return emit_made(w, rec->type, rec->misc, to.used, rec->payload, err);
}

pfr_status pfr_writer_copy(pfr_writer *w, const pfr_record *rec, pfr_error *err) {
    PFR_TRY(ready(w, err));
    if (writer_has_order(w, rec->context))
        return emit(w, rec->type, rec->bytes, rec->size, rec->payload, err);
    return convert(w, rec, err);
}

/* --- From a ring buffer. */

/* Bytes of the complete records at the start of `bytes`. */
static size_t whole_records(const pfr_writer *w, const uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (length - at >= RECORD_HEADER) {
        const uint16_t size = load_u16(bytes + at + 6, w->context.swap);
        if (size < RECORD_HEADER || size > length - at)
            break;
        at += size;
    }
    return at;
}

static pfr_status not_whole(pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_raw", "the bytes end inside a record");
}

/* Writes the record that lies across both pieces; *taken is how many of its bytes are in the second piece. */
static pfr_status put_joined(pfr_writer *w, const uint8_t *first, size_t length, const uint8_t *rest,
                             size_t rest_length, size_t *taken, pfr_error *err) {
    uint8_t *joined = w->scratch;
    const size_t more = rest_length < RECORD_MOST ? rest_length : RECORD_MOST;
    memcpy(joined, first, length);
    memcpy(joined + length, rest, more);
    const uint16_t size = length + more >= RECORD_HEADER ? load_u16(joined + 6, w->context.swap) : 0;
    if (size <= length || size > length + more)
        return not_whole(err);
    *taken = size - length;
    return put_bytes(w, 0, joined, size, err);
}

pfr_status pfr_writer_raw(pfr_writer *w, const void *bytes, size_t length, const void *rest, size_t rest_length,
                          pfr_error *err) {
    PFR_TRY(ready(w, err));
    const uint8_t *first = bytes;
    const size_t whole = whole_records(w, first, length);
    size_t taken = 0;
    PFR_TRY(put_bytes(w, 0, first, whole, err));
    if (whole < length) {
        if (length - whole > RECORD_MOST)
            return not_whole(err);
        PFR_TRY(put_joined(w, first + whole, length - whole, rest, rest_length, &taken, err));
    }
    if (taken == rest_length)
        return PFR_OK;
    const uint8_t *second = (const uint8_t *)rest + taken;
    if (whole_records(w, second, rest_length - taken) != rest_length - taken)
        return not_whole(err);
    return put_bytes(w, 0, second, rest_length - taken, err);
}

pfr_status pfr_writer_payload(pfr_writer *w, const void *bytes, size_t length, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    if (length > w->payload_left)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_payload",
                        "%zu bytes of payload, but the record announces %llu more", length,
                        (unsigned long long)w->payload_left);
    out_write(&part_of(w)->out, bytes, length);
    w->payload_left -= length;
    return writer_check(w, err);
}

pfr_status pfr_writer_part(pfr_writer *w, uint32_t number, pfr_error *err) {
    pfr_error why;
    PFR_TRY(ready(w, err));
    if (part_of(w)->number == number)
        return PFR_OK;
    for (uint32_t i = 0; i < w->folder.nr_parts; i++)
        if (w->folder.parts[i].number == number)
            return w->folder.part = i, PFR_OK;
    if (w->container != PFR_DIRECTORY)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_part", "%s is not a directory", w->name);
    return folder_part(w, number, &why) < 0 ? writer_failed(w, &why, err) : PFR_OK;
}

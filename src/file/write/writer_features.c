/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes header features. In a file they are collected until the end. In a stream each becomes a record:
 * HEADER_FEATURE, or a record type of its own for tracing data and build ids; features that only make sense in a file
 * are left out.
 */
#include "file/read/features.h"
#include "file/write/writer_features.h"
#include "file/write/recording_writer.h"
#include "file/write/writer_part.h"
#include "file/write/writer_records.h"
#include "wire/any_layout.h"

#define PAYLOAD_AT 8u /* offset in the body of HEADER_FEATURE */

static pfr_status no_memory(pfr_writer *w, pfr_error *err) {
    pfr_error why;
    mem_fail(&w->memory, &why, "features");
    return writer_failed(w, &why, err);
}

/* --- The list, sorted by bit. */

/* Index of the bit in the list, or where to insert it. */
static size_t place_of(const pfr_writer *w, uint32_t bit) {
    size_t low = 0, high = w->features.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->features.list[middle].bit < bit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static pfr_status insert(pfr_writer *w, size_t at, const struct written_feature *f, pfr_error *err) {
    if (at < w->features.count && w->features.list[at].bit == f->bit) {
        w->features.list[at] = *f;
        return PFR_OK;
    }
    struct written_feature *grown =
        mem_grow(&w->memory, w->features.list, w->features.count, &w->features.room, 32, sizeof *w->features.list);
    if (!grown)
        return no_memory(w, err);
    w->features.list = grown;
    memmove(grown + at + 1, grown + at, (w->features.count - at) * sizeof *grown);
    grown[at] = *f;
    w->features.count++;
    return PFR_OK;
}

/* --- Streams. */

/* Features that describe the file, or for which streams have other records. */
static bool is_for_files(uint32_t bit) {
    static const uint32_t bits[] = {0, 15, 18, 19, 24};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (bits[i] == bit)
            return true;
    return false;
}

/* The tracepoint formats follow their record and are padded to a multiple of 8. */
static pfr_status stream_tracing(pfr_writer *w, const struct written_feature *f, pfr_error *err) {
    static const uint8_t zeros[8];
    const size_t padding = (8 - f->length % 8) % 8;
    if (f->length > UINT32_MAX - 8)
        return no_memory(w, err);
    put_u32(w->scratch + RECORD_HEADER, (uint32_t)(f->length + padding), w->context.swap);
    memset(w->scratch + RECORD_HEADER + 4, 0, 4);
    PFR_TRY(record_emit(w, PFR_RECORD_TRACING_DATA, 0, 8, err));
    out_write(&w->folder.parts[0].out, f->bytes, f->length);
    out_write(&w->folder.parts[0].out, zeros, padding);
    return writer_check(w, err);
}

/* Writes each entry as a record, which differs from the entry only in the type field. */
static pfr_status stream_build_ids(pfr_writer *w, const struct written_feature *f, pfr_error *err) {
    for (size_t at = 0; at + RECORD_HEADER <= f->length;) {
        const uint16_t size = load_u16(f->bytes + at + 6, w->context.swap);
        if (size < RECORD_HEADER || size > f->length - at)
            break;
        memcpy(w->scratch, f->bytes + at, size);
        PFR_TRY(record_emit(w, PFR_RECORD_BUILD_ID, load_u16(f->bytes + at + 4, w->context.swap), size - RECORD_HEADER,
                            err));
        at += size;
    }
    return PFR_OK;
}

/* A payload that is too large for a record cannot be part of a stream: it is left out, as in perf. */
static pfr_status stream_feature(pfr_writer *w, const struct written_feature *f, pfr_error *err) {
    if (f->bit == BIT_TRACING_DATA)
        return stream_tracing(w, f, err);
    if (f->bit == BIT_BUILD_ID)
        return stream_build_ids(w, f, err);
    if (is_for_files(f->bit) || f->length == 0 || f->length > RECORD_MOST - RECORD_HEADER - PAYLOAD_AT)
        return PFR_OK;
    put_u64(w->scratch + RECORD_HEADER, f->bit, w->context.swap);
    memcpy(w->scratch + RECORD_HEADER + PAYLOAD_AT, f->bytes, f->length);
    return record_emit(w, PFR_RECORD_FEATURE, 0, PAYLOAD_AT + f->length, err);
}

/* In a stream, this feature is written before the records. The ratio is not known then, and 0 is written. */
static pfr_status add_compressed(pfr_writer *w, pfr_error *err) {
    uint64_t in = 0, out = 0;
    if (w->compression == PFR_PLAIN)
        return PFR_OK;
    for (uint32_t i = 0; i < w->folder.nr_parts; i++) {
        in += w->folder.parts[i].deflater.in;
        out += w->folder.parts[i].deflater.out;
    }
    const uint64_t ratio = out ? (in + out / 2) / out : 0;
    const struct pfr_rec_feature_compressed body = {
        .type = 1, .level = (uint32_t)w->level, .ratio = (uint32_t)ratio, .mmap_len = RING_SAID};
    return pfr_writer_put_feature(w, BIT_COMPRESSED, &body, sizeof body, err);
}

pfr_status features_stream(pfr_writer *w, pfr_error *err) {
    w->started = false; /* so that the feature joins the list like the others */
    const pfr_status s = add_compressed(w, err);
    w->started = true;
    PFR_TRY(s);
    for (size_t i = 0; i < w->features.count; i++)
        PFR_TRY(stream_feature(w, &w->features.list[i], err));
    return PFR_OK;
}

/* --- Files. */

static pfr_status add_collected(pfr_writer *w, uint32_t bit, const struct output *collected, pfr_error *err) {
    size_t length;
    const char *bytes = out_bytes(collected, &length);
    const struct written_feature f = {bit, arena_copy(&w->arena, bytes, length, 8), length};
    if (length == 0)
        return PFR_OK;
    return f.bytes ? insert(w, place_of(w, bit), &f, err) : no_memory(w, err);
}

/* Writes the number of AUXTRACE records at the start of their index. */
static pfr_status count_index(pfr_writer *w, pfr_error *err) {
    size_t length;
    out_bytes(&w->index, &length);
    if (w->index.status < 0 || w->features.build_ids.status < 0)
        return no_memory(w, err);
    if (length)
        put_u64((uint8_t *)w->index.buffer, (length - 8) / 16, w->context.swap);
    return PFR_OK;
}

/* Readers of big-endian files use this feature to detect the word size of the bitmap. */
static pfr_status add_hostname(pfr_writer *w, pfr_error *err) {
    static const struct pfr_rec_feature_hostname unknown = {{"(unknown)", 9, 64}};
    const size_t at = place_of(w, BIT_HOSTNAME);
    if (w->features.count == 0 || (at < w->features.count && w->features.list[at].bit == BIT_HOSTNAME))
        return PFR_OK;
    return pfr_writer_put_feature(w, BIT_HOSTNAME, &unknown, sizeof unknown, err);
}

pfr_status features_last(pfr_writer *w, pfr_error *err) {
    static const struct pfr_rec_feature_dir_format folder = {.version = 1};
    PFR_TRY(count_index(w, err));
    if (w->container == PFR_PIPE)
        return PFR_OK;
    if (w->container == PFR_DIRECTORY)
        PFR_TRY(pfr_writer_put_feature(w, BIT_DIR_FORMAT, &folder, sizeof folder, err));
    PFR_TRY(add_collected(w, BIT_BUILD_ID, &w->features.build_ids, err));
    PFR_TRY(add_collected(w, BIT_AUXTRACE, &w->index, err));
    PFR_TRY(add_compressed(w, err));
    return w->context.mirrored ? add_hostname(w, err) : PFR_OK;
}

/* --- Adding features. */

pfr_status pfr_writer_feature(pfr_writer *w, uint32_t bit, const void *bytes, size_t length, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    if (bit >= FEATURES)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "feature",
                        "feature %u does not exist: features have the numbers 0 to 255", bit);
    const struct written_feature f = {bit, arena_copy(&w->arena, bytes, length, 8), length};
    if (!f.bytes)
        return no_memory(w, err);
    if (bit == 7 && length >= 4)
        w->context.word[WORD_CPUS] = load_u32(f.bytes, w->context.swap);
    if (w->container == PFR_PIPE && w->started)
        return stream_feature(w, &f, err);
    if (bit == BIT_BUILD_ID && length && w->container != PFR_PIPE) { /* more entries may follow */
        out_clear(&w->features.build_ids);
        out_write(&w->features.build_ids, bytes, length);
    }
    return insert(w, place_of(w, bit), &f, err);
}

/* Converts a payload to bytes by its layout: first computes the size, then writes them. */
static pfr_status make_payload(pfr_writer *w, const struct layout *l, const struct pfr_context *c, const void *body,
                               pfr_bytes *made, pfr_error *err) {
    struct writing to = writing_nowhere();
    PFR_TRY(layout_write(l, c, body, &to, err));
    uint8_t *bytes = mem_alloc(&w->memory, (size_t)to.used, 1);
    if (!bytes)
        return no_memory(w, err);
    to = writing_into(bytes, to.used);
    *made = (pfr_bytes){bytes, to.capacity};
    return layout_write(l, c, body, &to, err);
}

pfr_status pfr_writer_put_feature(pfr_writer *w, uint32_t bit, const void *body, size_t size, pfr_error *err) {
    const struct layout *l = layout_at(layout_find(TABLE_PERF_FEATURE, bit));
    pfr_bytes made = {NULL, 0};
    PFR_TRY(writer_stands(w, err));
    if (!l || l->size != size)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "feature", "feature %u has no struct of %zu bytes", bit,
                        size);
    pfr_status s = make_payload(w, l, &w->context, body, &made, err);
    if (s >= 0)
        s = pfr_writer_feature(w, bit, made.at, (size_t)made.length, err);
    mem_free(&w->memory, (void *)made.at, (size_t)made.length, 1);
    return s;
}

/* --- From another recording. */

static pfr_status unsayable(const pfr_feature *f, const pfr_error *why, pfr_error *err) {
    return pfr_fail(err, PFR_HOLE, f->offset, f->bytes.length, "feature", "feature %u: %s", f->bit, why->text);
}

pfr_status features_convert(const pfr_writer *w, const struct pfr_context *from, uint32_t bit, pfr_bytes payload,
                            uint64_t offset, struct writing *to, pfr_error *err) {
    const unsigned number = layout_find(TABLE_PERF_FEATURE, bit);
    struct pfr_context source;
    if (!number)
        return pfr_fail(err, PFR_ERR_DAMAGE, offset, payload.length, "feature", "its layout is unknown");
    feature_payload_context(&source, from, number, payload);
    const struct pfr_context target = writer_context_like(w, &source);
    return layout_convert(layout_at(number), &source, payload.at, payload.length, offset, &target, to, err);
}

/* Converts to the other byte order through the structs of the layout. */
static pfr_status convert_feature(pfr_writer *w, const pfr_reader *from, const pfr_feature *f, pfr_error *err) {
    const size_t room = (size_t)f->bytes.length + 64; /* the layout has the same size in both orders */
    pfr_error why;
    uint8_t *bytes = mem_alloc(&w->memory, room, 1);
    if (!bytes)
        return no_memory(w, err);
    struct writing to = writing_into(bytes, room);
    pfr_status s = features_convert(w, &from->context, f->bit, f->bytes, f->offset, &to, &why);
    s = s < 0 ? unsayable(f, &why, err) : pfr_writer_feature(w, f->bit, bytes, (size_t)to.used, err);
    mem_free(&w->memory, bytes, room, 1);
    return s;
}

/* Tracepoint formats state their own byte order, so they are copied unchanged. */
pfr_status pfr_writer_copy_feature(pfr_writer *w, const pfr_reader *from, const pfr_feature *f, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    if (f->status == PFR_HOLE)
        return pfr_fail(err, PFR_HOLE, f->offset, f->bytes.length, "feature", "feature %u is outside the file", f->bit);
    if (writer_has_order(w, &from->context) || f->bytes.length == 0 || f->bit == BIT_TRACING_DATA)
        return pfr_writer_feature(w, f->bit, f->bytes.at, (size_t)f->bytes.length, err);
    return convert_feature(w, from, f, err);
}

pfr_status pfr_writer_build_id(pfr_writer *w, const struct pfr_rec_build_id_entry *entry, pfr_error *err) {
    struct pfr_rec_build_id_entry e = *entry;
    struct writing to = writing_into(w->scratch, RECORD_ROOM);
    pfr_error why;
    PFR_TRY(writer_stands(w, err));
    PFR_TRY(writer_start(w, err));
    e.type = w->container == PFR_PIPE ? PFR_RECORD_BUILD_ID : 0;
    e.entry_size = 0;
    const uint32_t name = e.filename.length + 1; /* perf rounds names in its entries up to a multiple of 64 */
    e.filename.room = e.filename.room ? e.filename.room : (name + 63) / 64 * 64;
    if (layout_write(layout_at(L_build_id_entry), &w->context, &e, &to, &why) < 0)
        return err ? (*err = why).status : why.status;
    if (w->container == PFR_PIPE)
        return record_emit(w, PFR_RECORD_BUILD_ID, e.misc, to.used - RECORD_HEADER, err);
    out_write(&w->features.build_ids, w->scratch, (size_t)to.used);
    return w->features.build_ids.status < 0 ? no_memory(w, err) : PFR_OK;
}

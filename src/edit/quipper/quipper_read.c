/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a PerfDataProto to an unnamed temporary perf.data file and opens a reader on that file, so that all
 * functions for readers work.
 */
#include "base/memory/bounds.h"
#include "base/io/scratch.h"
#include "edit/quipper/quipper_reading.h"
#include "wire/layout_write.h"

#include <sys/stat.h>
#include <unistd.h>

#define ATTR_OLDEST 64u
#define ATTR_OF_QUIPPER 96u

static void report_hole(struct quipper_reading *r, const pfr_error *hole) {
    if (r->hole)
        r->hole(r->hole_context, hole);
}

/* Passes each outermost field to `each`. Holes that `each` returns are reported. Bytes that are not a field are
 * reported only if `report_holes` is set, so that only one of several passes reports them. */
static pfr_status walk(struct quipper_reading *r, bool report_holes,
                       pfr_status (*each)(struct quipper_reading *, const struct proto_field *, struct cursor,
                                          pfr_error *),
                       pfr_error *err) {
    struct proto_field f;
    struct cursor content;
    pfr_error why;
    pfr_status s;
    quipper_scan_restart(&r->scan);
    while ((s = quipper_scan_next(&r->scan, &f, &content, &why)) != PFR_END) {
        if (s == PFR_HOLE && report_holes)
            report_hole(r, &why);
        if (s == PFR_OK && (s = each(r, &f, content, &why)) == PFR_HOLE)
            report_hole(r, &why);
        if (s < 0 && err)
            *err = why;
        PFR_TRY(s);
    }
    return PFR_OK;
}

/* --- Attrs. */

/* Reads the original bytes of an attr. PFR_END: they are not present. PFR_HOLE: they are not a valid attr. */
static pfr_status attr_of_ours(struct quipper_reading *r, struct cursor in, struct pfr_rec_attr *attr, pfr_error *err) {
    struct proto_field f;
    while (cursor_left(&in) > 0 && proto_take(&in, &f)) {
        if (f.number != QUIPPER_OUR_ATTR || f.wire != PROTO_BYTES)
            continue;
        struct cursor bytes = cursor_on(f.bytes, (size_t)f.value, 0, r->writer->context.swap);
        if (layout_read(layout_at(L_attr), &r->writer->context, &bytes, attr, err) < 0)
            return pfr_fail(err, PFR_HOLE, cursor_offset(&in), f.value, "perfray_attr",
                            "the bytes of an attr are incomplete");
        return PFR_OK;
    }
    return PFR_END;
}

/* quipper writes sizes that no version of the attr has. They are replaced, and bytes after the known members are
 * dropped. */
static void settle_size(struct pfr_rec_attr *attr) {
    if (attr->size && (attr->size < ATTR_OLDEST || attr->size > ATTR_MOST || attr->size % 8)) {
        attr->size = ATTR_OF_QUIPPER;
        attr->beyond = (pfr_bytes){NULL, 0};
    }
}

static pfr_status note_ids(struct quipper_reading *r, const struct pfr_rec_header_attr *body, pfr_error *err) {
    for (uint64_t i = 0; i < body->ids.count; i++)
        PFR_TRY(u64_map_put(&r->ids, pfr_u64s_at(&body->ids, i), r->writer->events.count, err));
    return PFR_OK;
}

static pfr_status on_attr(struct quipper_reading *r, const struct proto_field *f, struct cursor content,
                          pfr_error *err) {
    struct pfr_rec_header_attr body = {0};
    struct quipper_taking t = {.arena = &r->arena, .context = &r->writer->context};
    r->has_ours |= f->number == QUIPPER_OUR_FEATURE;
    if (f->number != 1 || f->wire != PROTO_BYTES)
        return PFR_OK;
    arena_free(&r->arena);
    pfr_status s = quipper_take(&t, M_file_attr, layout_at(L_header_attr), content, &body, err);
    if (s == PFR_ERR_DAMAGE)
        return err->status = PFR_HOLE;
    PFR_TRY(s);
    s = attr_of_ours(r, content, &body.attr, err);
    if (s == PFR_HOLE || s < 0)
        return s;
    settle_size(&body.attr);
    PFR_TRY(note_ids(r, &body, err));
    return pfr_writer_event(r->writer, &body.attr, (const uint64_t *)(const void *)body.ids.at, (size_t)body.ids.count,
                            err);
}

/* --- Records. */

static void owner_of(const void *owners, uint64_t id, struct quipper_owner *owner) {
    const struct quipper_reading *r = owners;
    uint64_t event = 0;
    if (!u64_map_get(&r->ids, id, &event) || event >= r->writer->events.count)
        event = 0;
    *owner = (struct quipper_owner){&r->writer->context, PFR_NO_EVENT, false};
    if (r->writer->events.count) {
        owner->context = &r->writer->events.list[event].context;
        owner->event = (int32_t)event;
        owner->has_tail = r->writer->events.list[event].attr.flags.sample_id_all;
    }
}

/* Handles a record that is stored outside of events. It has no payload, and must not be of a type that only the writer
   makes. */
static pfr_status record_of_ours(struct quipper_reading *r, struct cursor content, pfr_record *rec, pfr_error *err) {
    const bool swap = r->writer->context.swap;
    const size_t length = cursor_left(&content);
    *rec = (pfr_record){.offset = cursor_offset(&content), .bytes = content.at, .event = PFR_NO_EVENT};
    rec->context = &r->writer->context;
    if (length < RECORD_HEADER || length > RECORD_MOST || load_u16(content.at + 6, swap) != length)
        return pfr_fail(err, PFR_HOLE, rec->offset, length, "perfray_record",
                        "the size field of a record does not match its number of bytes");
    rec->type = load_u32(content.at, swap);
    rec->size = (uint32_t)length;
    if (rec->type == PFR_RECORD_AUXTRACE || rec->type == PFR_RECORD_TRACING_DATA || rec->type == PFR_RECORD_ATTR)
        return pfr_fail(err, PFR_HOLE, rec->offset, length, "perfray_record",
                        "a record of type %u cannot be stored as a perfray_record", rec->type);
    return PFR_OK;
}

static pfr_status on_record(struct quipper_reading *r, const struct proto_field *f, struct cursor content,
                            pfr_error *err) {
    pfr_record rec;
    pfr_bytes payload = {0};
    pfr_status s = PFR_END;
    if (f->wire == PROTO_BYTES && f->number == 2)
        s = quipper_make_record(&r->maker, content, true, &rec, &payload, err);
    else if (f->wire == PROTO_BYTES && f->number == QUIPPER_OUR_RECORD)
        s = record_of_ours(r, content, &rec, err);
    if (s != PFR_OK)
        return s == PFR_END ? PFR_OK : s;
    PFR_TRY(pfr_writer_copy(r->writer, &rec, err));
    return payload.length ? pfr_writer_payload(r->writer, payload.at, (size_t)payload.length, err) : PFR_OK;
}

/* --- The whole. */

/* Finds the byte order of our own fields. The first field may give it; without that field it is little-endian. */
static pfr_status order_of(struct quipper_reading *r, pfr_order *order, pfr_error *err) {
    struct proto_field f;
    struct cursor content;
    const pfr_status s = quipper_scan_next(&r->scan, &f, &content, err);
    *order = s == PFR_OK && f.number == QUIPPER_OUR_ORDER && f.wire == PROTO_VARINT && f.value ? PFR_ORDER_BIG
                                                                                               : PFR_ORDER_LITTLE;
    return s < 0 ? s : PFR_OK;
}

static pfr_status fill(struct quipper_reading *r, pfr_error *err) {
    PFR_TRY(walk(r, true, on_attr, err));
    quipper_features_open(r);
    pfr_status s = walk(r, false, quipper_feature, err);
    if (s >= 0)
        s = quipper_features_end(r, err);
    quipper_features_close(r);
    PFR_TRY(s);
    r->maker.owner_of = owner_of;
    r->maker.owners = r;
    r->maker.base = &r->writer->context;
    s = quipper_maker_open(&r->maker, &r->memory, err);
    if (s >= 0)
        s = walk(r, false, on_record, err);
    quipper_maker_close(&r->maker);
    return s < 0 ? s : pfr_writer_finish(r->writer, err);
}

static pfr_status write_to(struct quipper_reading *r, int fd, const pfr_open_options *options, pfr_error *err) {
    pfr_write_options how = {.size = sizeof how, .alloc = options ? options->alloc : NULL, .container = PFR_FILE};
    PFR_TRY(quipper_scan_open(&r->scan, &r->memory, err));
    PFR_TRY(order_of(r, &how.order, err));
    r->writer = pfr_writer_open_fd(fd, false, "the recording out of a PerfDataProto", &how, err);
    if (!r->writer)
        return err->status;
    const pfr_status s = fill(r, err);
    pfr_writer_close(r->writer);
    return s;
}

/* --- Opening. */

static bool looks_like_quipper(const uint8_t *bytes, size_t have) {
    bool is_text;
    return quipper_looks_like(bytes, have, &is_text);
}

bool pfr_is_quipper(const char *path) {
    struct stat st;
    struct memory memory;
    struct input in;
    const uint8_t *bytes;
    size_t have;
    memory_init(&memory, NULL, 0);
    const struct input_setup setup = {.memory = &memory};
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || input_open(&in, path, &setup, NULL) < 0)
        return false;
    const bool is = input_window(&in, 0, 4096, &bytes, &have, NULL) >= 0 && looks_like_quipper(bytes, have);
    input_close(&in);
    return is;
}

/* Opens the recording that the PerfDataProto in the reader's input describes. */
static pfr_reader *open_made(struct quipper_reading *r, pfr_reader *from, const pfr_open_options *options,
                             pfr_error *err) {
    const pfr_limits limits = limits_resolve(options ? options->limits : NULL);
    int fd = -1;
    memory_init(&r->memory, options ? options->alloc : NULL, limits.memory);
    arena_init(&r->arena, &r->memory);
    u64_map_init(&r->ids, &r->memory);
    r->scan.in = &from->parts[0].in;
    if (from->damage.broken.status == PFR_HOLE)
        report_hole(r, &from->damage.broken);
    pfr_status s = scratch_open(&fd, err);
    if (s >= 0)
        s = write_to(r, fd, options, err);
    quipper_scan_close(&r->scan);
    u64_map_free(&r->ids);
    arena_free(&r->arena);
    if (s >= 0 && scratch_rewind(fd, err) >= 0)
        return reader_open_fd(fd, "the recording out of a PerfDataProto", options, err);
    if (fd >= 0)
        close(fd);
    return NULL;
}

pfr_reader *pfr_open_any(const char *path, const pfr_open_options *options,
                         void (*hole)(void *context, const pfr_error *hole), void *context, pfr_error *err) {
    struct quipper_reading r = {.hole = hole, .hole_context = context};
    struct other_form quipper = {.is_it = looks_like_quipper};
    pfr_error own;
    err = err ? err : &own;
    pfr_reader *const from = reader_open_or(path, &quipper, options, err);
    if (!from || !quipper.found)
        return from;
    pfr_reader *const made = open_made(&r, from, options, err);
    pfr_close(from);
    return made;
}

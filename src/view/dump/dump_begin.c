/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the parts of a file outside its records as pseudo records: file_header, one file_attr and one file_ids per
 * event, event_type entries of old files, and one record per feature. In a stream, events and features are records, so
 * only the header is shown here.
 */
#include "view/dump/dump_begin.h"
#include "view/dump/dump_record.h"
#include "view/dump/dump_filter.h"
#include "view/dump/dump_decode.h"
#include "view/dump/dump_walk.h"

#include "file/xray/xray.h"
#include "view/dump/dump_hole.h"

#define FILE_HEADER 104u
#define EVENT_TYPE_SIZE 72u /* an entry is a u64 and 64 characters */
#define SECTION_SIZE 16u
#define EVENT_TYPES_MOST 65536u

static const struct field ids_field = {.name = "ids", .kind = K_A64, .show = SHOW_DEC};
static const struct field event_field = {.name = "event", .kind = K_U32, .show = SHOW_DEC};

/* Decodes one layout from `in` and shows it. If the bytes do not fit the layout, reports that and shows them as
 * bytes. */
static void show_pseudo(struct dump *d, struct dump_head head, unsigned layout, struct cursor in) {
    pfr_error err;
    struct dump_shown shown = {.layout = layout, .body = &d->body, .in = in};
    if (!dump_wants_pseudo(d, layout, head.offset))
        return;
    d->context = d->reader->context;
    if (layout_read(d->layouts[layout], &d->context, &shown.in, &d->body, &err) != PFR_OK) {
        shown.in = in;
        shown.damage = err.text;
        dump_report_hole(d, &err);
    }
    head.name = d->layouts[layout]->name;
    dump_show(d, &head, &shown);
}

/* A stream's header cannot be read again; its 16 bytes are reconstructed from the parsed header. */
static void show_pipe_header(struct dump *d) {
    uint8_t bytes[16];
    const pfr_header *h = pfr_get_header(d->reader);
    const bool swap = d->reader->context.swap;
    const uint64_t size = swap ? __builtin_bswap64(sizeof bytes) : sizeof bytes;
    memcpy(bytes, h->version == 1 ? "PERFFILE" : h->big_endian ? "2ELIFREP" : "PERFILE2", 8);
    memcpy(bytes + 8, &size, sizeof size);
    const struct dump_head head = {.offset = 0, .size = sizeof bytes};
    show_pseudo(d, head, L_pipe_header, cursor_on(bytes, sizeof bytes, 0, swap));
}

static pfr_status read_at(struct dump *d, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err) {
    *got = 0;
    if (offset >= pfr_get_header(d->reader)->file_size)
        return PFR_OK;
    const pfr_status s = input_read_at(&d->reader->parts[0].in, offset, to, length, got, err);
    return s < 0 ? s : PFR_OK;
}

/* The attr consists of all bytes before the ids section at the end of the entry, whatever the attr's size field
   contains. */
static void show_attr_entry(struct dump *d, uint64_t offset, const uint8_t *entry, size_t size) {
    static const struct dump_key attr_key = {",\"attr\":", sizeof ",\"attr\":" - 1, "attr"};
    const bool swap = d->reader->context.swap;
    struct cursor attr = cursor_on(entry, size - SECTION_SIZE, offset, swap), ids;
    ids = cursor_on(entry + size - SECTION_SIZE, SECTION_SIZE, offset + size - SECTION_SIZE, swap);
    const struct dump_head head = {.name = "file_attr", .offset = offset, .size = size};
    const uint8_t *at = attr.at, *section = ids.at, *known;
    d->context = d->reader->context;
    d->form->begin_record(d, &head);
    if (d->form->wraps_fields)
        d->form->begin_part(d, &dump_key_fields);
    if (layout_read(d->layouts[L_attr], &d->context, &attr, &d->body, NULL) == PFR_OK) {
        d->form->begin_part(d, &attr_key);
        known = dump_fields(d, L_attr, &d->context, &d->body, at, section);
        d->form->end_part(d);
        d->spot = (struct dump_spot){NULL, 0};
        if (known < section)
            d->form->bytes(d, &dump_key_trailing, known, (uint64_t)(section - known));
    } else {
        d->form->bytes(d, &attr_key, at, (uint64_t)(section - at));
    }
    layout_read(d->layouts[L_section], &d->context, &ids, &d->body, NULL);
    d->form->begin_part(d, &dump_key_ids);
    dump_fields(d, L_section, &d->context, &d->body, section, section + SECTION_SIZE);
    d->form->end_part(d);
    if (d->form->wraps_fields)
        d->form->end_part(d);
    d->form->end_record(d);
}

/* Shows the ids from the reader, in the byte order of this machine. */
static void show_ids(struct dump *d, uint32_t index, uint64_t offset) {
    const pfr_event *event = pfr_get_event(d->reader, index);
    if (!event || event->nr_ids == 0)
        return;
    const struct dump_head head = {.name = "file_ids", .offset = offset, .size = event->nr_ids * 8};
    const pfr_u64s ids = {(const uint8_t *)event->ids, event->nr_ids, 0};
    d->form->begin_record(d, &head);
    if (d->form->wraps_fields)
        d->form->begin_part(d, &dump_key_fields);
    d->spot = (struct dump_spot){NULL, 0};
    d->form->integer(d, &dump_key_event, &event_field, index);
    d->form->numbers(d, &dump_key_ids, &ids_field, &ids);
    if (d->form->wraps_fields)
        d->form->end_part(d);
    d->form->end_record(d);
}

static pfr_status show_attrs(struct dump *d, const struct pfr_rec_file_header *header, pfr_error *err) {
    const size_t size = (size_t)pfr_get_header(d->reader)->attr_size;
    size_t got = size;
    if (size <= SECTION_SIZE)
        return PFR_OK;
    uint8_t *entry = mem_alloc(&d->to->memory, size, 1);
    if (!entry)
        return mem_fail(&d->to->memory, err, "attr");
    pfr_status s = PFR_OK;
    for (uint32_t i = 0; i < pfr_event_count(d->reader) && s == PFR_OK && got == size; i++) {
        const uint64_t offset = header->attrs.offset + i * size;
        s = read_at(d, offset, entry, size, &got, err);
        if (s < 0 || got < size || !dump_wants_pseudo(d, L_file_attr, offset))
            continue;
        show_attr_entry(d, offset, entry, size);
        show_ids(d, i, load_u64(entry + size - SECTION_SIZE, d->reader->context.swap));
    }
    mem_free(&d->to->memory, entry, size, 1);
    return s;
}

static pfr_status show_event_types(struct dump *d, const struct pfr_rec_section *section, pfr_error *err) {
    uint8_t bytes[EVENT_TYPE_SIZE];
    size_t got;
    for (uint64_t i = 0; i < section->size / EVENT_TYPE_SIZE && i < EVENT_TYPES_MOST; i++) {
        const struct dump_head head = {.offset = section->offset + i * EVENT_TYPE_SIZE, .size = EVENT_TYPE_SIZE};
        PFR_TRY(read_at(d, head.offset, bytes, sizeof bytes, &got, err));
        if (got < sizeof bytes)
            return PFR_OK;
        show_pseudo(d, head, L_event_type, cursor_on(bytes, sizeof bytes, head.offset, d->reader->context.swap));
    }
    return PFR_OK;
}

static void show_feature(struct dump *d, const pfr_feature *feature) {
    pfr_error err;
    const unsigned layout = (unsigned)feature->layout;
    const struct dump_head head = {layout ? d->layouts[layout]->name : "feature", NULL, feature->offset,
                                   feature->bytes.length, &feature->bit};
    struct dump_shown shown = {.layout = layout, .body = &d->body};
    if (!dump_wants_pseudo(d, layout, feature->offset))
        return;
    shown.in = cursor_on(feature->bytes.at, feature->bytes.at ? feature->bytes.length : 0, feature->offset, false);
    const struct cursor all = shown.in;
    /* flag features have no payload; all others must be decoded */
    if (layout && all.start == all.end && layout_least_size(d->layouts[layout], &d->reader->context) > 0) {
        shown.layout = L_NONE;
    } else if (layout && dump_decode_feature(d, &feature->bytes, feature->offset, layout, &shown.in, &err) != PFR_OK) {
        shown.in = all;
        shown.damage = err.text;
        dump_report_hole(d, &err);
    }
    dump_show(d, &head, &shown);
}

static pfr_status show_features(struct dump *d, pfr_error *err) {
    pfr_error hole;
    for (uint32_t i = 0; i < pfr_feature_count(d->reader); i++) {
        const pfr_feature *feature = pfr_get_feature(d->reader, i, err);
        if (!feature)
            return err ? err->status : PFR_ERR_IO;
        if (feature->status == PFR_HOLE) {
            pfr_fail(&hole, PFR_HOLE, feature->offset, feature->bytes.length, "feature",
                     "feature %u is (partly) outside the file", feature->bit);
            dump_report_hole(d, &hole);
        }
        show_feature(d, feature);
    }
    return PFR_OK;
}

/* Shows the header of an XRay trace from the reader, which keeps it. */
static void show_trace_header(struct dump *d) {
    const struct xray_trace *t = d->reader->trace;
    const bool is_profile = pfr_get_header(d->reader)->format == PFR_XRAY_PROFILE;
    const struct dump_head head = {.offset = 0, .size = sizeof t->header};
    show_pseudo(d, head, is_profile ? L_profile_header : L_xray_header,
                cursor_on(t->header, sizeof t->header, 0, d->reader->context.swap));
}

pfr_status dump_begin(struct dump *d, pfr_error *err) {
    const pfr_header *h = pfr_get_header(d->reader);
    uint8_t bytes[FILE_HEADER] = {0};
    size_t got;
    if (h->format != PFR_PERF_DATA)
        return show_trace_header(d), PFR_OK;
    if (h->container == PFR_PIPE)
        return show_pipe_header(d), PFR_OK;
    const size_t size = h->header_size < sizeof bytes ? (size_t)h->header_size : sizeof bytes;
    PFR_TRY(read_at(d, 0, bytes, size, &got, err));
    const struct dump_head head = {.offset = 0, .size = got};
    const struct cursor in = cursor_on(bytes, got, 0, d->reader->context.swap);
    show_pseudo(d, head, L_file_header, in);
    struct cursor again = in;
    struct pfr_rec_file_header header;
    PFR_TRY(layout_read(d->layouts[L_file_header], &d->reader->context, &again, &header, err));
    PFR_TRY(show_attrs(d, &header, err));
    PFR_TRY(show_event_types(d, &header.event_types, err));
    return show_features(d, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of a PerfDataProto. If it has fields of our own, the bytes in these fields are used, otherwise quipper's
 * messages. A single message is read into the struct of its feature. Repeated messages are parts of one feature and are
 * collected first.
 */
#include "edit/quipper/quipper_reading.h"
#include "wire/feature_bits.h"
#include "wire/layout_write.h"

#define MASK 5u /* field numbers of M_perf_data */
#define BUILD_IDS 7u
#define EVENT_TYPES 10u
#define STRINGS 13u
#define TRACING_DATA 14u
#define LENGTH_VALID 0x8000u

void quipper_features_open(struct quipper_reading *r) {
    for (size_t i = 0; i < QUIPPER_GATHERED; i++)
        out_open_memory(&r->gathered[i].bytes, &r->memory);
    out_open_memory(&r->names, &r->memory);
}

void quipper_features_close(struct quipper_reading *r) {
    for (size_t i = 0; i < QUIPPER_GATHERED; i++)
        out_close(&r->gathered[i].bytes, NULL);
    out_close(&r->names, NULL);
}

static pfr_status take(struct quipper_reading *r, unsigned message, const struct layout *l, struct cursor content,
                       const struct pfr_context *c, void *body, pfr_error *err) {
    struct quipper_taking t = {.arena = &r->arena, .context = c};
    arena_free(&r->arena);
    memset(body, 0, l->size);
    const pfr_status s = quipper_take(&t, message, l, content, body, err);
    return s == PFR_ERR_DAMAGE ? (err->status = PFR_HOLE) : s;
}

/* Writes a struct of a layout to bytes in the arena. HOLE: its values cannot be written. */
static pfr_status bytes_of(struct quipper_reading *r, const struct layout *l, const struct pfr_context *c,
                           const void *body, pfr_bytes *bytes, pfr_error *err) {
    struct writing to = writing_nowhere();
    if (layout_write(l, c, body, &to, err) < 0)
        return err->status = PFR_HOLE;
    uint8_t *at = arena_zeroed(&r->arena, (size_t)to.used + 1, 1);
    if (!at)
        return mem_fail(&r->memory, err, "features");
    *bytes = (pfr_bytes){at, to.used};
    to = writing_into(at, to.used);
    return layout_write(l, c, body, &to, err) < 0 ? (err->status = PFR_HOLE) : PFR_OK;
}

static pfr_status write_feature(struct quipper_reading *r, const struct layout *l, const struct pfr_context *c,
                                const void *body, pfr_error *err) {
    pfr_bytes bytes;
    const pfr_status s = bytes_of(r, l, c, body, &bytes, err);
    if (s != PFR_OK)
        return s;
    return pfr_writer_feature(r->writer, LAYOUT_VALUE(l->id), bytes.at, (size_t)bytes.length, err);
}

/* The layout before the dot of `from`, or NULL; *member is the member after the dot, or NULL. */
static const struct layout *layout_of(const char *from, const struct field **member) {
    char name[64] = "";
    const size_t length = strcspn(from, ".");
    if (length >= sizeof name)
        return NULL;
    memcpy(name, from, length);
    const struct layout *l = layout_at(layout_named(name));
    *member = l && from[length] ? field_named(l, from + length + 1) : NULL;
    return l;
}

/* --- Features of many parts. */

/* The collector for a row with parts. Rows with parts are numbered across the messages M_perf_data and
 * M_string_metadata. */
static struct quipper_gathered *gathered_of(struct quipper_reading *r, const struct quipper_row *row) {
    const unsigned messages[] = {M_perf_data, M_string_metadata};
    size_t at = 0;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        for (const struct quipper_row *each = quipper_rows(messages[i]); each->name; each++) {
            if (each == row)
                return at < QUIPPER_GATHERED ? &r->gathered[at] : NULL;
            at += each->kind == Q_PART && strchr(each->from, '.');
        }
    return NULL;
}

static pfr_status gather(struct quipper_reading *r, const struct quipper_row *row, unsigned of, struct cursor content,
                         pfr_error *err) {
    struct quipper_gathered *g = gathered_of(r, row);
    union any_layout part;
    pfr_bytes bytes;
    pfr_status s = take(r, row->message, layout_at(of), content, &r->writer->context, &part, err);
    if (s == PFR_OK)
        s = bytes_of(r, layout_at(of), &r->writer->context, &part, &bytes, err);
    if (s != PFR_OK || !g)
        return s;
    out_write(&g->bytes, bytes.at, (size_t)bytes.length);
    g->count++;
    return g->bytes.status < 0 ? mem_fail(&r->memory, err, "features") : PFR_OK;
}

static pfr_status write_gathered(struct quipper_reading *r, const struct quipper_row *row, pfr_error *err) {
    const struct quipper_gathered *g = gathered_of(r, row);
    const struct field *member;
    const struct layout *l = layout_of(row->from, &member);
    union any_layout body;
    size_t length;
    if (!g || !l || !member || g->count == 0)
        return PFR_OK;
    const char *bytes = out_bytes(&g->bytes, &length);
    memset(&body, 0, sizeof body);
    *(pfr_items *)(void *)((uint8_t *)&body + member->at) =
        (pfr_items){(const uint8_t *)bytes, length, g->count, &r->writer->context, member->of};
    const pfr_status s = write_feature(r, l, &r->writer->context, &body, err);
    return s == PFR_HOLE ? PFR_OK : s;
}

/* --- Features of one message. */

/* Writes the feature of a row whose message holds all of it. The layout of CPU_TOPOLOGY depends on the number of CPUs,
 * so the CPUs are counted first. */
static pfr_status write_whole(struct quipper_reading *r, const struct quipper_row *row, const struct layout *l,
                              struct cursor content, pfr_error *err) {
    struct pfr_context c = r->writer->context;
    union any_layout body;
    struct proto_field f;
    c.word[WORD_CPUS] = 0;
    for (struct cursor in = content; row->message == M_cpu_topology && cursor_left(&in) > 0 && proto_take(&in, &f);)
        c.word[WORD_CPUS] += f.number == 5;
    const pfr_status s = take(r, row->message, l, content, &c, &body, err);
    return s == PFR_OK ? write_feature(r, l, &c, &body, err) : s;
}

static pfr_status on_build_id(struct quipper_reading *r, struct cursor content, pfr_error *err) {
    struct pfr_rec_build_id_entry entry;
    struct proto_field f;
    const pfr_status s = take(r, M_build_id, layout_at(L_build_id_entry), content, &r->writer->context, &entry, err);
    if (s != PFR_OK)
        return s;
    while (cursor_left(&content) > 0 && proto_take(&content, &f))
        if (f.number == 6 && f.wire == PROTO_VARINT && entry.misc & LENGTH_VALID)
            entry.length = (uint8_t)f.value;
    return pfr_writer_build_id(r->writer, &entry, err) == PFR_ERR_LIMIT ? (err->status = PFR_HOLE) : PFR_OK;
}

/* --- Names of events, which EVENT_DESC holds together with their attrs. */

static pfr_status on_name(struct quipper_reading *r, struct cursor content, pfr_error *err) {
    struct pfr_rec_event_desc_entry entry;
    const pfr_status s =
        take(r, M_event_type, layout_at(L_event_desc_entry), content, &r->writer->context, &entry, err);
    if (s != PFR_OK)
        return s;
    const uint64_t head[] = {entry.attr.config, entry.name.length};
    out_write(&r->names, head, sizeof head);
    out_write(&r->names, entry.name.at, entry.name.length);
    r->nr_names++;
    return r->names.status < 0 ? mem_fail(&r->memory, err, "features") : PFR_OK;
}

/* The name of an event, found by index if every event has a name, otherwise by config. */
static pfr_text name_of(const struct quipper_reading *r, size_t index) {
    size_t left, i = 0;
    const char *at = out_bytes(&r->names, &left);
    uint64_t head[2];
    for (; left >= sizeof head; i++, at += head[1], left -= (size_t)head[1]) {
        memcpy(head, at, sizeof head);
        at += sizeof head;
        left -= sizeof head;
        if (r->nr_names == r->writer->events.count ? i == index : head[0] == r->writer->events.list[index].attr.config)
            return (pfr_text){at, (uint32_t)head[1], 0};
    }
    return (pfr_text){"", 0, 0};
}

static pfr_status write_entries(const struct quipper_reading *r, uint32_t size, struct writing *to, pfr_error *err) {
    const pfr_writer *w = r->writer;
    if (to->bytes) {
        put_u32(to->bytes, (uint32_t)w->events.count, w->context.swap);
        put_u32(to->bytes + 4, size, w->context.swap);
    }
    to->used = 8;
    for (size_t i = 0; i < w->events.count; i++) {
        struct pfr_rec_event_desc_entry entry = {.attr = w->events.list[i].attr,
                                                 .nr_ids = (uint32_t)w->events.list[i].nr_ids};
        entry.attr.size = size;
        entry.attr.beyond = (pfr_bytes){NULL, 0};
        entry.name = name_of(r, i);
        entry.ids = (pfr_u64s){(const uint8_t *)w->events.list[i].ids, w->events.list[i].nr_ids, 0};
        PFR_TRY(layout_write(layout_at(L_event_desc_entry), &w->context, &entry, to, err));
    }
    return PFR_OK;
}

static pfr_status write_names(struct quipper_reading *r, pfr_error *err) {
    struct writing to = writing_nowhere();
    uint32_t size = 64;
    if (r->nr_names == 0 || r->writer->events.count == 0)
        return PFR_OK;
    for (size_t i = 0; i < r->writer->events.count; i++)
        size = r->writer->events.list[i].attr.size > size ? r->writer->events.list[i].attr.size : size;
    if (write_entries(r, size, &to, err) < 0)
        return PFR_OK;
    arena_free(&r->arena);
    uint8_t *bytes = arena_zeroed(&r->arena, (size_t)to.used, 1);
    if (!bytes)
        return mem_fail(&r->memory, err, "features");
    to = writing_into(bytes, to.used);
    PFR_TRY(write_entries(r, size, &to, err));
    return pfr_writer_feature(r->writer, BIT_EVENT_DESC, bytes, (size_t)to.used, err);
}

/* --- By field. */

/* Features that are flags have no message: only the mask has them. */
static pfr_status on_mask(struct quipper_reading *r, uint64_t mask, pfr_error *err) {
    const uint32_t flags[] = {BIT_BRANCH_STACK, BIT_STAT};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (mask >> flags[i] & 1)
            PFR_TRY(pfr_writer_feature(r->writer, flags[i], NULL, 0, err));
    return PFR_OK;
}

static pfr_status on_ours(struct quipper_reading *r, struct cursor content, pfr_error *err) {
    struct proto_field f;
    pfr_bytes bytes = {0};
    uint64_t bit = FEATURES;
    while (cursor_left(&content) > 0 && proto_take(&content, &f)) {
        if (f.number == 1 && f.wire == PROTO_VARINT)
            bit = f.value;
        if (f.number == 2 && f.wire == PROTO_BYTES)
            bytes = (pfr_bytes){f.bytes, f.value};
    }
    if (bit >= FEATURES || bit == 0 || cursor_left(&content) > 0)
        return pfr_fail(err, PFR_HOLE, cursor_offset(&content), cursor_left(&content), "perfray_feature",
                        "these bytes are not a feature");
    return pfr_writer_feature(r->writer, (uint32_t)bit, bytes.at, (size_t)bytes.length, err);
}

static pfr_status on_row(struct quipper_reading *r, const struct quipper_row *row, struct cursor content,
                         pfr_error *err) {
    const struct field *member;
    const struct layout *l = layout_of(row->from, &member);
    if (row->kind != Q_PART || !l)
        return PFR_OK;
    return member ? gather(r, row, member->of, content, err) : write_whole(r, row, l, content, err);
}

static pfr_status on_strings(struct quipper_reading *r, struct cursor content, pfr_error *err) {
    const struct cursor start = content;
    struct proto_field f;
    while (cursor_left(&content) > 0 && proto_take(&content, &f)) {
        const struct quipper_row *row = quipper_row_of(M_string_metadata, f.number);
        if (!row || f.wire != PROTO_BYTES)
            continue;
        const uint64_t offset = start.offset + (uint64_t)(f.bytes - start.start);
        const pfr_status s = on_row(r, row, cursor_on(f.bytes, (size_t)f.value, offset, false), err);
        if (s != PFR_OK)
            return s;
    }
    return PFR_OK;
}

pfr_status quipper_feature(struct quipper_reading *r, const struct proto_field *f, struct cursor content,
                           pfr_error *err) {
    const struct quipper_row *row = quipper_row_of(M_perf_data, f->number);
    if (f->wire == PROTO_BYTES && f->number == QUIPPER_OUR_FEATURE)
        return on_ours(r, content, err);
    if (!row || (r->has_ours && f->number != TRACING_DATA))
        return PFR_OK;
    if (f->wire != PROTO_BYTES)
        return f->number == MASK ? on_mask(r, f->value, err) : PFR_OK;
    if (f->number == BUILD_IDS)
        return on_build_id(r, content, err);
    if (f->number == EVENT_TYPES)
        return on_name(r, content, err);
    return f->number == STRINGS ? on_strings(r, content, err) : on_row(r, row, content, err);
}

pfr_status quipper_features_end(struct quipper_reading *r, pfr_error *err) {
    const unsigned messages[] = {M_perf_data, M_string_metadata};
    if (r->has_ours)
        return PFR_OK;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        for (const struct quipper_row *row = quipper_rows(messages[i]); row->name; row++)
            PFR_TRY(write_gathered(r, row, err));
    return write_names(r, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded names of events: EVENT_DESC, by index; the obsolete event_types, by config; and the tracepoint formats.
 * EVENT_UPDATE sets names as it arrives (metadata_records.c). Events without a recorded name get one from their attr
 * (event_name.c).
 */
#include "file/read/event_names.h"
#include "file/read/event_name.h"
#include "file/read/tracing_blob.h"
#include "wire/feature_bits.h"

#define EVENT_TYPE_SIZE 72u

static const char *keep(pfr_reader *r, const char *at, size_t length) {
    return arena_text(&r->arena, at, length);
}

static void set_name(pfr_reader *r, uint64_t index, const pfr_text *name, bool recorded) {
    if (index >= r->events.count || r->events.list[index].public.named || name->length == 0)
        return;
    r->events.list[index].public.name = keep(r, name->at, name->length);
    r->events.list[index].public.named = recorded;
}

/* perf ignores the names of EVENT_DESC in streams, so a stream's events are named by EVENT_UPDATE or get a rebuilt
   name. */
static void from_event_desc(pfr_reader *r) {
    struct pfr_rec_feature_event_desc desc;
    struct pfr_rec_event_desc_entry entry;
    const pfr_feature *f = pfr_find_feature(r, BIT_EVENT_DESC, NULL);
    if (!f || r->header.container == PFR_PIPE || pfr_decode_feature(r, f, &desc, sizeof desc, NULL) < 0)
        return;
    pfr_items_iter it = pfr_items_begin(&desc.events);
    for (uint64_t i = 0; pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK; i++)
        set_name(r, i, &entry.name, true);
}

static void name_by_config(pfr_reader *r, uint64_t config, const pfr_text *name) {
    for (size_t i = 0; i < r->events.count; i++) {
        const struct pfr_rec_attr *a = &r->events.list[i].public.attr;
        if ((a->type == PFR_ATTR_TYPE_TRACEPOINT || a->type == PFR_ATTR_TYPE_RAW) && a->config == config)
            set_name(r, i, name, true);
    }
}

/* Returns false if not all bytes are there. A read error is kept for features_unread. */
static bool read_all(pfr_reader *r, uint64_t offset, void *to, size_t length) {
    size_t got = 0;
    pfr_error why;
    if (input_read_at(&r->parts[0].in, offset, to, length, &got, &why) < 0 && r->features.unread.status == PFR_OK)
        r->features.unread = why;
    return got == length;
}

static void from_event_types(pfr_reader *r) {
    uint8_t section[16], entry[EVENT_TYPE_SIZE];
    if (r->header.container == PFR_PIPE || !read_all(r, 56, section, sizeof section))
        return;
    const uint64_t offset = load_u64(section, r->context.swap), size = load_u64(section + 8, r->context.swap);
    if (r->header.header_size < 72 || offset > r->header.file_size || size > r->header.file_size - offset)
        return;
    for (uint64_t at = 0; at + EVENT_TYPE_SIZE <= size; at += EVENT_TYPE_SIZE) {
        if (!read_all(r, offset + at, entry, sizeof entry))
            return;
        const pfr_text name = {(const char *)entry + 8, (uint32_t)strnlen((const char *)entry + 8, 64), 64};
        name_by_config(r, load_u64(entry, r->context.swap), &name);
    }
}

/* "system:name", in the arena. NULL: out of memory. */
static const char *tracepoint_name(pfr_reader *r, const struct tracing_format *f) {
    const size_t system = f->system.length, own = f->name.length;
    char *name = arena_take(&r->arena, system + own + 2, 1);
    if (!name)
        return NULL;
    memcpy(name, f->system.at, system);
    name[system] = ':';
    memcpy(name + system + 1, f->name.at, own);
    name[system + own + 1] = 0;
    return name;
}

/* Reads the formats once, as soon as both the formats and a tracepoint event are known. */
static pfr_status read_formats(pfr_reader *r, pfr_error *err) {
    struct tracing_blob blob;
    struct tracing_format f;
    const pfr_feature *feature = pfr_find_feature(r, BIT_TRACING_DATA, NULL);
    if (!feature)
        return PFR_OK;
    r->events.formats_read = true;
    if (blob_open(&blob, feature->bytes.at, feature->bytes.length, feature->offset, NULL) < 0)
        return PFR_OK;
    while (blob_next(&blob, &f, NULL) == PFR_OK) {
        if (f.name.length == 0)
            continue;
        const char *name = tracepoint_name(r, &f);
        if (!name)
            return mem_fail(&r->memory, err, "event names");
        PFR_TRY(u64_map_put(&r->events.formats, f.id, (uint64_t)(uintptr_t)name, err));
    }
    return PFR_OK;
}

pfr_status events_note_name(pfr_reader *r, size_t index, pfr_error *err) {
    if (r->events.nr_renamed == r->events.renamed_room) {
        const size_t room = r->events.renamed_room ? 2 * r->events.renamed_room : 8;
        uint32_t *more = arena_take(&r->arena, room * sizeof *more, sizeof *more);
        if (!more)
            return mem_fail(&r->memory, err, "event names");
        if (r->events.nr_renamed)
            memcpy(more, r->events.renamed, r->events.nr_renamed * sizeof *more);
        r->events.renamed = more;
        r->events.renamed_room = room;
    }
    r->events.renamed[r->events.nr_renamed++] = (uint32_t)index;
    return PFR_OK;
}

static pfr_status name_tracepoint(pfr_reader *r, size_t index, pfr_error *err) {
    pfr_event *e = &r->events.list[index].public;
    uint64_t found;
    if (e->attr.type != PFR_ATTR_TYPE_TRACEPOINT || !u64_map_get(&r->events.formats, e->attr.config, &found))
        return PFR_OK;
    e->rebuilt = (const char *)(uintptr_t)found;
    if (e->named || e->name == e->rebuilt)
        return PFR_OK;
    e->name = e->rebuilt;
    return index < r->events.nr_named ? events_note_name(r, index, err) : PFR_OK;
}

/* Rebuilds the names of the events from index `from` on. */
static pfr_status rebuild_names(pfr_reader *r, size_t from, pfr_error *err) {
    for (size_t i = from; i < r->events.count; i++) {
        pfr_event *e = &r->events.list[i].public;
        e->rebuilt = event_name_make(r, &e->attr);
        if (!e->rebuilt)
            return mem_fail(&r->memory, err, "event names");
        if (!e->name)
            e->name = e->rebuilt;
        r->events.has_tracepoints = r->events.has_tracepoints || e->attr.type == PFR_ATTR_TYPE_TRACEPOINT;
    }
    return PFR_OK;
}

/* Names the new events; existing names stay. In a stream, events and formats arrive one by one; each is handled
   once. */
pfr_status events_name(pfr_reader *r, pfr_error *err) {
    size_t from = r->events.nr_named;
    r->events.names_stale = false;
    PFR_TRY(rebuild_names(r, from, err));
    if (from == 0 && r->events.count > 0) {
        from_event_desc(r);
        from_event_types(r);
    }
    if (r->events.has_tracepoints && !r->events.formats_read) {
        PFR_TRY(read_formats(r, err));
        from = r->events.formats_read ? 0 : from;
    }
    for (size_t i = from; i < r->events.count; i++)
        PFR_TRY(name_tracepoint(r, i, err));
    for (size_t i = r->events.nr_named; i < r->events.count; i++)
        if (!r->events.list[i].public.name)
            return mem_fail(&r->memory, err, "event names");
    r->events.nr_named = r->events.count;
    return PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that were recorded. EVENT_UPDATE sets them as it comes (notice.c); here are EVENT_DESC, by index, the obsolete
 * event_types, by config, and the tracepoint formats. What is left is rebuilt from the attr (event_name.c).
 */
#include "file/recording.h"
#include "file/tracing_blob.h"

#define FEATURE_TRACING_DATA 1u
#define FEATURE_EVENT_DESC 12u
#define TYPE_TRACEPOINT 2u
#define TYPE_RAW 4u
#define EVENT_TYPE_SIZE 72u

static const char *keep(pfr_reader *r, const char *at, size_t length) {
    return arena_text(&r->arena, at, length);
}

static void set_name(pfr_reader *r, uint64_t index, const pfr_text *name, bool recorded) {
    if (index >= r->nr_events || r->events[index].public.named || name->length == 0)
        return;
    r->events[index].public.name = keep(r, name->at, name->length);
    r->events[index].public.named = recorded;
}

/* In streams perf takes no names from EVENT_DESC, and neither do we: EVENT_UPDATE or the rebuilt name holds. */
static void from_event_desc(pfr_reader *r) {
    struct pfr_rec_feature_event_desc desc;
    struct pfr_rec_event_desc_entry entry;
    const pfr_feature *f = pfr_find_feature(r, FEATURE_EVENT_DESC, NULL);
    if (!f || r->header.container == PFR_PIPE || pfr_decode_feature(r, f, &desc, sizeof desc, NULL) < 0)
        return;
    pfr_items_iter it = pfr_items_begin(&desc.events);
    for (uint64_t i = 0; pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK; i++)
        set_name(r, i, &entry.name, true);
}

static void name_by_config(pfr_reader *r, uint64_t config, const pfr_text *name) {
    for (size_t i = 0; i < r->nr_events; i++) {
        const struct pfr_rec_attr *a = &r->events[i].public.attr;
        if ((a->type == TYPE_TRACEPOINT || a->type == TYPE_RAW) && a->config == config)
            set_name(r, i, name, true);
    }
}

static void from_event_types(pfr_reader *r) {
    uint8_t section[16], entry[EVENT_TYPE_SIZE];
    struct input *in = &r->parts[0].in;
    size_t got = 0;
    if (r->header.container == PFR_PIPE || input_read_at(in, 56, section, sizeof section, &got, NULL) < 0 || got < 16)
        return;
    const uint64_t offset = load_u64(section, r->context.swap), size = load_u64(section + 8, r->context.swap);
    if (r->header.header_size < 72 || offset > r->header.file_size || size > r->header.file_size - offset)
        return;
    for (uint64_t at = 0; at + EVENT_TYPE_SIZE <= size; at += EVENT_TYPE_SIZE) {
        if (input_read_at(in, offset + at, entry, sizeof entry, &got, NULL) < 0 || got < sizeof entry)
            return;
        const pfr_text name = {(const char *)entry + 8, (uint32_t)strnlen((const char *)entry + 8, 64), 64};
        name_by_config(r, load_u64(entry, r->context.swap), &name);
    }
}

static void name_tracepoint(pfr_reader *r, uint64_t index, const struct tracing_format *f) {
    char name[256];
    const size_t system = f->system.length, own = f->name.length;
    if (own == 0 || system + own + 1 >= sizeof name)
        return;
    memcpy(name, f->system.at, system);
    name[system] = ':';
    memcpy(name + system + 1, f->name.at, own);
    const pfr_text both = {name, (uint32_t)(system + own + 1), 0};
    r->events[index].public.rebuilt = keep(r, both.at, both.length);
    set_name(r, index, &both, false);
}

static void from_formats(pfr_reader *r) {
    struct tracing_blob blob;
    struct tracing_format f;
    const pfr_feature *feature = pfr_find_feature(r, FEATURE_TRACING_DATA, NULL);
    if (!feature || blob_open(&blob, feature->bytes.at, feature->bytes.length, feature->offset, NULL) < 0)
        return;
    while (blob_next(&blob, &f, NULL) == PFR_OK)
        for (size_t i = 0; i < r->nr_events; i++)
            if (r->events[i].public.attr.type == TYPE_TRACEPOINT && r->events[i].public.attr.config == f.id)
                name_tracepoint(r, i, &f);
}

static bool wants_formats(const pfr_reader *r) {
    for (size_t i = 0; i < r->nr_events; i++)
        if (r->events[i].public.attr.type == TYPE_TRACEPOINT)
            return true;
    return false;
}

pfr_status events_name(pfr_reader *r, pfr_error *err) {
    r->names_stale = false;
    for (size_t i = 0; i < r->nr_events; i++) {
        pfr_event *e = &r->events[i].public;
        if (!e->rebuilt)
            e->rebuilt = event_name_make(r, &e->attr);
        if (!e->name)
            e->name = e->rebuilt;
    }
    from_event_desc(r);
    from_event_types(r);
    if (wants_formats(r))
        from_formats(r);
    for (size_t i = 0; i < r->nr_events; i++)
        if (!r->events[i].public.name || !r->events[i].public.rebuilt)
            return mem_fail(&r->memory, err, "event names");
    return PFR_OK;
}

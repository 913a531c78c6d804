/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events whose attrs or ids the header lost. EVENT_DESC tells both again (docs/perf-data-format.md): how many events
 * and bytes of an attr, then of each the attr, how many ids, its name, the ids. What the header tells and can be is
 * kept.
 */
#include "file/recording.h"
#include "wire/feature_bits.h"

#define ATTR_FIRST 64u /* bytes of the oldest attr */
#define ATTR_LARGEST 4096u
#define LOST_AT 24u /* the header's section of attrs */

struct described {
    struct cursor in;
    uint32_t count, attr_size;
    const uint8_t *attr; /* of the last one */
    pfr_u64s ids;
};

static bool can_be_attr(uint32_t size, size_t room) {
    return size >= ATTR_FIRST && size <= room && size % 8 == 0;
}

static bool described_open(pfr_reader *r, struct described *d) {
    const pfr_feature *f = pfr_find_feature(r, BIT_EVENT_DESC, NULL);
    if (!f || f->bytes.length < 8)
        return false;
    d->in = cursor_on(f->bytes.at, f->bytes.length, f->offset, r->context.swap);
    return take_u32(&d->in, &d->count) && take_u32(&d->in, &d->attr_size) && d->count > 0 &&
           d->attr_size >= ATTR_FIRST && d->attr_size <= ATTR_LARGEST;
}

static bool described_next(struct described *d) {
    uint32_t nr_ids, length;
    const uint8_t *name;
    if (!take_bytes(&d->in, d->attr_size, &d->attr) || !take_u32(&d->in, &nr_ids) || !take_u32(&d->in, &length) ||
        !take_bytes(&d->in, length, &name) || !take_bytes(&d->in, (uint64_t)nr_ids * 8, &d->ids.at))
        return false;
    d->ids.count = nr_ids;
    d->ids.swap = d->in.swap;
    return can_be_attr(load_u32(d->attr + 4, d->in.swap), d->attr_size);
}

/* Whether it can be read to its end; else nothing is believed of it. */
static bool is_readable(struct described d) {
    for (uint32_t i = 0; i < d.count; i++)
        if (!described_next(&d))
            return false;
    return true;
}

static bool is_lost(const pfr_reader *r, const pfr_event *e) {
    return !can_be_attr(load_u32(e->attr_bytes.at + 4, r->context.swap), e->attr_bytes.length);
}

static bool attrs_are_lost(const pfr_reader *r) {
    for (size_t i = 0; i < r->nr_events; i++)
        if (is_lost(r, &r->events[i].public))
            return true;
    return r->nr_events == 0;
}

static bool ids_are_lost(const pfr_reader *r) {
    for (size_t i = 0; i < r->nr_events; i++)
        if (r->events[i].public.nr_ids)
            return false;
    return r->nr_events > 1;
}

/* All events anew: those that the header told before, as far as they can be, and what is described. */
static pfr_status add_anew(pfr_reader *r, struct described *d, pfr_error *err) {
    const struct event *const before = r->events;
    const size_t told = r->nr_events;
    const bool no_ids = ids_are_lost(r);
    r->events = NULL;
    r->nr_events = r->events_room = 0;
    u64_map_free(&r->ids);
    u64_map_init(&r->ids, &r->memory);
    for (uint32_t i = 0; i < d->count && described_next(d); i++) {
        const pfr_event *e = i < told ? &before[i].public : NULL;
        const bool keep = e && !is_lost(r, e);
        const pfr_u64s own = {keep ? (const uint8_t *)e->ids : NULL, keep ? e->nr_ids : 0, false};
        PFR_TRY(events_add(r, keep ? e->attr_bytes.at : d->attr, keep ? e->attr_bytes.length : d->attr_size,
                           keep && !no_ids ? &own : &d->ids, err));
    }
    return PFR_OK;
}

pfr_status mend_events(pfr_reader *r, pfr_error *err) {
    struct described d = {.count = 0};
    const bool no_attrs = r->header.version > 1 && attrs_are_lost(r);
    if (!no_attrs && !ids_are_lost(r))
        return PFR_OK;
    if (!described_open(r, &d) || !is_readable(d))
        return features_unread(r, err);
    if (no_attrs)
        found(r, LOST_AT, 16, "file_header.attrs", "attrs that cannot be; EVENT_DESC tells of %u events", d.count);
    else if (d.count == r->nr_events)
        found(r, LOST_AT, 16, "file_attr.ids", "no ids of %u events; EVENT_DESC tells them", d.count);
    else
        return PFR_OK;
    return add_anew(r, &d, err);
}

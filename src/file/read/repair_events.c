/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restores events whose attrs or ids are lost from the header. EVENT_DESC repeats both (docs/perf-data-format.md):
 * number of events, bytes per attr, then for each event its attr, number of ids, name and ids. Plausible values of the
 * header are kept. A file without EVENT_DESC, such as one left by a killed recorder, may have ID_INDEX records: these
 * list ids with cpu and thread, but not the event. If every event has one id per cpu and thread, the order of the
 * entries shows the event of each id. The first bytes of the records may be damaged; then ID_INDEX is searched in them.
 */
#include "file/read/repair_events.h"
#include "file/read/events.h"
#include "file/read/features.h"
#include "wire/feature_bits.h"

#define ATTR_FIRST 64u     /* bytes of the oldest attr */
#define LOST_AT 24u        /* offset of the attrs section in the header */
#define INDEX_HEAD 16u     /* bytes of the record's header and of the number of entries */
#define INDEX_ENTRY 32u    /* bytes: id, ring index, cpu, thread */
#define GUEST_ENTRY 16u    /* bytes of an entry's second part: machine, vcpu */
#define LOOK_BYTES 65536u  /* bytes to search if there is no ID_INDEX among the first records */
#define LOOK_RECORDS 4096u /* most records to skip before the first ID_INDEX, or between two */
#define IDS_MOST 65536u

struct described {
    struct cursor in;
    uint32_t count, attr_size;
    const uint8_t *attr; /* the attr of the entry read last */
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
           d->attr_size >= ATTR_FIRST && d->attr_size <= ATTR_MOST;
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

/* Whether EVENT_DESC can be read to its end; otherwise it is not used at all. */
static bool is_readable(struct described d) {
    for (uint32_t i = 0; i < d.count; i++)
        if (!described_next(&d))
            return false;
    return true;
}

/* EVENT_DESC has no ids if `perfray recover` wrote it for events whose ids are unknown. */
static bool has_ids(struct described d) {
    for (uint32_t i = 0; i < d.count && described_next(&d); i++)
        if (d.ids.count)
            return true;
    return false;
}

static bool is_lost(const pfr_reader *r, const pfr_event *e) {
    return !can_be_attr(load_u32(e->attr_bytes.at + 4, r->context.swap), e->attr_bytes.length);
}

static bool attrs_are_lost(const pfr_reader *r) {
    for (size_t i = 0; i < r->events.count; i++)
        if (is_lost(r, &r->events.list[i].public))
            return true;
    return r->events.count == 0;
}

static bool ids_are_lost(const pfr_reader *r) {
    for (size_t i = 0; i < r->events.count; i++)
        if (r->events.list[i].public.nr_ids)
            return false;
    return r->events.count > 1;
}

/* Adds all events again: attrs and ids of the header where they are plausible, the others from EVENT_DESC. */
static pfr_status add_anew(pfr_reader *r, struct described *d, pfr_error *err) {
    const struct event *const before = r->events.list;
    const size_t nr_before = r->events.count;
    const bool no_ids = ids_are_lost(r);
    r->events.list = NULL;
    r->events.count = r->events.room = 0;
    u64_map_free(&r->events.ids);
    u64_map_init(&r->events.ids, &r->memory);
    memset(r->events.memos, 0, sizeof r->events.memos);
    for (uint32_t i = 0; i < d->count && described_next(d); i++) {
        const pfr_event *e = i < nr_before ? &before[i].public : NULL;
        const bool keep = e && !is_lost(r, e);
        const pfr_u64s own = {keep ? (const uint8_t *)e->ids : NULL, keep ? e->nr_ids : 0, false};
        PFR_TRY(events_add(r, keep ? e->attr_bytes.at : d->attr, keep ? e->attr_bytes.length : d->attr_size,
                           keep && !no_ids ? &own : &d->ids, err));
    }
    return PFR_OK;
}

/* --- ID_INDEX. */

struct indexed {
    uint8_t *entries;
    size_t count;
};

static bool read_whole(pfr_reader *r, uint64_t offset, void *to, size_t length) {
    size_t got = 0;
    return input_read_at(&r->parts[0].in, offset, to, length, &got, NULL) >= 0 && got == length;
}

/* Appends the entries of an ID_INDEX record; ignores a record whose count is too large. */
static pfr_status take_index(pfr_reader *r, struct indexed *x, uint64_t at, uint32_t size, pfr_error *err) {
    uint8_t number[8];
    if (size < INDEX_HEAD || !read_whole(r, at + 8, number, sizeof number))
        return PFR_OK;
    const uint64_t count = load_u64(number, r->context.swap);
    if (count > (size - INDEX_HEAD) / INDEX_ENTRY || count > IDS_MOST - x->count || count == 0)
        return PFR_OK;
    uint8_t *more = mem_resize(&r->memory, x->entries, x->count, x->count + count, INDEX_ENTRY);
    if (!more)
        return mem_fail(&r->memory, err, "events");
    x->entries = more;
    if (!read_whole(r, at + INDEX_HEAD, more + x->count * INDEX_ENTRY, count * INDEX_ENTRY))
        memset(more + x->count * INDEX_ENTRY, 0, count * INDEX_ENTRY);
    x->count += count;
    return PFR_OK;
}

/* Appends the entries of the ID_INDEX records from the record at `at` on. */
static pfr_status take_indexes(pfr_reader *r, struct indexed *x, uint64_t at, pfr_error *err) {
    uint8_t head[RECORD_HEADER];
    for (unsigned left = LOOK_RECORDS; left > 0 && read_whole(r, at, head, sizeof head); left--) {
        const uint32_t type = load_u32(head, r->context.swap), size = load_u16(head + 6, r->context.swap);
        if (size < RECORD_HEADER)
            break;
        if (type == PFR_RECORD_ID_INDEX)
            PFR_TRY(take_index(r, x, at, size, err));
        at += size;
    }
    return PFR_OK;
}

/* True for the bytes of an ID_INDEX record whose entries fill it; each may have the two numbers of a guest, too. */
static bool begins_index(const pfr_reader *r, const uint8_t *bytes) {
    const bool swap = r->context.swap;
    const uint64_t size = load_u16(bytes + 6, swap), count = load_u64(bytes + RECORD_HEADER, swap);
    if (load_u32(bytes, swap) != PFR_RECORD_ID_INDEX || load_u16(bytes + 4, swap) != 0 || count == 0 ||
        count > IDS_MOST)
        return false;
    return size == INDEX_HEAD + count * INDEX_ENTRY || size == INDEX_HEAD + count * (INDEX_ENTRY + GUEST_ENTRY);
}

/* Sets *at to the first ID_INDEX record in the first bytes of the records, which may be damaged. */
static pfr_status search_index(pfr_reader *r, uint64_t *at, bool *is_there, pfr_error *err) {
    uint8_t *bytes = mem_alloc(&r->memory, LOOK_BYTES, 1);
    size_t got = 0, i = 0;
    if (!bytes)
        return mem_fail(&r->memory, err, "events");
    if (input_read_at(&r->parts[0].in, r->parts[0].begin, bytes, LOOK_BYTES, &got, NULL) < 0)
        got = 0;
    while (i + INDEX_HEAD <= got && !begins_index(r, bytes + i))
        i++;
    *is_there = i + INDEX_HEAD <= got;
    *at = r->parts[0].begin + i;
    mem_free(&r->memory, bytes, LOOK_BYTES, 1);
    return PFR_OK;
}

static pfr_status look_for_index(pfr_reader *r, struct indexed *x, pfr_error *err) {
    uint64_t at = 0;
    bool is_there = false;
    PFR_TRY(take_indexes(r, x, r->parts[0].begin, err));
    if (x->count)
        return PFR_OK;
    PFR_TRY(search_index(r, &at, &is_there, err));
    return is_there ? take_indexes(r, x, at, err) : PFR_OK;
}

static uint64_t word_of(const pfr_reader *r, const struct indexed *x, size_t entry, unsigned word) {
    return load_u64(x->entries + entry * INDEX_ENTRY + 8 * word, r->context.swap);
}

/* Whether two entries have the same cpu and thread. */
static bool are_of_one(const pfr_reader *r, const struct indexed *x, size_t a, size_t b) {
    return word_of(r, x, a, 2) == word_of(r, x, b, 2) && word_of(r, x, a, 3) == word_of(r, x, b, 3);
}

/* Finds the order of the entries: grouped by event, as perf writes them (*step 1), or by counter (*step: number of
   events). False: neither order fits. */
static bool whose_they_are(const pfr_reader *r, const struct indexed *x, size_t *step) {
    const size_t events = r->events.count, each = events ? x->count / events : 0;
    bool by_event = true, by_counter = true;
    if (each == 0 || x->count % events != 0)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        by_event = by_event && are_of_one(r, x, i, i % each);
        by_counter = by_counter && are_of_one(r, x, i, i - i % events);
    }
    for (size_t i = 1; i < each; i++) /* each cpu and thread occurs only once per event */
        by_event = by_event && !are_of_one(r, x, i, 0);
    *step = by_event ? 1 : events;
    return by_event || by_counter;
}

static pfr_status give_ids(pfr_reader *r, const struct indexed *x, size_t step, pfr_error *err) {
    const size_t events = r->events.count, each = x->count / events;
    const struct event *const before = r->events.list;
    r->events.list = NULL;
    r->events.count = r->events.room = 0;
    for (size_t e = 0; e < events; e++) {
        uint64_t *ids = arena_take(&r->arena, each * sizeof *ids, sizeof *ids);
        if (!ids)
            return mem_fail(&r->memory, err, "events");
        for (size_t i = 0; i < each; i++)
            ids[i] = word_of(r, x, step == 1 ? e * each + i : i * events + e, 0);
        const pfr_u64s own = {(const uint8_t *)ids, (uint32_t)each, false};
        PFR_TRY(events_add(r, before[e].public.attr_bytes.at, before[e].public.attr_bytes.length, &own, err));
    }
    return PFR_OK;
}

static pfr_status mend_by_index(pfr_reader *r, pfr_error *err) {
    struct indexed x = {.count = 0};
    size_t step;
    pfr_status s = look_for_index(r, &x, err);
    if (s >= 0 && whose_they_are(r, &x, &step)) {
        found(r, LOST_AT, 16, "file_attr.ids", "ids of %zu events are missing; they are taken from ID_INDEX",
              r->events.count);
        s = give_ids(r, &x, step, err);
    }
    mem_free(&r->memory, x.entries, x.count, INDEX_ENTRY);
    return s;
}

pfr_status mend_events(pfr_reader *r, pfr_error *err) {
    struct described d = {.count = 0};
    const bool no_attrs = r->header.version > 1 && attrs_are_lost(r);
    if (!no_attrs && !ids_are_lost(r))
        return PFR_OK;
    if (!described_open(r, &d) || !is_readable(d) || (!no_attrs && !has_ids(d))) {
        PFR_TRY(features_unread(r, err));
        return ids_are_lost(r) ? mend_by_index(r, err) : PFR_OK;
    }
    if (no_attrs)
        found(r, LOST_AT, 16, "file_header.attrs", "the attrs are invalid; the %u events of EVENT_DESC are used",
              d.count);
    else if (d.count == r->events.count)
        found(r, LOST_AT, 16, "file_attr.ids", "ids of %u events are missing; they are taken from EVENT_DESC", d.count);
    else
        return PFR_OK;
    return add_anew(r, &d, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a recording, and the event that a record belongs to. The id in a sample, or in the sample_id of another
   record, decides; it is at the same place for all events of a recording (docs/perf-data-format.md, event routing). */
#include "file/read/events.h"
#include "file/read/plausible_record.h"
#include "wire/names.h"

#define ATTR_LEAST 64u
#define OLD_ATTR_MOST 96u /* bytes: the largest attr when Linux 3.7 changed the magic */

uint64_t *copy_ids(pfr_reader *r, const pfr_u64s *ids, pfr_error *err) {
    uint64_t *copy = arena_take(&r->arena, ids->count * sizeof *copy, sizeof *copy);
    if (!copy) {
        mem_fail(&r->memory, err, "event ids");
        return NULL;
    }
    for (uint64_t i = 0; i < ids->count; i++)
        copy[i] = pfr_u64s_at(ids, i);
    return copy;
}

/* Reads an attr that states an impossible size; uses the size of its entry instead. */
static pfr_status read_absurd(pfr_reader *r, const uint8_t *bytes, size_t room, struct pfr_rec_attr *attr,
                              pfr_error *err) {
    const uint32_t size = r->context.swap ? __builtin_bswap32((uint32_t)room) : (uint32_t)room;
    uint8_t *copy = arena_copy(&r->arena, bytes, room, 1);
    if (!copy)
        return mem_fail(&r->memory, err, "events");
    found(r, PFR_NO_OFFSET, 0, "attr.size", "an attr of %u bytes in an entry of %zu",
          load_u32(bytes + 4, r->context.swap), room);
    memcpy(copy + 4, &size, sizeof size);
    struct cursor in = cursor_on(copy, room, 0, r->context.swap);
    return layout_read(layout_at(L_attr), &r->context, &in, attr, err);
}

/* Reads an attr. If it states more bytes than its entry has, the missing ones are read as zeros. */
static pfr_status read_attr(pfr_reader *r, const uint8_t *bytes, size_t room, struct pfr_rec_attr *attr,
                            pfr_error *err) {
    const uint32_t said = load_u32(bytes + 4, r->context.swap);
    struct cursor in = cursor_on(bytes, room, 0, r->context.swap);
    if (said > ATTR_MOST)
        return read_absurd(r, bytes, room < ATTR_MOST ? room : ATTR_MOST, attr, err);
    if (said <= room)
        return layout_read(layout_at(L_attr), &r->context, &in, attr, err);
    uint8_t *longer = arena_zeroed(&r->arena, said, 1);
    if (!longer)
        return mem_fail(&r->memory, err, "events");
    memcpy(longer, bytes, room);
    in = cursor_on(longer, said, 0, r->context.swap);
    return layout_read(layout_at(L_attr), &r->context, &in, attr, err);
}

/* Offset of a member from the start of a sample; 0: it is not at the same place in all samples. */
static uint32_t place_in_sample(const struct event *e, size_t member) {
    uint32_t place;
    return layout_place(layout_at(L_sample), &e->context, (uint16_t)member, &place) ? RECORD_HEADER + place : 0;
}

/* Offset of a member, counted back from the end of a record other than a sample; 0: not at a fixed place. */
static uint32_t place_in_tail(const struct event *e, size_t member) {
    uint32_t place;
    return e->tail && layout_place(layout_at(L_sample_id), &e->context, (uint16_t)member, &place) ? e->tail - place : 0;
}

static void set_context(pfr_reader *r, struct event *e) {
    const struct pfr_rec_attr *a = &e->public.attr;
    e->context = r->context;
    e->context.word[WORD_SAMPLE] = a->sample_type;
    e->context.word[WORD_READ] = a->read_format;
    e->context.word[WORD_BRANCH] = a->branch_sample_type;
    e->context.word[WORD_REGS_USER] = a->sample_regs_user;
    e->context.word[WORD_REGS_INTR] = a->sample_regs_intr;
    e->length = layout_length(layout_at(L_sample), &e->context);
    e->open_ended = (a->sample_type & ~names_bits(SHOW_SAMPLE_TYPE)) ||
                    (a->read_format & ~names_bits(SHOW_READ_FORMAT)) ||
                    (a->branch_sample_type & ~names_bits(SHOW_BRANCH_SAMPLE));
    e->tail = a->flags.sample_id_all ? layout_length(layout_at(L_sample_id), &e->context).fixed : 0;
    e->time_at = place_in_sample(e, offsetof(struct pfr_rec_sample, time));
    e->ip_at = place_in_sample(e, offsetof(struct pfr_rec_sample, ip));
    e->time_back = place_in_tail(e, offsetof(struct pfr_rec_sample_id, time));
}

/* Sets the offsets of the id in records; the sample_type of the first event decides them for all events. */
static void set_id_places(pfr_reader *r) {
    const struct event *e = &r->events.list[0];
    r->events.id_at = place_in_sample(e, offsetof(struct pfr_rec_sample, identifier));
    r->events.id_back = place_in_tail(e, offsetof(struct pfr_rec_sample_id, identifier));
    if (r->events.id_at)
        return;
    r->events.id_at = place_in_sample(e, offsetof(struct pfr_rec_sample, id));
    r->events.id_back = place_in_tail(e, offsetof(struct pfr_rec_sample_id, id));
}

/* Adds an event. If the array must grow, it is copied, and the old one stays in the arena, because records point to the
   context of their event. */
static struct event *new_event(pfr_reader *r, pfr_error *err) {
    if (r->events.count == r->events.room) {
        const size_t room = r->events.room ? r->events.room * 2 : 8;
        struct event *more = arena_zeroed(&r->arena, room, sizeof *more);
        if (!more) {
            mem_fail(&r->memory, err, "events");
            return NULL;
        }
        if (r->events.count)
            memcpy(more, r->events.list, r->events.count * sizeof *more);
        r->events.list = more;
        r->events.room = room;
    }
    return &r->events.list[r->events.count];
}

/* If several attrs of a file have the same id, it belongs to the last one, as in perf. In a stream it belongs to the
   first one, so that a second pass reads the records before the second attr in the same way. */
static pfr_status learn_ids(pfr_reader *r, const pfr_event *event, pfr_error *err) {
    const bool first_keeps = r->header.container == PFR_PIPE;
    memset(r->events.memos, 0, sizeof r->events.memos);
    for (uint64_t i = 0; i < event->nr_ids; i++) {
        if (first_keeps && u64_map_get(&r->events.ids, event->ids[i], &(uint64_t){0}))
            continue;
        PFR_TRY(u64_map_put(&r->events.ids, event->ids[i], r->events.count, err));
    }
    return PFR_OK;
}

pfr_status events_add(pfr_reader *r, const uint8_t *bytes, size_t room, const pfr_u64s *ids, pfr_error *err) {
    if (room < ATTR_LEAST)
        return pfr_fail(err, PFR_ERR_DAMAGE, PFR_NO_OFFSET, 0, "attr", "an attr of only %zu bytes", room);
    struct event *e = new_event(r, err);
    if (!e)
        return err ? err->status : PFR_ERR_MEMORY;
    uint8_t *kept = arena_copy(&r->arena, bytes, room, 8);
    if (!kept)
        return mem_fail(&r->memory, err, "events");
    *e = (struct event){.public = {.scale = 1, .attr_bytes = {kept, room}}};
    PFR_TRY(read_attr(r, kept, room, &e->public.attr, err));
    if (r->header.version == 1 && e->public.attr.size > OLD_ATTR_MOST && r->events.count == 0)
        found(r, 0, 8, "file_header.magic", "files with the magic PERFFILE cannot have attrs of %u bytes",
              e->public.attr.size);
    set_context(r, e);
    e->public.nr_ids = ids->count;
    e->public.ids = copy_ids(r, ids, err);
    if (!e->public.ids)
        return PFR_ERR_MEMORY;
    PFR_TRY(learn_ids(r, &e->public, err));
    r->events.count++;
    if (r->header.container == PFR_PIPE)
        e->added_at = r->events.last_added_at = r->cursor.at;
    r->events.names_stale = true;
    if (r->events.count == 1) {
        plausibility_learn(r);
        set_id_places(r);
    }
    return PFR_OK;
}

static int32_t event_of_id(pfr_reader *r, uint64_t id, size_t so_far) {
    struct id_memo *memo = &r->events.memos[id % ID_MEMOS];
    uint64_t event = memo->event;
    if (id == r->events.last_id && r->events.last_event >= 0)
        return r->events.last_event;
    if ((!memo->used || memo->id != id) && !u64_map_get(&r->events.ids, id, &event))
        return PFR_NO_EVENT;
    *memo = (struct id_memo){id, (uint32_t)event, true};
    if (event >= so_far)
        return PFR_NO_EVENT;
    r->events.last_id = id;
    r->events.last_event = (int32_t)event;
    return r->events.last_event;
}

/* Number of events whose attrs came before the read position. A second pass over a stream knows all events from the
   start, but must return the same records as the first pass. */
static size_t events_so_far(const pfr_reader *r) {
    size_t from = 0, until = r->events.count;
    if (r->cursor.at >= r->events.last_added_at)
        return r->events.count;
    while (from < until) {
        const size_t middle = from + (until - from) / 2;
        if (r->events.list[middle].added_at <= r->cursor.at)
            from = middle + 1;
        else
            until = middle;
    }
    return from;
}

static int32_t owner_of_sample(pfr_reader *r, const uint8_t *record, uint32_t size, size_t so_far) {
    if (so_far == 1 || r->events.id_at == 0)
        return 0;
    return r->events.id_at + 8 > size ? PFR_NO_EVENT
                                      : event_of_id(r, load_u64(record + r->events.id_at, r->context.swap), so_far);
}

/* Records that perf makes itself have id 0 and belong to the first event. `room`: maximum bytes of the tail. */
static int32_t owner_by_tail(pfr_reader *r, const uint8_t *record, uint32_t size, uint32_t room, size_t so_far) {
    if (so_far == 1 || r->events.id_back == 0 || room < r->events.id_back)
        return 0;
    const uint64_t id = load_u64(record + size - r->events.id_back, r->context.swap);
    const int32_t owner = id ? event_of_id(r, id, so_far) : 0;
    return owner < 0 ? 0 : owner;
}

int32_t events_owner(pfr_reader *r, uint32_t type, const uint8_t *record, uint32_t size, uint16_t *tail) {
    *tail = 0;
    const size_t so_far = type >= 64 ? 0 : events_so_far(r);
    if (so_far == 0)
        return PFR_NO_EVENT;
    if (type == PFR_RECORD_SAMPLE)
        return owner_of_sample(r, record, size, so_far);
    const uint32_t least = RECORD_HEADER + r->events.rules[type].least, room = size > least ? size - least : 0;
    const int32_t owner = owner_by_tail(r, record, size, room, so_far);
    if (room < r->events.list[owner].tail)
        return 0;
    *tail = (uint16_t)r->events.list[owner].tail;
    return owner;
}

uint32_t pfr_event_count(const pfr_reader *reader) {
    return (uint32_t)reader->events.count;
}

const pfr_event *pfr_get_event(const pfr_reader *reader, uint32_t index) {
    return index < reader->events.count ? &reader->events.list[index].public : NULL;
}

int32_t pfr_event_of_id(const pfr_reader *reader, uint64_t id) {
    uint64_t event;
    return u64_map_get(&reader->events.ids, id, &event) ? (int32_t)event : PFR_NO_EVENT;
}

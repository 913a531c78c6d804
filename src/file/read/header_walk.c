/* SPDX-License-Identifier: Apache-2.0 */
/* Walk over record headers: see header_walk.h. The walk ends at any record other than a plain sample of the event;
   pfr_next continues from there. */
#include "file/read/header_walk.h"

#include "file/read/recording.h"

#include "base/memory/sizes.h"

#define TYPES_OF_KERNEL 64u /* types from here on are those of recorders */

/* The event to count. With several events, its samples are recognised by their id; with one event, every sample belongs
   to it. */
struct wanted_event {
    const struct length_rule *length;
    uint64_t id;
    uint64_t header;  /* first 8 bytes of its samples, misc masked out, if all have the same length; else 0 */
    uint32_t at;      /* offset of the id in the record; 0: no id is needed */
    uint32_t time_at; /* offset of the time, which must be valid; 0: not checked */
    bool swap;
};

/* The record header as one number, without misc, which varies. */
static inline uint64_t header_at(const uint8_t *at) {
    uint64_t header;
    memcpy(&header, at, sizeof header);
    const uint8_t bytes[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0xff, 0xff};
    uint64_t mask;
    memcpy(&mask, bytes, sizeof mask);
    return header & mask;
}

static inline bool is_wanted(const struct wanted_event *w, const uint8_t *record, uint32_t size) {
    if (load_u32(record, w->swap) != PFR_RECORD_SAMPLE || size < RECORD_HEADER + w->at)
        return false;
    return w->at == 0 || load_u64(record + w->at, w->swap) == w->id;
}

static inline bool has_time(const struct wanted_event *w, const uint8_t *record) {
    const uint64_t time = w->time_at ? load_u64(record + w->time_at, w->swap) : 1;
    return time != 0 && time != NO_TIME;
}

/* The size of the sample at `at`; 0: not of the wanted event, or incomplete. Inlined, so that the loops over samples
   keep the members of *w in registers. */
static inline __attribute__((always_inline)) uint32_t wanted_size(const struct wanted_event *w, const uint8_t *at,
                                                                  uint64_t left) {
    if (left < RECORD_HEADER)
        return 0;
    if (w->header) {
        const uint32_t size = RECORD_HEADER + w->length->fixed;
        const bool fits = left >= size && header_at(at) == w->header;
        return fits && (w->at == 0 || load_u64(at + w->at, w->swap) == w->id) && has_time(w, at) ? size : 0;
    }
    const uint16_t size = load_u16(at + 6, w->swap);
    if (size < RECORD_HEADER || size > left || !is_wanted(w, at, size))
        return 0;
    return length_holds(w->length, at + RECORD_HEADER, size - RECORD_HEADER, w->swap) && has_time(w, at) ? size : 0;
}

/* Number of consecutive wanted samples of equal length at `at`, at most `limit`. */
static uint32_t equal_run(const struct wanted_event *w, const uint8_t *at, uint64_t left, uint32_t limit) {
    const uint64_t header = w->header, id = w->id, size = (uint64_t)RECORD_HEADER + w->length->fixed;
    const uint32_t id_at = w->at;
    const uint64_t room = left / size;
    const uint32_t most = room < limit ? (uint32_t)room : limit;
    for (uint32_t count = 0; count < most; count++, at += size)
        if (header_at(at) != header || (id_at && load_u64(at + id_at, false) != id))
            return count;
    return most;
}

static void note_times(struct rounds *rounds, const uint8_t *at, uint32_t count, uint64_t size) {
    struct rounds own = *rounds;
    for (; count; count--, at += size)
        rounds_note(&own, load_u64(at, false));
    *rounds = own;
}

/* Whether the reader has no other work to do before the record at r->at, and samples may be attributed to `event`.
   Sets *bytes and *left to the unread bytes in the buffer. */
static bool may_walk(const pfr_reader *r, int32_t event, const uint8_t **bytes, uint64_t *left) {
    const struct part *p = &r->parts[r->cursor.part];
    const uint64_t skip = r->cursor.at - p->in.start;
    if (r->limits.records != UINT64_MAX)
        return false; /* pfr_next checks this limit at every record */
    if (r->cursor.compressed.length || r->cursor.payload_size || r->events.names_stale || r->cursor.ended ||
        p->inflater.length > p->inflater.at)
        return false;
    if (skip > p->in.length || r->cursor.at >= p->end ||
        (r->events.count > 1 && (r->events.id_at == 0 || event != r->events.last_event)))
        return false;
    const uint64_t room = p->end - r->cursor.at;
    *left = p->in.length - skip < room ? p->in.length - skip : room;
    *bytes = p->in.bytes + skip;
    return true;
}

/* The first 8 bytes of samples of a fixed length, without misc; 0: the length varies. */
static uint64_t header_of(const struct length_rule *length, uint32_t id_at, bool swap) {
    const uint64_t size = (uint64_t)RECORD_HEADER + length->fixed;
    const bool varies = !length->known || length->counted || length->sized || length->text;
    if (varies || size > UINT16_MAX || size < RECORD_HEADER + id_at || swap)
        return 0;
    const uint32_t type = PFR_RECORD_SAMPLE;
    const uint16_t short_size = (uint16_t)size;
    uint8_t bytes[RECORD_HEADER] = {0};
    memcpy(bytes, &type, sizeof type);
    memcpy(bytes + 6, &short_size, sizeof short_size);
    return header_at(bytes);
}

static struct wanted_event wanted_of(const pfr_reader *r, int32_t event, uint32_t time_at) {
    const struct length_rule *length = &r->events.list[event].length;
    const uint32_t id_at = r->events.count > 1 ? r->events.id_at : 0;
    return (struct wanted_event){.length = length,
                                 .id = r->events.last_id,
                                 .header = header_of(length, id_at, r->context.swap),
                                 .at = id_at,
                                 .time_at = time_at,
                                 .swap = r->context.swap};
}

bool walk_run(const pfr_reader *r, int32_t event, bool timed, uint64_t most, struct sample_run *run) {
    const struct event *e = &r->events.list[event];
    uint64_t left;
    uint32_t size;
    *run = (struct sample_run){.time_at = e->time_at};
    if (!may_walk(r, event, &run->bytes, &left) || (timed && (e->time_at == 0 || e->length.fixed < e->time_at)))
        return false;
    const struct wanted_event w = wanted_of(r, event, timed ? e->time_at : 0);
    for (const uint8_t *at = run->bytes; run->count < most && (size = wanted_size(&w, at, left)) > 0;
         at += size, left -= size) {
        run->length += size;
        run->count++;
    }
    return run->count > 0;
}

void walk_past(pfr_reader *r, uint64_t length, uint64_t count) {
    r->cursor.at += length;
    r->cursor.doubtful = UINT64_MAX;
    r->damage.quality.records += count;
    r->damage.quality.samples += count;
}

/* Returns the number of bytes of the consecutive samples of equal length at `at`, maybe 0; notes their times. */
static uint64_t walk_equal(const struct wanted_event *w, const uint8_t *at, uint64_t left, uint32_t time_at,
                           struct rounds *rounds) {
    const uint64_t size = (uint64_t)RECORD_HEADER + w->length->fixed, all = left;
    uint32_t some;
    while (w->header && (some = equal_run(w, at, left, (uint32_t)sizes.walk_run)) > 0) {
        if (time_at)
            note_times(rounds, at + time_at, some, size);
        at += some * size;
        left -= some * size;
    }
    return all - left;
}

uint64_t walk_samples(pfr_reader *r, int32_t event, struct rounds *rounds) {
    const uint32_t time_at = rounds ? r->events.list[event].time_at : 0;
    const uint8_t *start, *at;
    uint64_t left, count = 0;
    uint32_t size;
    if (!may_walk(r, event, &start, &left))
        return 0;
    const struct wanted_event w = wanted_of(r, event, 0);
    const uint64_t equal = walk_equal(&w, start, left, time_at, rounds);
    if (equal)
        count = equal / ((uint64_t)RECORD_HEADER + w.length->fixed);
    left -= equal;
    for (at = start + equal; (size = wanted_size(&w, at, left)) > 0; at += size, left -= size) {
        if (time_at) /* the length of the sample was checked, so it has a time */
            rounds_note(rounds, load_u64(at + time_at, w.swap));
        count++;
    }
    walk_past(r, (uint64_t)(at - start), count);
    return count;
}

/* A kernel record other than a sample does not change how later records are read. A reader of slices may skip it,
   because an earlier pass has handled it. */
static inline uint32_t passed_size(const struct wanted_event *w, const uint8_t *at, uint64_t left) {
    if (left < RECORD_HEADER)
        return 0;
    const uint32_t type = load_u32(at, w->swap);
    const uint16_t size = load_u16(at + 6, w->swap);
    return type < TYPES_OF_KERNEL && type != PFR_RECORD_SAMPLE && size >= RECORD_HEADER && size <= left ? size : 0;
}

uint64_t walk_others(pfr_reader *r, int32_t event) {
    const uint8_t *start, *at;
    uint64_t left, count = 0;
    uint32_t size;
    if (!may_walk(r, event, &start, &left))
        return 0;
    const struct wanted_event w = wanted_of(r, event, 0);
    for (at = start; (size = passed_size(&w, at, left)) > 0; at += size, left -= size)
        count++;
    r->cursor.at += (uint64_t)(at - start);
    r->cursor.doubtful = UINT64_MAX;
    r->damage.quality.records += count;
    return count;
}

/* Stores the addresses of `some` samples; returns their length in bytes. */
static uint32_t collect_equal(const struct wanted_event *w, const uint8_t *at, uint32_t some, const uint8_t **records,
                              uint32_t *count) {
    const uint32_t size = RECORD_HEADER + w->length->fixed;
    for (uint32_t i = 0; i < some; i++)
        records[*count + i] = at + (uint64_t)i * size;
    *count += some;
    return some * size;
}

uint32_t walk_collect(pfr_reader *r, int32_t event, const uint8_t **records, uint32_t most, uint64_t *from) {
    const uint8_t *start, *at;
    uint64_t left;
    uint32_t size, some, count = 0;
    *from = r->cursor.at;
    if (!may_walk(r, event, &start, &left))
        return 0;
    const struct wanted_event w = wanted_of(r, event, 0);
    for (at = start; count < most; at += size, left -= size) {
        if (w.header && (some = equal_run(&w, at, left, most - count)) > 0)
            size = collect_equal(&w, at, some, records, &count);
        else if ((size = wanted_size(&w, at, left)) > 0)
            records[count++] = at;
        else if (!r->whole || (size = passed_size(&w, at, left)) == 0)
            break;
    }
    *from += count ? (uint64_t)(records[0] - start) : 0;
    walk_past(r, (uint64_t)(at - start), count);
    return count;
}

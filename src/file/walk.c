/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over headers: see walk.h. Everything but a plain sample of the event ends it; pfr_next does the rest. */
#include "file/walk.h"

#include "file/recording.h"

/* The id that samples of the event at hand carry; without one, every sample is the only event's. */
struct wanted {
    const struct length_rule *length;
    uint64_t id;
    uint32_t at; /* of the id in the record; 0: none */
    bool swap;
};

static inline bool is_wanted(const struct wanted *w, const uint8_t *record, uint32_t size) {
    if (load_u32(record, w->swap) != TYPE_SAMPLE || size < RECORD_HEADER + w->at)
        return false;
    return w->at == 0 || load_u64(record + w->at, w->swap) == w->id;
}

/* The size of the sample at `at`; 0: none that is wanted, or not whole. */
static inline uint32_t wanted_size(const struct wanted *w, const uint8_t *at, uint64_t left) {
    if (left < RECORD_HEADER)
        return 0;
    const uint16_t size = load_u16(at + 6, w->swap);
    if (size < RECORD_HEADER || size > left || !is_wanted(w, at, size))
        return 0;
    return length_holds(w->length, at + RECORD_HEADER, size - RECORD_HEADER, w->swap) ? size : 0;
}

/* Whether nothing is pending, so that what is at r->at in the window are records; *left bytes of them. */
static bool may_walk(const pfr_reader *r, int32_t event, uint64_t *left) {
    const struct part *p = &r->parts[r->part];
    const uint64_t skip = r->at - p->in.start;
    if (r->limits.records != UINT64_MAX)
        return false; /* pfr_next counts against it, record by record */
    if (r->compressed.length || r->payload_size || r->names_stale || r->ended || p->inflater.length > p->inflater.at)
        return false;
    if (skip > p->in.length || r->at >= p->end || (r->nr_events > 1 && (r->id_at == 0 || event != r->last_event)))
        return false;
    const uint64_t room = p->end - r->at;
    *left = p->in.length - skip < room ? p->in.length - skip : room;
    return true;
}

static struct wanted wanted_of(const pfr_reader *r, int32_t event) {
    return (struct wanted){&r->events[event].length, r->last_id, r->nr_events > 1 ? r->id_at : 0, r->context.swap};
}

static void step_over(pfr_reader *r, uint64_t bytes, uint64_t count) {
    r->at += bytes;
    r->doubtful = UINT64_MAX;
    r->quality.records += count;
    r->quality.samples += count;
}

static const uint8_t *in_window(const pfr_reader *r) {
    const struct input *in = &r->parts[r->part].in;
    return in->bytes + (r->at - in->start);
}

uint64_t walk_samples(pfr_reader *r, int32_t event, struct rounds *rounds) {
    uint64_t left, count = 0;
    uint32_t size;
    if (!may_walk(r, event, &left))
        return 0;
    const struct wanted w = wanted_of(r, event);
    const uint32_t time_at = rounds ? r->events[event].time_at : 0;
    const uint8_t *const start = in_window(r), *at = start;
    for (; (size = wanted_size(&w, at, left)) > 0; at += size, left -= size) {
        if (time_at) /* the length of the sample holds, so it has one */
            rounds_note(rounds, load_u64(at + time_at, w.swap));
        count++;
    }
    step_over(r, (uint64_t)(at - start), count);
    return count;
}

uint32_t walk_collect(pfr_reader *r, int32_t event, const uint8_t **records, uint32_t most, uint64_t *from) {
    uint64_t left;
    uint32_t size, count = 0;
    *from = r->at;
    if (!may_walk(r, event, &left))
        return 0;
    const struct wanted w = wanted_of(r, event);
    const uint8_t *const start = in_window(r), *at = start;
    for (; count < most && (size = wanted_size(&w, at, left)) > 0; at += size, left -= size)
        records[count++] = at;
    step_over(r, (uint64_t)(at - start), count);
    return count;
}

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

/* Bytes of the samples from `at` on; *count of them. */
static uint64_t walk(const struct wanted *w, const uint8_t *at, uint64_t left, uint64_t *count) {
    const uint8_t *const start = at;
    while (left >= RECORD_HEADER) {
        const uint16_t size = load_u16(at + 6, w->swap);
        if (size < RECORD_HEADER || size > left || !is_wanted(w, at, size) ||
            !length_holds(w->length, at + RECORD_HEADER, size - RECORD_HEADER, w->swap))
            break;
        at += size;
        left -= size;
        ++*count;
    }
    return (uint64_t)(at - start);
}

uint64_t walk_samples(pfr_reader *r, int32_t event) {
    const struct part *p = &r->parts[r->part];
    const uint64_t skip = r->at - p->in.start;
    uint64_t count = 0;
    if (r->limits.records != UINT64_MAX)
        return 0; /* pfr_next counts against it, record by record */
    if (r->compressed.length || r->payload_size || r->names_stale || r->ended || p->inflater.length > p->inflater.at)
        return 0;
    if (skip > p->in.length || r->at >= p->end || (r->nr_events > 1 && (r->id_at == 0 || event != r->last_event)))
        return 0;
    const struct wanted w = {&r->events[event].length, r->last_id, r->nr_events > 1 ? r->id_at : 0, r->context.swap};
    const uint64_t left = p->in.length - skip, room = p->end - r->at;
    r->at += walk(&w, p->in.bytes + skip, left < room ? left : room, &count);
    r->doubtful = UINT64_MAX;
    r->quality.records += count;
    r->quality.samples += count;
    return count;
}

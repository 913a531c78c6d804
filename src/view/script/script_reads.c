/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample with READ represents one sample of each counter in its list; all these samples have the address and time of
 * the recorded sample. The period of each sample is the increase of its counter since the counter's last value. A
 * counter that did not increase has no sample.
 */
#include "view/script/script_reads.h"
#include "view/script/script_loop.h"
#include "view/script/script_events.h"

#include "base/memory/fail.h"

#define READ_ID (1u << 2)
#define READ_GROUP (1u << 3)

static void print_counter(struct script *s, struct moment *m, uint64_t id, uint64_t value) {
    const struct script_event *event = script_event_of_id(s, id);
    uint64_t *before = event ? u64_map_at(&s->sequence.counts, id, 0, NULL) : NULL;
    if (!before) {
        if (event)
            script_fail(s, mem_fail(s->memory, s->err, "counters"));
        return;
    }
    m->period = value - *before;
    *before = value;
    m->event = event;
    if (m->period)
        script_deliver(s, m);
}

bool script_has_reads(const struct script_event *event) {
    return SAMPLE_HAS(event->sample_type, S_READ) && (event->event->attr.read_format & READ_ID);
}

void script_reads(struct script *s, struct moment *m) {
    const struct pfr_rec_read_value *read = &m->sample->read;
    const uint64_t format = m->event->event->attr.read_format;
    struct pfr_rec_read_entry entry;
    if (!(format & READ_GROUP)) {
        print_counter(s, m, read->id, read->value);
        return;
    }
    pfr_items_iter it = pfr_items_begin(&read->values);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        print_counter(s, m, entry.id, entry.value);
}

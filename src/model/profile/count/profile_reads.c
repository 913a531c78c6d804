/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting in order of time. A sample with READ represents one sample of every counter that it read, weighted by the
 * growth of that counter since it was last read. The result therefore depends on the order of samples, which may differ
 * in the file (a ring buffer written backwards, threads that moved between CPUs). So a single counter processes the
 * whole recording in order of time. Stitched call stacks (call_stitch.h) require the same.
 */
#include "model/profile/count/profile_reads.h"

#include "base/memory/sizes.h"

#define WAIT_SHARE 4u /* 1 / WAIT_SHARE of the counter's memory is for records that wait for earlier ones */

bool order_counts(const struct profile *p, const struct pick_places *places) {
    for (uint32_t i = 0; i < p->nr_events; i++)
        if (places[i].reads || places[i].stitches)
            return true;
    return false;
}

pfr_status order_begin(struct sample_counter *c, pfr_error *err) {
    const uint64_t share = c->memory->limit / WAIT_SHARE;
    if (!order_counts(c->profile, c->places))
        return PFR_OK;
    PFR_TRY(timeline_open_known(&c->timeline, c->reader, c->memory, &c->profile->state, err));
    if (share < SIZE_MOST_order_wait)
        timeline_wait_most(c->timeline, share);
    return PFR_OK;
}

void order_end(struct sample_counter *c) {
    timeline_close(c->timeline);
    c->timeline = NULL;
    u64_map_free(&c->before);
}

pfr_status order_next(struct sample_counter *c, pfr_record *rec, pfr_error *err) {
    struct timed_record one;
    size_t count;
    const pfr_status st = timeline_next(c->timeline, &one, 1, &count, err);
    if (st == PFR_OK)
        *rec = one.rec;
    return st;
}

pfr_status reads_grown(struct sample_counter *c, uint64_t id, uint64_t value, uint32_t *event, uint64_t *by,
                       pfr_error *err) {
    const int32_t owner = pfr_event_of_id(c->profile->reader, id);
    *by = 0;
    if (owner < 0 || (uint32_t)owner >= c->profile->nr_events)
        return PFR_OK;
    uint64_t *before = u64_map_at(&c->before, id, 0, NULL);
    if (!before)
        return mem_fail(c->memory, err, "counters");
    *event = (uint32_t)owner;
    *by = value - *before;
    *before = value;
    return PFR_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Saved positions of a trace: see xray_position.h. */
#include "file/xray/fdr_records.h"
#include "file/xray/xray_position.h"

void xray_place_of(const pfr_reader *r, struct xray_place *place) {
    const struct xray_trace *t = r->trace;
    *place = (struct xray_place){
        .at = r->cursor.at, .buffer = t->buffer, .call = t->call, .point = t->point, .reported = t->reported};
}

/* Replaces all bases by `base`: at this position, bases of other threads and later bases of the same thread do not
   apply. */
static pfr_status set_base(pfr_reader *r, const struct xray_base *base, pfr_error *err) {
    struct xray_trace *t = r->trace;
    if (t->version > 1)
        return PFR_OK;
    u64_map_free(&t->bases);
    u64_map_init(&t->bases, &r->memory);
    return base->known ? u64_map_put(&t->bases, (uint32_t)base->tid, base->tsc, err) : PFR_OK;
}

pfr_status xray_go(pfr_reader *r, const struct xray_place *place, pfr_error *err) {
    struct xray_trace *t = r->trace;
    r->cursor.at = place->at;
    r->cursor.ended = r->damage.broken_reported = false;
    t->buffer = place->buffer;
    t->call = place->call;
    t->point = place->point;
    t->reported = place->reported;
    return set_base(r, &place->base, err);
}

void xray_base_of(const pfr_reader *r, struct xray_base *base) {
    *base = (struct xray_base){.tid = r->trace->point.tid};
    base->known = fdr_kept_base(r, &base->tsc);
}

void xray_read_at_once(pfr_reader *r, size_t bytes) {
    input_set_chunk(&r->parts[0].in, bytes);
}

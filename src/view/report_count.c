/* SPDX-License-Identifier: Apache-2.0 */
/* Samples to leaves: the second pass over the recording. A leaf holds only what the sort keys ask for. */
#include "view/report_parts.h"

#include "base/fail.h"
#include "file/recording.h"

#include <inttypes.h>
#include <string.h>

#define SAMPLE_TIME (1u << 2)
#define SAMPLE_PERIOD (1u << 8)

void tally_init(struct tally *t, struct memory *memory) {
    *t = (struct tally){0};
    intern_init(&t->keys, memory);
}

void tally_free(struct tally *t) {
    struct memory *memory = t->keys.memory;
    mem_free(memory, t->counts, t->room, sizeof *t->counts);
    intern_free(&t->keys);
}

pfr_status tally_add(struct tally *t, const void *key, size_t size, struct count more, pfr_error *err) {
    uint32_t id;
    const uint32_t before = t->keys.count;
    PFR_TRY(intern_put(&t->keys, key, size, &id, err));
    if (id == before) {
        if (id >= t->room) {
            void *counts = mem_grow(t->keys.memory, t->counts, id, &t->room, 256, sizeof *t->counts);
            if (!counts)
                return mem_fail(t->keys.memory, err, "report");
            t->counts = counts;
        }
        t->counts[id] = (struct count){0, 0};
    }
    t->counts[id].weight += more.weight;
    t->counts[id].samples += more.samples;
    return PFR_OK;
}

static pfr_status count_sample(struct report *r, const pfr_record *rec, const struct pfr_rec_sample *s,
                               pfr_error *err) {
    const struct pfr_rec_attr *attr = &pfr_get_event(r->reader, (uint32_t)rec->event)->attr;
    const struct key key = state_key(&r->state, rec, attr->sample_type & SAMPLE_TIME ? s->time : UINT64_MAX - 1);
    const struct count one = {attr->sample_type & SAMPLE_PERIOD ? s->period : attr->sample_period, 1};
    struct leaf leaf = {.event = (uint32_t)rec->event, .object = NO_OBJECT};
    if (r->wants[KEY_COMM])
        PFR_TRY(state_comm(&r->state, s->tid, key, &leaf.comm, err));
    if (r->wants[KEY_DSO] || r->wants[KEY_SYM]) {
        struct place place;
        state_place(&r->state, rec, s->pid, s->tid, s->ip, key, &place);
        leaf.object = place.object;
        r->too_deep += place.too_deep;
        leaf.offset = r->wants[KEY_SYM] ? place.offset : 0;
    }
    leaf.pid = r->wants[KEY_PID] ? s->pid : 0;
    leaf.tid = r->wants[KEY_TID] ? s->tid : 0;
    r->totals[rec->event].weight += one.weight;
    r->totals[rec->event].samples++;
    return tally_add(&r->leaves, &leaf, sizeof leaf, one, err);
}

static void tell_hole(struct report *r, const pfr_error *hole) {
    r->lossy = true;
    if (r->options->hole)
        r->options->hole(r->options->context, hole);
}

/* What was not looked for may be there: said as a hole of the report, though every byte was read. */
static void tell_depth(struct report *r) {
    pfr_error why;
    if (r->too_deep == 0)
        return;
    pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "depth",
             "%" PRIu64 " sample%s unknown: of processes forked more than %" PRIu32 " deep (limit depth)", r->too_deep,
             r->too_deep == 1 ? " is" : "s are", r->reader->limits.depth);
    tell_hole(r, &why);
}

pfr_status report_count(struct report *r, pfr_error *err) {
    pfr_error own, *e = err ? err : &own;
    struct pfr_rec_sample sample;
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(r->reader, &rec, e)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE) {
            tell_hole(r, e);
            continue;
        }
        if (rec.type != TYPE_SAMPLE)
            continue;
        if (pfr_decode(&rec, &sample, sizeof sample, e) != PFR_OK)
            tell_hole(r, e);
        else
            PFR_TRY(count_sample(r, &rec, &sample, e));
    }
    tell_depth(r);
    return st < 0 ? st : PFR_OK;
}

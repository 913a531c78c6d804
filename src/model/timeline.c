/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the order of time: see timeline.h. */
#include "model/timeline.h"

#include "base/fail.h"

struct timeline {
    struct memory *memory;
    pfr_reader *reader;
    struct state state;
};

pfr_status timeline_open(struct timeline **out, pfr_reader *reader, struct memory *memory, pfr_error *err) {
    struct timeline *t = mem_alloc(memory, 1, sizeof *t);
    *out = NULL;
    if (!t)
        return mem_fail(memory, err, "timeline");
    *t = (struct timeline){.memory = memory, .reader = reader};
    pfr_status st = state_build(&t->state, reader, memory, err);
    if (st >= 0)
        st = pfr_rewind(reader, err);
    if (st < 0)
        timeline_close(t);
    else
        *out = t;
    return st;
}

void timeline_close(struct timeline *t) {
    if (!t)
        return;
    state_free(&t->state);
    mem_free(t->memory, t, 1, sizeof *t);
}

pfr_status timeline_next(struct timeline *t, pfr_record *rec, struct key *key, pfr_error *err) {
    struct pfr_rec_sample sample;
    struct pfr_rec_sample_id id;
    uint64_t time = 0;
    const pfr_status st = pfr_next(t->reader, rec, err);
    if (st != PFR_OK)
        return st;
    if (rec->type == 9 && pfr_decode(rec, &sample, sizeof sample, NULL) == PFR_OK)
        time = sample.time;
    else if (pfr_decode_id(rec, &id, NULL) == PFR_OK)
        time = id.time;
    *key = state_key(&t->state, rec, time);
    return PFR_OK;
}

struct state *timeline_state(struct timeline *t) {
    return &t->state;
}

uint64_t timeline_late(const struct timeline *t) {
    (void)t;
    return 0;
}

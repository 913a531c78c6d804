/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_CHANGE_H
#define PFR_MODEL_STATE_CHANGE_H
/* What one record says of the state (state_records.c), and changes on their way into it (state_queue.h). */
#include "model/state/state.h"

struct state_change;
typedef pfr_status apply_fn(struct state *state, const struct state_change *c, pfr_error *err);

/* Small: texts are interned at once. */
struct state_change {
    struct record_key key;
    apply_fn *apply; /* NULL: it says nothing that has its time */
    uint32_t pid, tid, ppid, ptid;
    uint64_t start, length, pgoff;
    uint32_t value; /* name or object */
    uint16_t misc;
    bool dump; /* a map that says where a jitdump is */
};

/* What has no time is done at once. */
pfr_status state_describe(struct state *state, const pfr_record *rec, struct state_change *change, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_CHANGE_H
#define PFR_MODEL_STATE_CHANGE_H
/* State changes: made from records by state_records.c, applied in order by state_queue.h. */
#include "model/state/state.h"

struct state_change;
typedef pfr_status apply_fn(struct state *state, const struct state_change *c, pfr_error *err);

/* Kept small: texts are interned immediately. */
struct state_change {
    struct record_key key;
    apply_fn *apply; /* NULL: the record changes nothing at its time */
    uint32_t pid, tid, ppid, ptid;
    uint64_t start, length, pgoff;
    uint32_t value; /* id of a name, or number of an object */
    uint16_t misc;
    bool dump; /* the record is the map of a jitdump */
};

/* Fills *change from a record. Effects that do not depend on time are applied immediately. */
pfr_status state_describe(struct state *state, const pfr_record *rec, struct state_change *change, pfr_error *err);

#endif

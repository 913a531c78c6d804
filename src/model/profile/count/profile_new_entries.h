/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_NEW_ENTRIES_H
#define PFR_MODEL_PROFILE_NEW_ENTRIES_H
/* Samples that no entry is known for: see profile_new_entries.c. */
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_entry_key.h"

/* Of a batch. */
struct waiting {
    struct sample_item *items[BATCH];
    unsigned count;
};

static inline uint64_t counter_weight_of(const struct sample_counter *c, const struct picked *s) {
    return c->profile->request.counted == PROFILE_BRANCHES ? 1 : s->period;
}

/* false: there is none, or it does not hold for the sample, which is to be looked up alone. */
static inline bool count_in_entry(const struct sample_counter *c, struct sample_item *item, uint64_t slot) {
    if (!slot)
        return false;
    struct entry_count *count = entry_count_of(c, entry_words(c, (uint32_t)slot - 1));
    item->alone = item->moment <= count->since;
    if (item->alone)
        return false;
    entry_add(c, count, counter_weight_of(c, &item->picked));
    item->node = count->node;
    return true;
}

/* Makes rows of as many as there is room for; after that they can be placed. */
pfr_status new_entries_add(struct sample_counter *c, struct waiting *w, pfr_error *err);
/* Gives the rows that were added their nodes, and counts their samples; those that another lane got in the way of wait
   on. */
pfr_status new_entries_place(struct sample_counter *c, struct waiting *w, pfr_error *err);

/* What there is no memory for is counted as that; what is there already goes on being counted. Another reason than the
   limit is returned. */
pfr_status counter_meet_limit(struct sample_counter *c, struct sample_item *item, pfr_status why);

#endif

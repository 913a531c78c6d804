/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_NEW_ENTRIES_H
#define PFR_MODEL_PROFILE_NEW_ENTRIES_H
/* Samples without a known entry: see profile_new_entries.c. */
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_entry_key.h"

/* Samples of a batch that wait for their entry. */
struct waiting {
    struct sample_item *items[BATCH];
    unsigned count;
};

static inline uint64_t counter_weight_of(const struct sample_counter *c, const struct picked *s) {
    return c->profile->request.counted == PROFILE_BRANCHES ? 1 : s->period;
}

/* false: there is no entry, or the sample is not later than the maps of the entry and must be resolved individually. */
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

/* Adds rows for as many waiting samples as fit; new_entries_place can then place them. */
pfr_status new_entries_add(struct sample_counter *c, struct waiting *w, pfr_error *err);
/* Assigns nodes to the rows added, and counts their samples. Samples whose entry another worker was adding keep
   waiting. */
pfr_status new_entries_place(struct sample_counter *c, struct waiting *w, pfr_error *err);

/* Counts a sample in the row [limit] because there is no memory for its own row. If `why` is not PFR_ERR_LIMIT, counts
   nothing and returns it. */
pfr_status counter_meet_limit(struct sample_counter *c, struct sample_item *item, pfr_status why);

#endif

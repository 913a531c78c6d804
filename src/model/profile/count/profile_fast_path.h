/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_FAST_PATH_H
#define PFR_MODEL_PROFILE_FAST_PATH_H
/* Interface of profile_fast_path.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

void plain_free(struct sample_counter *c);

/* Counts an item whose words and hash are set. Returns false if the item needs a general entry, or on failure (then
 *status < 0: no memory). */
bool plain_take(struct sample_counter *c, const struct sample_item *item, uint64_t weight, pfr_status *status,
                pfr_error *err);

/* Moves the entries of `from` to `to`; word_of converts the first word of each entry. Entries that do not fit into `to`
   remain in `from`. */
pfr_status plain_join(struct sample_counter *to, struct sample_counter *from,
                      uint64_t (*word_of)(const void *context, uint64_t word), const void *context, pfr_error *err);

/* Samples of one event in the read buffer. */
struct plain_run {
    const uint8_t *const *at;
    uint32_t count; /* at most BATCH */
    uint32_t event;
    uint64_t place; /* place (part << 48 | offset) of the first sample, as in the key of that sample */
};

/* Indexes of the samples that were not counted. */
struct plain_left {
    uint8_t at[BATCH + 1];
    unsigned count;
};

/* Whether samples of the event may be counted by runs. */
bool plain_may(const struct sample_counter *c, uint32_t event);

/* Counts the samples of the run that the fast path can handle: those of threads that were seen recently. */
pfr_status plain_count(struct sample_counter *c, const struct plain_run *run, struct plain_left *left, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRY_KEY_H
#define PFR_MODEL_PROFILE_ENTRY_KEY_H
/* Makes the key of a sample's entry. */
#include "model/profile/count/profile_parts.h"

/* Sets words, hash and timestamp key (`moment`) of item->picked. */
pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err);

/* Place of two words in the cache of digests. Collisions only cost time, so one multiplication suffices. */
static inline struct digest_memo *digest_memo_of(const struct sample_counter *c, const uint64_t *words) {
    return &c->digests[(words[0] ^ words[1] ^ words[0] >> WHO_BITS) * 0x9e3779b97f4a7c15u >> 32 & (DIGESTS - 1)];
}

/* Call it for a sample that is left out: keeps the data that later samples need for stitching. */
pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err);

#endif

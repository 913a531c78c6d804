/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRY_KEY_H
#define PFR_MODEL_PROFILE_ENTRY_KEY_H
/* Makes the key of a sample's entry. */
#include "model/profile/count/profile_parts.h"

/* Sets words, hash and timestamp key (`moment`) of item->picked. */
pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err);

/* Counts a sample without a chain if the cache of digests has its entry, without its digest: most samples of flat events
   are equal to one of few earlier samples. false: call words_make. */
bool words_take_known(struct sample_counter *c, struct sample_item *item, uint64_t weight);
/* Notes the entry of a counted sample for words_take_known. */
void words_note_entry(struct sample_counter *c, const struct sample_item *item);

/* Call it for a sample that is left out: keeps the data that later samples need for stitching. */
pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err);

#endif

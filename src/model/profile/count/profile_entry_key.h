/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRY_KEY_H
#define PFR_MODEL_PROFILE_ENTRY_KEY_H
/* Makes the key of a sample's entry. */
#include "model/profile/count/profile_parts.h"

/* Sets words, hash and timestamp key (`moment`) of item->picked. */
pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err);

/* Call it for a sample that is left out: keeps the data that later samples need for stitching. */
pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRY_KEY_H
#define PFR_MODEL_PROFILE_ENTRY_KEY_H
/* What other files use of profile_entry_key.c, which says how it works. */
#include "model/profile/count/profile_parts.h"

/* The words, hash and moment of item->picked. */
pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err);

/* A sample that is left out: what those behind it are stitched with. */
pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err);

#endif

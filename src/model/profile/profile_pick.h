/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PICK_H
#define PFR_MODEL_PROFILE_PICK_H
/* What other files use of profile_pick.c, which says how it works. */
#include "model/profile/profile_parts.h"

void pick_learn(struct pick_places *places, const pfr_reader *reader, uint32_t event,
                const struct profile_request *request);
void pick_decoded(const struct pick_places *places, const struct pfr_rec_sample *sample, struct picked *out);

/* The number of a key; those that are texts or places still are what was recorded. */
uint64_t pick_value(const struct profile_request *request, const struct pick_places *places,
                    const struct picked *picked, enum profile_key key);

#endif

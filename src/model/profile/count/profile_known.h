/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_KNOWN_H
#define PFR_MODEL_PROFILE_KNOWN_H
/* Samples without a call chain that are equal to earlier ones: see profile_known.c. */
#include "model/profile/count/profile_parts.h"

/* Whether known_take may count samples of this counter; call it when the counter is initialised. */
bool known_may(const struct sample_counter *c);

/* Counts a sample at fixed offsets whose entry is known, and fills its row; false: it must be counted otherwise. */
bool known_take(struct sample_counter *c, uint32_t event, const uint8_t *bytes, uint64_t place, uint64_t inner,
                struct profile_row *row);

/* Notes the entry of a counted sample for known_take. */
void known_note(struct sample_counter *c, const struct sample_item *item);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_NAMES_H
#define PFR_MODEL_PROFILE_NAMES_H
/* Interface of profile_names.c, which describes how it works. */
#include "model/profile/result/profile_frames.h"

/* Whether the name of the place can be looked up later, because it depends only on the object and the offset in it. */
bool profile_names_may_wait(const struct profile *p, const struct place *place);

/* Call it when everything is counted: finds the names that were deferred. */
pfr_status profile_names_find(struct profile *p, pfr_error *err);

/* Adds the text of a name to the texts, and returns its number. */
pfr_status profile_names_put(struct intern_table *texts, const struct address_name *name, uint32_t *text,
                             pfr_error *err);

#endif

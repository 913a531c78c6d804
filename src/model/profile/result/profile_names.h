/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_NAMES_H
#define PFR_MODEL_PROFILE_NAMES_H
/* Interface of profile_names.c, which describes how it works. */
#include "model/profile/result/profile_frames.h"

/* Names are asked by what the object is and where in it, not by the moment, so that they can wait. */
bool profile_names_may_wait(const struct profile *p, const struct place *place);

/* Those that waited, when all is counted. */
pfr_status profile_names_find(struct profile *p, pfr_error *err);

/* The text of a name, and its number. */
pfr_status profile_names_put(struct intern_table *texts, const struct address_name *name, uint32_t *text,
                             pfr_error *err);

#endif

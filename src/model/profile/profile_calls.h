/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_CALLS_H
#define PFR_MODEL_PROFILE_CALLS_H
/* The part of profile_load that is specific to traces. */
#include "model/profile/result/profile.h"

/* Fills the profile, whose request and texts must be initialised. < 0: *err. */
pfr_status profile_load_calls(struct profile *p, pfr_error *err);

#endif

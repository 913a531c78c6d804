/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_CALLS_H
#define PFR_MODEL_PROFILE_CALLS_H
/* The step of profile_load that is another one for traces. */
#include "model/profile/result/profile.h"

/* Fills the profile, whose wish and texts are there. < 0: *err. */
pfr_status profile_load_calls(struct profile *p, pfr_error *err);

#endif

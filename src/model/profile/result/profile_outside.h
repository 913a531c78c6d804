/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_OUTSIDE_H
#define PFR_MODEL_PROFILE_OUTSIDE_H
#include "model/profile/result/profile.h"

/* Reports the number of samples with return addresses outside of any mapping, if there are many. */
void profile_outside_note(const struct profile *p);

#endif

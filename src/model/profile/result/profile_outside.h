/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_OUTSIDE_H
#define PFR_MODEL_PROFILE_OUTSIDE_H
#include "model/profile/result/profile.h"

/* Notes how many samples have return addresses outside any mapping, where many do. */
void profile_outside_note(const struct profile *p);

#endif

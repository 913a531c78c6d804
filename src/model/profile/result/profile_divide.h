/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_DIVIDE_H
#define PFR_MODEL_PROFILE_DIVIDE_H
/* Interface of profile_divide.c, which describes how it works. */
#include "model/profile/result/profile.h"

/* Only for a profile that has the key PROFILE_PARALLELISM and whose weights are in nodes (not PROFILE_STACKS or
   PROFILE_SUMS). < 0: out of memory, and nothing has changed. */
pfr_status profile_divide(struct profile *p, pfr_error *err);

#endif

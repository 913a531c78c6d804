/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_LINES_H
#define PFR_MODEL_PROFILE_LINES_H
/* Interface of profile_lines.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* Call it when everything is counted: adds lines and inlined functions to frames. */
pfr_status profile_learn_lines(struct profile *p, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_LINES_H
#define PFR_MODEL_PROFILE_LINES_H
/* Interface of profile_lines.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

/* Gives frames their lines and inlined functions, after all is counted. */
pfr_status profile_learn_lines(struct profile *p, pfr_error *err);

#endif

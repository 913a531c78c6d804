/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_NAMES_H
#define PFR_MODEL_DIFF_NAMES_H
/* What other files use of diff_names.c, which says how it works. */
#include "model/diff/diff_parts.h"

/* A function's name without what compilers add to clones and what Rust adds as a hash. At most `room`, with NUL.
   Returns the length. */
size_t diff_plain_name(const char *name, char *to, size_t room);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_NAMES_H
#define PFR_MODEL_DIFF_NAMES_H
/* Interface of diff_names.c, which describes how it works. */
#include "model/diff/diff_parts.h"

/* Writes a function's name without suffixes of compiler clones and without Rust hashes to `to`: at most `room` bytes,
   NUL-terminated. Returns the length. */
size_t diff_plain_name(const char *name, char *to, size_t room);

#endif

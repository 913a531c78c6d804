/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LLVM_YAML_H
#define PFR_VIEW_LLVM_YAML_H
/* Writes scalars as LLVM's YAML writer does: plain if they cannot be mistaken for another type, else in quotes. */
#include "base/io/output.h"

#include <stdbool.h>

/* `raw`: characters that could control a terminal are written as LLVM does; otherwise they are escaped. In double
   quotes, bytes are escaped up to the first one that is not UTF-8; U+FFFD replaces that byte and the rest. Returns
   false in that case. */
bool out_llvm_scalar(struct output *out, const void *bytes, size_t length, bool raw);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LLVM_YAML_H
#define PFR_VIEW_LLVM_YAML_H
/* Scalars as LLVM's YAML writer puts them: plain where they cannot be taken for something else, else in quotes. */
#include "base/io/output.h"

#include <stdbool.h>

/* `raw`: what could steer a terminal is written as LLVM does, and not escaped. In double quotes bytes are escaped, up
   to the first that is not UTF-8: U+FFFD represents that one and what follows. false: that is what happened. */
bool out_llvm_scalar(struct output *out, const void *bytes, size_t length, bool raw);

#endif

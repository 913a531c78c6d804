/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_SYMBOLS_H
#define PERFRAY_FUZZ_SYMBOLS_H
/* What the targets of the symbol sources share: an object opened, asked for addresses, closed. */
#include "fuzz.h"
#include "symbol/table/symbol_source.h"

/* Opens the object and asks for the names at `addresses`; all that is found must hold what symbol_source.h says. */
void fuzz_symbols(const struct symbol_source *source, const struct symbol_object *object, const uint64_t *addresses,
                  size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_SYMBOLS_H
#define PERFRAY_FUZZ_SYMBOLS_H
/* Shared by the targets of symbol sources: opens an object, looks up addresses, closes the object. */
#include "fuzz.h"
#include "symbol/table/symbol_source.h"

/* Opens the object and looks up `addresses`; all results must obey the contract of symbol_source.h. */
void fuzz_symbols(const struct symbol_source *source, const struct symbol_object *object, const uint64_t *addresses,
                  size_t count);

#endif

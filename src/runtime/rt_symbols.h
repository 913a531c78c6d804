/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SYMBOLS_H
#define PFR_RUNTIME_RT_SYMBOLS_H
/* Symbols of an object's file: see rt_symbols.c. */
#include "runtime/rt_recorder.h"

/* --- rt_symbols.c */
struct rt_symbols;

/* Never returns NULL; the result for a file that cannot be read has no symbols. */
const struct rt_symbols *rt_symbols_open(const char *path);
void rt_symbols_close(const struct rt_symbols *symbols);

/* Returns the name of the function that begins at this address of the object, or NULL. */
const char *rt_symbols_name(const struct rt_symbols *symbols, uint64_t address);

#endif

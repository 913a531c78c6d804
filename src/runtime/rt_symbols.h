/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SYMBOLS_H
#define PFR_RUNTIME_RT_SYMBOLS_H
/* What other files use of rt_symbols.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* --- rt_symbols.c */
struct rt_symbols;

/* Never NULL; what cannot be read has none. */
const struct rt_symbols *rt_symbols_open(const char *path);
void rt_symbols_close(const struct rt_symbols *symbols);

/* Of a function that begins there in the object; NULL: it has none. */
const char *rt_symbols_name(const struct rt_symbols *symbols, uint64_t address);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_FUNCTIONS_H
#define PFR_RUNTIME_RT_FUNCTIONS_H
/* What other files use of rt_functions.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* The word of a function. */
uint32_t rt_find_slow(uint64_t address);

/* The same of a scope with a name. */
uint32_t rt_scope_word(const void *scope, const char *name);

/* What lay there has no id any more: its object is gone. */
void rt_forget_range(uint64_t start, uint64_t end);
bool rt_functions_prepare(void);

RT_PLAIN static inline uint32_t rt_find(uint64_t address) {
    const struct rt_entry *e = &rt.table[rt_hash(address)];
    if (RT_LIKELY(e->address == address && e->word != 0))
        return e->word;
    return rt_find_slow(address);
}

#endif

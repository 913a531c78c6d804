/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_FUNCTIONS_H
#define PFR_RUNTIME_RT_FUNCTIONS_H
/* Addresses to ids: see rt_functions.c. */
#include "runtime/rt_recorder.h"

/* Returns the word of a function: id and filter flags. RT_LOST: the caller counts the call as lost. */
uint32_t rt_find_slow(uint64_t address);

/* Returns the word of a scope. `name` identifies the scope in the trace. */
uint32_t rt_scope_word(const void *scope, const char *name);

/* Forgets the addresses of an unloaded object, because another object may be loaded there. */
void rt_forget_range(uint64_t start, uint64_t end);
bool rt_functions_prepare(void);

RT_PLAIN static inline uint32_t rt_find(uint64_t address) {
    const struct rt_entry *e = &rt.table[rt_hash(address)];
    if (RT_LIKELY(e->address == address && e->word != 0))
        return e->word;
    return rt_find_slow(address);
}

#endif

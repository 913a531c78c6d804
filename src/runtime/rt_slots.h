/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SLOTS_H
#define PFR_RUNTIME_RT_SLOTS_H
/* What other files use of rt_slots.c, which says how it works. */
#include "runtime/rt_recorder.h"

uint8_t *rt_slot_at(uint32_t slot);

/* A slot of nothing but zeros, its number in *slot; NULL: there is none, which is counted. Its first *ready bytes may
   be stored to, at least as many as are needed. */
uint8_t *rt_pool_take(uint32_t *slot, uint64_t need, uint64_t *ready);

/* One that a thread left with room in it, or a process that is gone; what is behind the part in use has to be widened.
 */
uint8_t *rt_pool_take_spare(uint32_t *slot, uint64_t *used);

/* Sees to it that bytes of the slot may be stored to from `from` to `end` at least; where that ends, 0: there is no
 * room. */
uint64_t rt_pool_widen(uint32_t slot, uint64_t from, uint64_t end);
void rt_pool_release(uint32_t slot, uint64_t used);

/* Releases what the process owned before it joined the trace. */
void rt_pool_inherit(void);

#endif

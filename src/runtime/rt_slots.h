/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_SLOTS_H
#define PFR_RUNTIME_RT_SLOTS_H
/* Slots of the trace: see rt_slots.c. */
#include "runtime/rt_recorder.h"

uint8_t *rt_slot_at(uint32_t slot);

/* Takes a zeroed slot and sets *slot to its number. The first *ready bytes of the slot, at least `need`, are writable.
 * NULL: no slot is free; the loss is counted. */
uint8_t *rt_pool_take(uint32_t *slot, uint64_t need, uint64_t *ready);

/* Takes a slot in which an earlier thread or an ended process left room after *used bytes; the caller must widen it.
 * NULL: there is no such slot. */
uint8_t *rt_pool_take_spare(uint32_t *slot, uint64_t *used);

/* Makes the bytes of the slot from `from` to at least `end` writable. Returns the end of the writable part; 0: there is
 * no disk space, and recording has ended. */
uint64_t rt_pool_widen(uint32_t slot, uint64_t from, uint64_t end);
void rt_pool_release(uint32_t slot, uint64_t used);

/* Releases the slots that the process owned before it joined the trace. */
void rt_pool_inherit(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_POOL_H
#define PFR_RUNTIME_RT_POOL_H
/* What other files use of rt_pool.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* Makes the trace that the options name, or joins it where its leader lives. NULL: done; else why not. */
const char *rt_pool_open(void);

/* Writes BufferExtents to NewCPUId; the buffer has these alone. */
void rt_preamble(uint8_t *buffer, uint32_t tid, uint16_t cpu, uint64_t tsc, uint64_t now_ns);

/* 16 bytes of zeros but for the first, which is of this kind; where the payload begins. */
uint8_t *rt_metadata(uint8_t *at, unsigned kind);
void rt_read_pair(struct rt_pair *pair, unsigned readings);

/* CLOCK_MONOTONIC at a tick not long before the pair. */
uint64_t rt_ns_at(const struct rt_pair *pair, uint64_t tsc);

/* The rate of ticks since the trace was begun. */
void rt_measure(const struct rt_pair *now);
void rt_measure_now(void);
uint64_t rt_clock(void);
void rt_lose(enum rtf_loss why);
void rt_say(const char *what, const char *why);

/* The trace is still the one that was made or joined; false: the recording has ended for that. */
bool rt_pool_is_ours(void);

#endif

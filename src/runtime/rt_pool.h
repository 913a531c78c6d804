/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_POOL_H
#define PFR_RUNTIME_RT_POOL_H
/* The trace file of this process: see rt_pool.c. */
#include "runtime/rt_recorder.h"

/* Creates the trace that the options name, or joins an existing trace if its leader is alive. Returns NULL, or the
 * reason why it failed. */
const char *rt_pool_open(void);

/* Writes the records from BufferExtents to NewCPUId. The extents include only these records. */
void rt_preamble(uint8_t *buffer, uint32_t tid, uint16_t cpu, uint64_t tsc, uint64_t now_ns);

/* Writes 16 zero bytes, then the kind into the first; returns the address of the payload. */
uint8_t *rt_metadata(uint8_t *at, unsigned kind);
void rt_read_pair(struct rt_pair *pair, unsigned readings);

/* The CLOCK_MONOTONIC time of a tick shortly before the pair. */
uint64_t rt_ns_at(const struct rt_pair *pair, uint64_t tsc);

/* Stores the tick rate, measured over the time since the trace began. */
void rt_measure(const struct rt_pair *now);
void rt_measure_now(void);
uint64_t rt_clock(void);
void rt_lose(enum rtf_loss why);
void rt_say(const char *what, const char *why);

/* Whether the file is still the one that was created or joined. If it was overwritten, ends recording and returns
   false. */
bool rt_pool_is_ours(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_BUFFER_H
#define PFR_RUNTIME_RT_BUFFER_H
/* Buffers, filters and events of the recorder: see rt_buffer.c. Callers own the thread's buffer (rt_begin) except where
 * stated. */
#include "runtime/rt_recorder.h"

/* Writes the 16 bytes before an event's data, in the format of the trace's version; type < 0: a custom event. */
void rt_event_head(uint8_t *at, int type, uint32_t size, uint64_t tsc, uint64_t last, uint16_t cpu);

/* Makes room for a record and `more` bytes of payload. If the CPU has changed or the delta would be too large, first
 * writes a CPU or time record. Returns false if there is no room or recording is off. A full trace and an oversized
 * record are counted as losses. */
bool rt_step(struct rt_thread *t, uint64_t tsc, uint64_t more);

/* Called by hooks, without owning the buffer, if recording is off or has filters, or if this is a forked child that has
 * not called rt_revive yet. */
void rt_call_unusual(uint64_t address, unsigned action);

/* Records a call if the filters select it, and updates the counts of the filters. */
void rt_call_filtered(struct rt_thread *t, uint32_t word, unsigned action, uint64_t tsc);

/* Called by the hook of `own`. Returns true if the frame of `mark` is certainly dead (its hook was left by siglongjmp,
 * or its context was dropped). If the result is false, the owner may continue later, and the call of this hook is
 * counted as lost. */
bool rt_abandoned(const volatile struct rt_mark *mark, const volatile struct rt_mark *own);

/* Records an enter with its first argument. */
void rt_call_argument(struct rt_thread *t, uint32_t word, uint64_t argument, uint64_t tsc);
void rt_event(struct rt_thread *t, const void *bytes, uint32_t size, int type, uint64_t tsc);

/* Gives the thread's buffer back to the pool. */
void rt_leave(struct rt_thread *t);

#endif

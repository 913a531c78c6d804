/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_BUFFER_H
#define PFR_RUNTIME_RT_BUFFER_H
/* What other files use of rt_buffer.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* 16 bytes in front of an event's own, as the version of the trace wants them; type < 0: a custom event. */
void rt_event_head(uint8_t *at, int type, uint32_t size, uint64_t tsc, uint64_t last, uint16_t cpu);

/* Makes room for a record and `more` bytes of payload behind it, and time to count from. false: there is none. */
bool rt_step(struct rt_thread *t, uint64_t tsc, uint64_t more);

/* A call while calls are not recorded, or with filters; or they are recorded, but this is a child that does not know it
   yet. */
void rt_call_unusual(uint64_t address, unsigned action);

/* What of it is left to do where there are filters. */
void rt_call_filtered(struct rt_thread *t, uint32_t word, unsigned action, uint64_t tsc);

/* Whether the frame of `mark` is certainly dead (the hook was left by siglongjmp, or its context dropped), seen from
   the hook of `own`. false: the owner may continue later; the call is counted as lost. */
bool rt_abandoned(const volatile struct rt_mark *mark, const volatile struct rt_mark *own);

/* An enter with its first argument. */
void rt_call_argument(struct rt_thread *t, uint32_t word, uint64_t argument, uint64_t tsc);
void rt_event(struct rt_thread *t, const void *bytes, uint32_t size, int type, uint64_t tsc);

/* Hands the thread's buffer back. */
void rt_leave(struct rt_thread *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RING_COPY_H
#define PFR_RECORD_RING_COPY_H
/* Bytes of ring buffers: see ring_copy.c. */
#include "record/rings/recorder_parts.h"

const uint8_t *ring_data(const struct ring *ring);

/* Copies bytes from the ring, which may wrap around. */
void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RING_COPY_H
#define PFR_RECORD_RING_COPY_H
/* What other files use of ring_copy.c, which says how it works. */
#include "record/rings/recorder_parts.h"

const uint8_t *ring_data(const struct ring *ring);

/* Bytes out of the ring, which may go on at its start. */
void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length);

#endif

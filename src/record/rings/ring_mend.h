/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RING_MEND_H
#define PFR_RECORD_RING_MEND_H
/* Finds the first overlong record in a range of a ring (see ring_mend.c). Returns the number of bytes before it, the
 * size in its header and its real size; size 0: the range contains no such record. */
#include "record/rings/recorder_parts.h"

struct overlong {
    uint64_t before;
    uint32_t size, real;
};

struct overlong ring_find_overlong(const pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length);

#endif

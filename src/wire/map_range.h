/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_MAP_RANGE_H
#define PFR_WIRE_MAP_RANGE_H
/* The address range of a map. verify reports an error for one that exceeds the address space, and recover leaves it
   out. */
#include <stdbool.h>
#include <stdint.h>

static inline bool range_wraps(uint64_t addr, uint64_t length) {
    return length > 0 && addr > UINT64_MAX - (length - 1);
}

#endif

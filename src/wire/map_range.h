/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_MAP_RANGE_H
#define PFR_WIRE_MAP_RANGE_H
/* The address range of a map. If a map exceeds the address space, verify reports an error, and recover leaves out the
   map. */
#include <stdbool.h>
#include <stdint.h>

static inline bool range_wraps(uint64_t addr, uint64_t length) {
    return length > 0 && addr > UINT64_MAX - (length - 1);
}

#endif

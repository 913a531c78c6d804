/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_FDR_FOLLOW_H
#define PFR_WIRE_FDR_FOLLOW_H
/* fdr_follow.def as bits: the records that may follow a record in a flight recorder buffer. */
#include <stdint.h>

#define FDR_VERSIONS 5u

/* Records by their value in TABLE_TRACE_RECORD; FDR_BEGIN is the start of a buffer. */
enum { FDR_BEGIN = 17, FDR_STATES };

/* One bit per record (1 << value) that may come next; 0 for records that no version has. */
uint32_t fdr_may_follow(unsigned version, unsigned after);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_FDR_FOLLOW_H
#define PFR_WIRE_FDR_FOLLOW_H
/* fdr_follow.def as bits: what may follow a record in a buffer of the flight recorder. */
#include <stdint.h>

#define FDR_VERSIONS 5u

/* Records by their value in TABLE_TRACE_RECORD; FDR_BEGIN is the begin of a buffer. */
enum { FDR_BEGIN = 17, FDR_STATES };

/* A bit for each record (1 << value) that may come next; 0 for what no version knows. */
uint32_t fdr_may_follow(unsigned version, unsigned after);

#endif

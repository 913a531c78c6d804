/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_CHUNK_H
#define PFR_MODEL_CALLS_CHUNK_H
/* Reads a trace in file order, without an index of its buffers. */
#include "model/calls/calls_parts.h"

/* Reads the whole trace. PFR_END: an index is needed; PFR_HOLE: the trace is damaged, or may be. In both cases nothing
   was reported to the sink. */
pfr_status calls_chunks_run(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                            pfr_error *err);

#endif

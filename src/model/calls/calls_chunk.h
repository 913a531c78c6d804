/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_CHUNK_H
#define PFR_MODEL_CALLS_CHUNK_H
/* What other files use of calls_chunk.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* The whole trace without an index. PFR_END: it has to be done with one; PFR_HOLE: something is wrong with it, or may
   be. Nothing is said of it then. */
pfr_status calls_chunks_run(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                            pfr_error *err);

#endif

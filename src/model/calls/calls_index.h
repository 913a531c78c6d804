/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_INDEX_H
#define PFR_MODEL_CALLS_INDEX_H
/* What other files use of calls_index.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* The number of a thread in a table of them. */
pfr_status calls_thread_number(struct intern_table *threads, const struct calls_thread *thread, uint32_t *number,
                               pfr_error *err);
void calls_index_init(struct calls_index *x, struct memory *memory);
void calls_index_free(struct calls_index *x);

/* PFR_HOLE: something is wrong with the trace, or may be; nothing is said of it. */
pfr_status calls_index_hop(struct calls_index *x, pfr_reader *reader, pfr_error *err);

/* Whatever the trace looks like; holes are told and noted in totals. */
pfr_status calls_index_walk(struct calls_index *x, pfr_reader *reader, const struct calls_request *request,
                            struct calls_totals *totals, pfr_error *err);

#endif

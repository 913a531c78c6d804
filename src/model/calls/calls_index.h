/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_INDEX_H
#define PFR_MODEL_CALLS_INDEX_H
/* Index of a flight recorder's buffers, by thread and time. */
#include "model/calls/calls_parts.h"

/* Sets *number to the number of the thread in the table; a new thread is added. */
pfr_status calls_thread_number(struct intern_table *threads, const struct calls_thread *thread, uint32_t *number,
                               pfr_error *err);
void calls_index_init(struct calls_index *x, struct memory *memory);
void calls_index_free(struct calls_index *x);

/* Builds the index by hopping from buffer to buffer. PFR_HOLE: the trace is damaged, or may be; nothing is reported. */
pfr_status calls_index_hop(struct calls_index *x, pfr_reader *reader, pfr_error *err);

/* Builds the index from any trace by reading every record; holes are reported and noted in totals. */
pfr_status calls_index_walk(struct calls_index *x, pfr_reader *reader, const struct calls_request *request,
                            struct calls_totals *totals, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_SPILL_H
#define PFR_MODEL_CALLS_SPILL_H
/* The rows of calls of a trace. A large trace has more of them than fit into memory: all rows in memory are moved to an
   unnamed temporary file as soon as there are `sizes.call_rows`, or more if there are many threads. */
#include "model/open/calls_rows.h"

#define CALL_WINDOW 512u

/* Reads the rows of a thread, best in ascending order. Initialise it with zeros. Several readers
   may read the same rows at the same time. */
struct call_reader {
    const struct call_thread *thread;
    size_t extent, first, count; /* the window has rows from `first` on */
    struct call_row window[CALL_WINDOW];
};

pfr_status call_rows_add(struct memory *memory, struct model_calls *calls, struct call_thread *t,
                         const struct call_row *row, pfr_error *err);
/* Row `number` of the thread; *row is valid until the next call. */
pfr_status call_row_get(struct call_reader *reader, const struct model_calls *calls, const struct call_thread *t,
                        size_t number, const struct call_row **row, pfr_error *err);
void call_rows_free(struct memory *memory, struct call_thread *t);
/* Call it after call_rows_free() was called for all threads. */
void call_file_close(struct model_calls *calls);

#endif

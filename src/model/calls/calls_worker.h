/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_WORKER_H
#define PFR_MODEL_CALLS_WORKER_H
/* What other files use of calls_worker.c, which says how it works. */
#include "model/calls/calls_parts.h"

/* A thread whose calls are read. */
struct calls_reading {
    struct calls_worker_state *worker;
    struct calls_thread thread;
    struct thread_calls calls;
    bool told; /* the sink knows of it */
};

pfr_status reading_begin(struct calls_reading *g, struct calls_worker_state *worker, const struct intern_table *threads,
                         uint32_t thread, pfr_error *err);

/* The sink knows of it from now on. */
pfr_status reading_tell(struct calls_reading *g, pfr_error *err);

/* Some of its enters and exits, at least one, whose times the caller notes. */
pfr_status reading_take(struct calls_reading *g, const struct xray_call *calls, size_t count, pfr_error *err);
pfr_status reading_take_run(struct calls_reading *g, struct xray_run *run, pfr_error *err);

/* It has no more. */
pfr_status reading_end(struct calls_reading *g, pfr_error *err);
void reading_free(struct calls_reading *g); /* after a failure of reading_begin, too */

/* What this lets lanes be. */
unsigned calls_jobs(const struct calls_request *request);

/* So many, each with a reader of its own; to be closed whatever comes. */
pfr_status calls_workers_open(struct calls_workers *all, unsigned count, pfr_error *err);
void calls_workers_close(struct calls_workers *all);

/* Each lane in a thread of ours; the status of all of them. */
pfr_status calls_workers_start(struct calls_workers *all, void *(*run)(void *runner), pfr_error *err);

/* What they counted, and the end of the sink. */
pfr_status calls_workers_end(struct calls_workers *all, struct calls_totals *totals, pfr_error *err);

/* All threads of the index, begin and end of the sink included. PFR_HOLE: see `clean`. */
pfr_status calls_workers_run(struct calls_workers *all, struct calls_totals *totals, pfr_error *err);

/* Enters and exits of a piece of that thread. PFR_HOLE: see `clean`. */
pfr_status calls_read_piece(struct calls_runner *me, struct calls_reading *g, const struct xray_slice *slice,
                            pfr_error *err);

/* How far the pieces from there on follow each other in the file: as much is read at once. */
uint64_t calls_read_ahead(const struct calls_index *x, size_t at, size_t end);

#endif

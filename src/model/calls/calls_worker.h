/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_WORKER_H
#define PFR_MODEL_CALLS_WORKER_H
/* Interface of calls_worker.c, which describes how it works. */
#include "model/calls/calls_parts.h"

/* A thread of the trace whose calls are being read. */
struct calls_reading {
    struct calls_worker_state *worker;
    struct calls_thread thread;
    struct thread_calls calls;
    bool reported; /* the thread was reported to the sink */
};

pfr_status reading_begin(struct calls_reading *g, struct calls_worker_state *worker, const struct intern_table *threads,
                         uint32_t thread, pfr_error *err);

/* Reports the thread to the sink, if that was not done before. */
pfr_status reading_report(struct calls_reading *g, pfr_error *err);

/* Takes enters and exits of the thread, at least one. The caller notes their times in the totals. */
pfr_status reading_take(struct calls_reading *g, const struct xray_call *calls, size_t count, pfr_error *err);
pfr_status reading_take_run(struct calls_reading *g, struct xray_run *run, pfr_error *err);

/* Ends the thread. */
pfr_status reading_end(struct calls_reading *g, pfr_error *err);
void reading_free(struct calls_reading *g); /* required also after a failure of reading_begin */

/* The number of workers that the request allows. */
unsigned calls_jobs(const struct calls_request *request);

/* Opens `count` workers, each with its own reader. Call calls_workers_close even after a failure. */
pfr_status calls_workers_open(struct calls_workers *all, unsigned count, pfr_error *err);
void calls_workers_close(struct calls_workers *all);

/* Runs each worker in a thread. Returns the combined status of all workers. */
pfr_status calls_workers_start(struct calls_workers *all, void *(*run)(void *runner), pfr_error *err);

/* Adds up the totals of the workers, and calls `end` of the sink. */
pfr_status calls_workers_end(struct calls_workers *all, struct calls_totals *totals, pfr_error *err);

/* Reads all threads of the index, and calls `begin` and `end` of the sink. PFR_HOLE: see calls_workers.clean. */
pfr_status calls_workers_run(struct calls_workers *all, struct calls_totals *totals, pfr_error *err);

/* Reads the enters and exits of a piece of the thread. PFR_HOLE: see calls_workers.clean. */
pfr_status calls_read_piece(struct calls_runner *me, struct calls_reading *g, const struct xray_slice *slice,
                            pfr_error *err);

/* The file offset up to which the pieces from piece `at` on follow each other without a gap. These pieces are read with
   one request. */
uint64_t calls_read_ahead(const struct calls_index *x, size_t at, size_t end);

#endif

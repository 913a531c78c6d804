/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_WORKERS_H
#define PFR_BASE_WORKERS_H
/*
 * Batches that several threads work on, and whose results are taken in the order in which they were given out. The
 * caller defines a batch: it has `slots` of them, by number, and refills one only when it is free.
 *
 *    workers_open(&w, memory, 4, 16, work, context, &err);
 *    while (there is more) {
 *      while (!workers_free_slot(w, &slot))
 *        if (workers_oldest(w, true, &done))
 *          use(batches[done]), workers_retire(w);
 *      fill(batches[slot]);
 *      workers_give(w);
 *    }
 *    while (workers_oldest(w, true, &done))
 *      use(batches[done]), workers_retire(w);
 *    workers_close(w);
 *
 * The caller is one of the threads: while it waits for the oldest batch it works too.
 */
#include "base/memory/memory.h"

struct workers;

/* Works on the batch of a slot as thread number `worker`, 0 for the caller; no other thread uses either meanwhile. */
typedef void workers_fn(void *context, unsigned worker, size_t slot);

/* `threads` includes the caller, at least 1; if fewer can be started, fewer work. < 0: *err, and *w is NULL. */
pfr_status workers_open(struct workers **w, struct memory *memory, unsigned threads, size_t slots, workers_fn *work,
                        void *context, pfr_error *err);
/* Drops batches that were given but not begun. NULL is allowed. */
void workers_close(struct workers *w);

/* The slot that the next workers_give uses; false: all are in use. */
bool workers_free_slot(const struct workers *w, size_t *slot);
void workers_give(struct workers *w);

/* The oldest slot not retired, once it is done. false: no batch is in flight, or, unless `wait`, it is not done. */
bool workers_oldest(struct workers *w, bool wait, size_t *slot);
void workers_retire(struct workers *w);

#endif

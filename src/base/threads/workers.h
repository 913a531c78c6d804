/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_WORKERS_H
#define PFR_BASE_WORKERS_H
/*
 * Batches of work for several threads, whose results are taken in the order in which the batches were given out. The
 * caller defines what a batch contains, has `slots` numbered batches, and refills a batch only when its slot is free.
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

/* Works on the batch of `slot` as thread number `worker`, 0 for the caller. No other thread uses this slot or this
   number at the same time. */
typedef void workers_fn(void *context, unsigned worker, size_t slot);

/* `threads`, at least 1, includes the caller; if not all can be started, fewer do the work. If the result is < 0, *err
   is filled and *w is NULL. */
pfr_status workers_open(struct workers **w, struct memory *memory, unsigned threads, size_t slots, workers_fn *work,
                        void *context, pfr_error *err);
/* Drops batches that were given but not begun. NULL is allowed. */
void workers_close(struct workers *w);

/* The slot that the next workers_give uses. Returns false if all are in use. */
bool workers_free_slot(const struct workers *w, size_t *slot);
void workers_give(struct workers *w);

/* The oldest slot that is not retired, once its batch is done. Returns false if no batch is in flight, or if the oldest
   is not done and `wait` is false. */
bool workers_oldest(struct workers *w, bool wait, size_t *slot);
void workers_retire(struct workers *w);

#endif

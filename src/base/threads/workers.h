/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_WORKERS_H
#define PFR_BASE_WORKERS_H
/*
 * Batches that several threads work on, and whose results are taken in the order in which they were given out. What a
 * batch is the caller knows: it has as many as `slots`, by number, and fills the next one only when it is free.
 *
 *     workers_open(&w, memory, 4, 16, work, context, &err);
 *     while (there is more) {
 *         while (!workers_free_slot(w, &slot))
 *             if (workers_oldest(w, true, &done))
 *                 use(batches[done]), workers_retire(w);
 *         fill(batches[slot]);
 *         workers_give(w);
 *     }
 *     while (workers_oldest(w, true, &done))
 *         use(batches[done]), workers_retire(w);
 *     workers_close(w);
 *
 * The caller is one of the threads: while it waits for the oldest batch it works itself.
 */
#include "base/memory/memory.h"

struct workers;

/* Works on the batch of a slot, as thread number `worker`, 0 for the caller; nobody else looks into either meanwhile.
 */
typedef void workers_fn(void *context, unsigned worker, size_t slot);

/* `threads` in all, at least 1; where fewer can be begun, fewer work. < 0: *err, and *w is NULL. */
pfr_status workers_open(struct workers **w, struct memory *memory, unsigned threads, size_t slots, workers_fn *work,
                        void *context, pfr_error *err);
/* What was given and not begun is dropped. NULL is fine. */
void workers_close(struct workers *w);

/* The slot that workers_give will give; false: all are in use. */
bool workers_free_slot(const struct workers *w, size_t *slot);
void workers_give(struct workers *w);

/* The slot given first of those that were not retired, once it is done; false: there is none, or, unless `wait`, it is
 * not done. */
bool workers_oldest(struct workers *w, bool wait, size_t *slot);
void workers_retire(struct workers *w);

#endif

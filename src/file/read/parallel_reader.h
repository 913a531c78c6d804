/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_PARALLEL_READER_H
#define PFR_FILE_PARALLEL_READER_H
/*
 * One walk over the records of a file, whose bytes several threads read. Each copies the next stretch of the file to
 * itself, waits for its turn, walks over the records that are whole there, and hands the reader on to the thread that
 * has the stretch behind it. Copying, which takes longer than a walk over headers, goes side by side; all else goes one
 * after the other, on one reader, as if one thread did it: no lock is needed for what a walk learns.
 *
 *     static pfr_status walk(void *context, pfr_error *err) {
 *         while ((st = next_at_hand(reader, &rec, err)) == PFR_OK)
 *             learn(&rec);
 *         return st;
 *     }
 *     parallel_reader_run(reader, &(struct relay){.threads = 2, .walk = walk, .context = context}, &err);
 *     while (pfr_next(reader, &rec, &err) ...
 *
 * It ends before whatever is not a plain record: damage, data behind a record, compressed ones, the end, bytes that
 * cannot be read. The reader then stands there with an empty window, and pfr_next does all that as it always does. The
 * buffers are freed when parallel_reader_run returns, so nothing that the walk leaves in the reader may point into a
 * record.
 */
#include "file/read/recording.h"

#include "base/memory/sizes.h"

#define RELAY_THREADS 4u /* more would wait for their turn */

struct parallel_reader {
    uint32_t threads;
    size_t chunk; /* bytes; 0: sizes.parallel_reader_part */
    pfr_status (*walk)(void *context,
                       pfr_error *err); /* to PFR_END of next_at_hand; PFR_OK: it pays no more; < 0: it fails */
    void *context;
};

/* Does nothing where it would not pay: less than four stretches, one thread, a stream, no memory. < 0: what `walk`
   returned. */
pfr_status parallel_reader_run(pfr_reader *reader, const struct parallel_reader *parallel_reader, pfr_error *err);

#endif

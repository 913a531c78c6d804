/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_PARALLEL_READER_H
#define PFR_FILE_PARALLEL_READER_H
/*
 * Walks once over the records of a file while several threads read its bytes. Each thread copies the next chunk of the
 * file into its own buffer, waits for its turn, walks over the complete records there, and passes the reader on to the
 * thread with the following chunk. Copying takes longer than a walk over headers and runs in parallel. The walks run
 * one after the other on one reader, as in a single thread, so the data they collect needs no lock.
 *
 *    static pfr_status walk(void *context, pfr_error *err) {
 *        while ((st = next_at_hand(reader, &rec, err)) == PFR_OK)
 *            learn(&rec);
 *        return st;
 *    }
 *    parallel_reader_run(reader, &(struct parallel_reader){.threads = 2, .walk = walk, .context = context}, &err);
 *    while (pfr_next(reader, &rec, &err) ...
 *
 * The walk stops before anything other than a plain record: damage, a record with a payload, compressed records,
 * unreadable bytes, or the end. The reader is then at that place with an empty buffer, and pfr_next continues as usual.
 * The chunk buffers are freed when parallel_reader_run returns, so the walk must not leave pointers into a record in
 * the reader.
 */
#include "file/read/recording.h"

#include "base/memory/sizes.h"

#define PARALLEL_READER_THREADS 4u /* more threads would only wait for their turn */

struct parallel_reader {
    uint32_t threads;
    size_t chunk; /* bytes; 0: sizes.parallel_reader_part */
    pfr_status (*walk)(
        void *context,
        pfr_error *err); /* PFR_END (from next_at_hand): continue; PFR_OK: stop reading in parallel; < 0: failure */
    void *context;
};

/* Does nothing if parallel reading is impossible or not worthwhile: fewer than four chunks, one thread, a stream, or no
   memory. Returns PFR_OK, or the failure (< 0) of `walk`. */
pfr_status parallel_reader_run(pfr_reader *reader, const struct parallel_reader *parallel_reader, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_SLICE_H
#define PFR_FILE_SLICE_H
/*
 * Readers of slices: several threads read the samples of one recording, each through a reader of its own. The "whole
 * reader" has read the recording once; the readers of slices use the events that it learnt, and do not change it. The
 * whole reader must not be used meanwhile. Records that describe the recording are returned but not handled again, and
 * the quality of the whole reader does not count them.
 *
 *    pfr_reader *mine;
 *    slice_reader_open(&mine, reader, memory, &err);
 *    slice_reader_move(mine, &(struct slice){0, 4096, 1 << 20});
 *    while (pfr_next(mine, &rec, &err) == PFR_OK) ...
 *    slice_reader_close(mine);
 */
#include <perfray/reader.h>

struct memory;

/* Range of records of one part; both `begin` and `end` are at the start of a record. end UINT64_MAX: up to the end of
   the part. */
struct slice {
    uint32_t part; /* index of the part, not its number */
    uint64_t begin, end;
};

/* Whether slices are possible: the input must be seekable, without a limit on records, and not an XRay trace. (Records
   inside COMPRESSED records cannot be read in slices.) */
bool slices_can_be(const pfr_reader *reader);

/* Allocates from a share of `memory`. Both `memory` and the whole reader must outlive it. */
pfr_status slice_reader_open(pfr_reader **slice, const pfr_reader *whole, struct memory *memory, pfr_error *err);
/* Moves the reader to a slice: pfr_next then returns the records of the slice, and PFR_END after them. */
void slice_reader_move(pfr_reader *reader, const struct slice *slice);
void slice_reader_close(pfr_reader *reader); /* NULL is allowed */

#endif

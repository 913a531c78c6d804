/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_SLICE_H
#define PFR_FILE_SLICE_H
/*
 * Readers of slices: several threads read the samples of one recording, each through a reader of its own. They share
 * what the whole reader learnt of events when it read the recording once, and change nothing of it; so nobody may use
 * the whole one meanwhile. Records that say something about the recording are given and not looked at, and no quality
 * is counted for the whole.
 *
 *     pfr_reader *mine;
 *     slice_reader_open(&mine, reader, memory, &err);
 *     slice_reader_move(mine, &(struct slice){0, 4096, 1 << 20});
 *     while (pfr_next(mine, &rec, &err) == PFR_OK) ...
 *     slice_reader_close(mine);
 */
#include <perfray/reader.h>

struct memory;

/* Records from `begin` to `end`, both where a record of the part begins; end UINT64_MAX: to the part's end. */
struct slice {
    uint32_t part; /* index, not number */
    uint64_t begin, end;
};

/* Whether the recording can be read so: seekable, without a limit on records. (What is in COMPRESSED records cannot.)
 */
bool slices_can_be(const pfr_reader *reader);

/* Its memory is a share of `memory`, which must outlive it, as must the whole reader. */
pfr_status slice_reader_open(pfr_reader **slice, const pfr_reader *whole, struct memory *memory, pfr_error *err);
/* pfr_next then gives the records of the slice, and PFR_END. */
void slice_reader_move(pfr_reader *reader, const struct slice *slice);
void slice_reader_close(pfr_reader *reader); /* NULL is fine */

#endif

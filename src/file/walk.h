/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WALK_H
#define PFR_FILE_WALK_H
/* Counting without looking: a walk over record headers alone. */
#include <perfray/reader.h>

/*
 * Steps over the samples of `event` that come next, as far as they lie in the input's window and nothing else is between
 * them; returns how many, which may be 0. They count in the quality as if pfr_next had given them.
 */
uint64_t walk_samples(pfr_reader *reader, int32_t event);

/* The same for at most `most` of them, whose bytes are put into `at`; they live until the next call on the reader. The
   first stands at offset *from of the part. */
uint32_t walk_collect(pfr_reader *reader, int32_t event, const uint8_t **at, uint32_t most, uint64_t *from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_NEXT_H
#define PFR_FILE_NEXT_H
/* What other files use of next.c, which says how it works. */
#include "file/read/recording.h"

/* The record at `bytes`, not yet counted. The header says its size, which is there. */
void frame(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset);

/* Pfr_next as far as it needs nothing but the window, on a reader without a limit on records. PFR_END: call
   pfr_next. No record given by it leaves the reader with a view of the window: the window may then be freed. */
pfr_status next_at_hand(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif

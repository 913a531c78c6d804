/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_NEXT_H
#define PFR_FILE_NEXT_H
/* The next record of a reader, as pfr_next returns it. */
#include "file/read/recording.h"

/* Fills *rec for the record at `bytes`, which must be complete. The record is not counted yet. */
void frame(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset);

/* Like pfr_next, but reads only bytes that are already in the buffer; for a reader without a limit on records. PFR_END:
   call pfr_next instead. The reader keeps no pointer into the buffer, so the caller may free the buffer afterwards. */
pfr_status next_at_hand(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RESYNC_H
#define PFR_FILE_RESYNC_H
/* Distinguishes records from damage, and finds the next record after damage. resync.c describes how. */
#include "file/read/recording.h"

/* The bytes from a suspect record on, as far as the buffer has them. */
struct visible_bytes {
    const uint8_t *bytes;
    uint64_t length;
    bool whole;  /* the input ends after these bytes */
    bool pieces; /* `length` is arbitrary, because decompressed bytes arrive in pieces */
};

/* Number of bytes to skip before reading continues. 0: the record at s->bytes is plausible enough to be returned. Else
   the offset of the next plausible record, or s->length. */
uint64_t implausible_bytes(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec);

/* Whether s->bytes + at has a complete record with the length that its type requires. */
bool is_record_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at);

/* Whether records of this type hold compressed bytes, which may look like records. */
bool holds_compressed(uint32_t type);

/* Whether data may follow records of this type. */
bool may_be_followed(uint32_t type);

/* Whether nothing but the record's own header confirms its size, so that a wrong size may hide later records. False for
   compressed records, whose content may look like records. */
bool may_hide_records(const pfr_record *rec);

/* Returns the first offset in `at`..`until` where a chain of records begins: three records in a row, or `least`
   complete records before the end of the bytes (one fewer if the last record ends exactly at that end). s->length: not
   found. */
uint64_t chain_after(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t until, unsigned least);

/* chain_after on the current part's input, from offset *at to `last` (UINT64_MAX: to the end). PFR_END: not found, and
 *at is the end of the bytes seen. */
pfr_status resync(pfr_reader *r, uint64_t *at, uint64_t last, unsigned least, pfr_error *err);

/* The visible bytes of the current part from offset `at` on; reads them into the buffer. */
pfr_status sight_at(pfr_reader *r, uint64_t at, struct visible_bytes *s, pfr_error *err);

#endif

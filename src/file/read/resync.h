/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RESYNC_H
#define PFR_FILE_RESYNC_H
/* What other files use of resync.c, which says how it works. */
#include "file/read/recording.h"

/* The bytes from a suspect record on, as far as they are in the buffer. */
struct visible_bytes {
    const uint8_t *bytes;
    uint64_t length;
    bool whole;  /* nothing follows them */
    bool pieces; /* `length` is arbitrary: decompressed bytes arrive piece by piece */
};

/* How many bytes to skip before reading goes on. 0: the record at s->bytes is plausible enough to be returned. Else the
   offset of the next plausible record, or s->length. */
uint64_t implausible_bytes(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec);

/* Whether a complete record of the length that its type requires is at s->bytes + at. */
bool is_record_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at);

/* Whether records of this type hold compressed bytes, which may look like records. */
bool holds_compressed(uint32_t type);

/* Whether data may follow records of this type. */
bool may_be_followed(uint32_t type);

/* Whether a record's size is only its own word: more bytes than it has would not show. Not where compressed bytes are.
 */
bool may_hide_records(const pfr_record *rec);

/* The first place from `at` on that records follow each other from: three in a row, or `least` that are whole up to the
   end (one less where the last of them ends there); s->length: nowhere. Places behind `until` are not tried. */
uint64_t chain_after(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t until, unsigned least);

/* The same in the current part's input, from offset *at to `last`, UINT64_MAX: to the end. PFR_END: nowhere, and *at is
   the end of what was seen. */
pfr_status resync(pfr_reader *r, uint64_t *at, uint64_t last, unsigned least, pfr_error *err);

/* What can be seen of the current part from offset `at`. */
pfr_status sight_at(pfr_reader *r, uint64_t at, struct visible_bytes *s, pfr_error *err);

#endif

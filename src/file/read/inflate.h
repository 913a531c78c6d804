/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_INFLATE_H
#define PFR_FILE_INFLATE_H
/* Decompression of COMPRESSED records. */
#include "file/read/recording.h"

void inflater_close(struct inflater *z, struct memory *memory);
void inflater_rewind(struct inflater *z);

/* Decompresses the bytes of one record and appends them to the buffer. PFR_HOLE: the compressed bytes are damaged;
   `err` has the offset. (The name inflate is zlib's.) */
pfr_status inflate_record(pfr_reader *r, struct inflater *z, pfr_bytes from, uint64_t offset, pfr_error *err);

#endif

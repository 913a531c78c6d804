/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_DEFLATE_H
#define PFR_FILE_DEFLATE_H
/* Compression of records into COMPRESSED records. deflate.c describes the two forms. */
#include "file/write/recording_writer.h"

pfr_status deflate_open(pfr_writer *w, struct deflater *z, pfr_error *err);
void deflate_close(pfr_writer *w, struct deflater *z);
pfr_status deflate_records(pfr_writer *w, const uint8_t *bytes, size_t length,
                           pfr_error *err); /* `bytes` holds complete records */
pfr_status deflate_flush(pfr_writer *w, pfr_error *err);

#endif

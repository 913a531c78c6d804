/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_PART_H
#define PFR_FILE_WRITER_PART_H
/* What other files use of writer_part.c, which says how it works. */
#include "file/write/recording_writer.h"

/* Keeps the first failure and returns the one that is kept. */
pfr_status writer_failed(pfr_writer *w, const pfr_error *why, pfr_error *err);

/* The same of a failed call on a file: "what: strerror(error_number)". */
pfr_status writer_failed_at(pfr_writer *w, int error_number, const char *what, uint64_t offset, pfr_error *err);
pfr_status writer_stands(pfr_writer *w, pfr_error *err); /* < 0: it has failed, or is finished */
pfr_status writer_check(pfr_writer *w, pfr_error *err);  /* < 0: the current output has failed */

#endif

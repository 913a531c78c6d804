/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_PART_H
#define PFR_FILE_WRITER_PART_H
/* Functions for the writer's first failure, used by all source files of the writer. */
#include "file/write/recording_writer.h"

/* Keeps the first failure of the writer, and returns it. */
pfr_status writer_failed(pfr_writer *w, const pfr_error *why, pfr_error *err);

/* writer_failed for a failed call on a file; the text is "what: strerror(error_number)". */
pfr_status writer_failed_at(pfr_writer *w, int error_number, const char *what, uint64_t offset, pfr_error *err);
pfr_status writer_stands(pfr_writer *w, pfr_error *err); /* < 0: the writer has failed or has been finished */
pfr_status writer_check(pfr_writer *w, pfr_error *err);  /* < 0: the current output has failed */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SCRATCH_H
#define PFR_BASE_SCRATCH_H
/*
 * An unnamed temporary file in TMPDIR or /tmp, for data too large for memory. The kernel frees it when its descriptor
 * is closed, however the process ends. Errors: PFR_ERR_IO, PFR_ERR_PERMISSION; the text names the folder.
 */
#include <perfray/error.h>
#include <stddef.h>
#include <stdint.h>

/* The caller closes *fd. */
pfr_status scratch_open(int *fd, pfr_error *err);
/* Appends all bytes, or fails. */
pfr_status scratch_write(int fd, const void *bytes, size_t length, pfr_error *err);
/* *got is less than `length` only at the end. Does not move the write position. */
pfr_status scratch_read_at(int fd, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);
/* Moves the file position to the start, for another process or descriptor that reads it. */
pfr_status scratch_rewind(int fd, pfr_error *err);

#endif

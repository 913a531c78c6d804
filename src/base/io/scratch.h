/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SCRATCH_H
#define PFR_BASE_SCRATCH_H
/*
 * A temporary file without a name, in the folder TMPDIR or /tmp: for what is more than memory should hold. It goes when
 * its descriptor is closed, however the process ends. Errors: PFR_ERR_IO, PFR_ERR_PERMISSION, and name the folder.
 */
#include <perfray/error.h>
#include <stddef.h>
#include <stdint.h>

/* *fd is the caller's to close. */
pfr_status scratch_open(int *fd, pfr_error *err);
/* At the end; whole, or an error. */
pfr_status scratch_write(int fd, const void *bytes, size_t length, pfr_error *err);
/* *got < length only at the end. Does not move the place that is written to. */
pfr_status scratch_read_at(int fd, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);
/* So that another reads from the start. */
pfr_status scratch_rewind(int fd, pfr_error *err);

#endif

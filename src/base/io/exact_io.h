/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_EXACT_IO_H
#define PFR_BASE_EXACT_IO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `length` bytes at `offset` of a file; false: the file is shorter, or a read failed. */
bool read_exactly(int fd, void *to, size_t length, uint64_t offset);

/* Writes all bytes at the current position; false: a write failed, with errno. */
bool write_exactly(int fd, const void *bytes, size_t length);

#endif

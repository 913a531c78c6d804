/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_EXACT_IO_H
#define PFR_BASE_EXACT_IO_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `length` bytes at `offset` of a file. Returns false if the file is shorter or a read failed. */
bool read_exactly(int fd, void *to, size_t length, uint64_t offset);

/* Writes all bytes at the current position. Returns false, with errno set, if a write failed. */
bool write_exactly(int fd, const void *bytes, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_INPUT_RAW_H
#define PFR_BASE_INPUT_RAW_H
/* Raw reads from an input's file, before decompression. */
#include "base/io/input.h"

#include <sys/stat.h>

extern const struct input_calls input_libc_calls;

struct input_identity input_identity_of(const struct stat *st);

/* Reads the next bytes of a stream, at most `room`. *got is 0 at the end. Errors: IO. */
pfr_status input_read_stream(struct input *in, void *to, size_t room, size_t *got, pfr_error *err);
/* Reads a regular file from `offset`: at least `least` and at most `room` bytes. Reads fewer than `least` only at the
   end of the file. If the file changed after it was opened, that is PFR_ERR_CHANGED; an unchanged file may be shorter
   than its reported size (files of /sys). */
pfr_status input_read_least(struct input *in, uint64_t offset, uint8_t *to, size_t least, size_t room, size_t *got,
                            pfr_error *err);
/* Reads the next raw bytes of `input` (a struct input), whether it is a regular file or a stream. The unpacker calls
   this. */
pfr_status input_read_raw(void *input, uint8_t *to, size_t room, size_t *got, pfr_error *err);

#endif

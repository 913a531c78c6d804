/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_INPUT_RAW_H
#define PFR_BASE_INPUT_RAW_H
/* The bytes of an input as its file has them, before anything is unpacked. */
#include "base/io/input.h"

#include <sys/stat.h>

extern const struct input_calls input_libc_calls;

struct input_identity input_identity_of(const struct stat *st);

/* The next bytes of a stream, at most `room`. *got 0: the end. Errors: IO. */
pfr_status input_read_stream(struct input *in, void *to, size_t room, size_t *got, pfr_error *err);
/* Bytes of a regular file from `offset` on until `least` of `room` are there. Ends early only where the file does,
   which is PFR_ERR_CHANGED when the file was longer at first; files of /sys are shorter than they say and end where
   they end.
 */
pfr_status input_read_least(struct input *in, uint64_t offset, uint8_t *to, size_t least, size_t room, size_t *got,
                            pfr_error *err);
/* The next ones of either, for the unpacker; `input` is a struct input. */
pfr_status input_read_raw(void *input, uint8_t *to, size_t room, size_t *got, pfr_error *err);

#endif

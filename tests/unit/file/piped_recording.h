/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_PIPED_RECORDING_H
#define PFR_TESTS_PIPED_RECORDING_H
/* A recording generated in memory, as a stream, which cannot be read twice. It fits into the pipe. */
#include "recording_builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PIPE_ROOM = 1 << 20 };

static inline pfr_reader *open_piped(const struct builder *b) {
    int ends[2];
    char path[32];
    pfr_error err;
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PIPE_ROOM) >= (int)b->length);
    assert_int_equal(write(ends[1], b->bytes, b->length), b->length);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pfr_reader *r = pfr_open(path, NULL, &err);
    close(ends[0]);
    if (!r)
        fail_msg("not opened: %s", err.text);
    return r;
}

#endif

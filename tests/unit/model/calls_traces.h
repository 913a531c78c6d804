/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_CALLS_TRACES_H
#define PFR_TESTS_CALLS_TRACES_H
/* Builds traces in memory for tests of calls_read, and readers for them. */
#include "call_log.h"

#include "model/calls/calls.h"

/* Version 5, one process, 1 GHz. */
static inline struct builder begin_trace(void) {
    struct builder b = {0};
    put_xray_header(&b, 5, 4096);
    return b;
}

static inline pfr_reader *open_trace(const struct builder *b, const pfr_limits *limits) {
    const pfr_open_options how = {.size = sizeof how, .limits = limits};
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, &how, &err);
    if (!reader)
        fail_msg("it does not open: %s", err.text);
    return reader;
}

#endif

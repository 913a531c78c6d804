/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_POSITION_H
#define PFR_FILE_XRAY_POSITION_H
/*
 * Saves the position of a trace's reader, so that reading can continue there later. It serves consumers that read
 * pieces of a trace in turn, such as those that follow several threads in parallel.
 *
 *    place = (struct xray_place){.at = offset};     a buffer begins there, or a record of a basic log
 *    xray_go(reader, &place, &err);
 *    ... pfr_next ...
 *    xray_place_of(reader, &place);                 later: xray_go(reader, &place, &err)
 *
 * The reader's quality counts records read this way too, so save the quality before you read a trace a second time.
 */
#include "file/xray/xray.h"

/* Version 1: the base of a thread, for its next buffer if that does not state a base. */
struct xray_base {
    uint64_t tsc;
    int32_t tid;
    bool known;
};

struct xray_place {
    uint64_t at;
    struct fdr_buffer buffer;
    struct basic_call call;
    pfr_trace_point point;
    struct xray_base base;
    bool reported;
};

/* Leaves the base unset, because the base is needed only where the position is outside of a buffer. */
void xray_place_of(const pfr_reader *reader, struct xray_place *place);
/* Can fail only if memory runs out. */
pfr_status xray_go(pfr_reader *reader, const struct xray_place *place, pfr_error *err);

/* The base of the current thread, before the end of its buffer. */
void xray_base_of(const pfr_reader *reader, struct xray_base *base);

/* Sets how many bytes are read at once from now on; 0: the default. Small values suit callers that jump. */
void xray_read_at_once(pfr_reader *reader, size_t bytes);

#endif

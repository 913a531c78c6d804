/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_POSITION_H
#define PFR_FILE_XRAY_POSITION_H
/*
 * Where the reader of a trace stands, to go on from there later: for those who read pieces of it in turn, as those must
 * who want threads side by side.
 *
 *     place = (struct trace_place){.at = offset};     a buffer begins there, or a record of a basic log
 *     trace_go(reader, &place, &err);
 *     ... pfr_next ...
 *     trace_place_of(reader, &place);                 later: trace_go(reader, &place, &err)
 *
 * What is read so counts in the reader's quality like all else: who reads a trace again keeps the quality of before.
 */
#include "file/xray/xray.h"

/* What the deltas of a thread count from when its next buffer does not say: of version 1. */
struct trace_base {
    uint64_t tsc;
    int32_t tid;
    bool known;
};

struct trace_place {
    uint64_t at;
    struct fdr_buffer buffer;
    struct basic_call call;
    pfr_trace_point point;
    struct trace_base base;
    bool told;
};

/* Without a base: who goes on there is inside of a buffer, or needs none. */
void trace_place_of(const pfr_reader *reader, struct trace_place *place);
/* Errors: no memory. */
pfr_status trace_go(pfr_reader *reader, const struct trace_place *place, pfr_error *err);

/* Of the thread at hand, before its buffer ended. */
void trace_base_of(const pfr_reader *reader, struct trace_base *base);

/* Reads so many bytes at once from here on, 0: as many as ever. For who jumps. */
void trace_read_at_once(pfr_reader *reader, size_t bytes);

#endif

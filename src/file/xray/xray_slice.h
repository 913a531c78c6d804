/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_SLICE_H
#define PFR_FILE_XRAY_SLICE_H
/*
 * Readers of pieces of a flight recorder's trace, for who reads its buffers in another order than the file's, or with
 * several threads. They are made and closed as readers of slices (slice.h) are.
 *
 *     trace_slice_move(mine, &slice, slice.until);
 *     while (mine->at < slice.until && pfr_next(mine, &rec, &err) == PFR_OK) ...
 */
#include <perfray/trace.h>

/* Records from `at` to `until` of the buffer that ends at `end`. */
struct trace_slice {
    uint64_t at, until, end;
    uint64_t base; /* what deltas count from there */
    bool timed;    /* it is known */
};

/* Whether a trace can be read so: it can be seeked in. */
bool trace_slices_can_be(const pfr_reader *reader);
/* `ahead`: where bytes end that will be wanted, those of the slices that come next counted. */
void trace_slice_move(pfr_reader *reader, const struct trace_slice *slice, uint64_t ahead);

/*
 * The buffer that a whole trace has at `at`, where it is as writers write it: behind its preamble only records of calls
 * and events are expected. Nothing is told of it, and the reader stays where it is.
 */
struct trace_buffer {
    struct trace_slice slice; /* from its NewBuffer on */
    uint64_t next;            /* where the next buffer begins */
    uint64_t time;            /* of its first NewCPUId */
    int32_t tid, pid;
    bool has_pid;
};

#define TRACE_PREAMBLE_MOST 80u /* bytes that are looked at */

/* PFR_END: the trace ends there. PFR_HOLE: it is something else. */
pfr_status trace_buffer_at(pfr_reader *reader, uint64_t at, struct trace_buffer *buffer, pfr_error *err);
/* The same for who reads it next, and what lies behind it up to `ahead`: the reader's window goes there. */
pfr_status trace_buffer_ahead(pfr_reader *reader, uint64_t at, uint64_t ahead, struct trace_buffer *buffer,
                              pfr_error *err);
/* The buffers of a trace that begin between `from` and `until`, of which one is found; buffers of `like` bytes are
   looked for where they would begin. PFR_END: there is none, or it is not to be seen. What looks like one may be the
   payload of an event: who goes there from the buffer before knows. */
pfr_status trace_buffer_near(pfr_reader *reader, uint64_t from, uint64_t until, uint64_t like,
                             struct trace_buffer *buffer, uint64_t *at, pfr_error *err);
/* Where the first one is. */
#define TRACE_FIRST_BUFFER 32u

#endif

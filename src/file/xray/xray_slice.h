/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_SLICE_H
#define PFR_FILE_XRAY_SLICE_H
/*
 * Readers of pieces of a flight-recorder trace, for reading its buffers out of file order or with several threads. They
 * are opened and closed like readers of slices (slice.h).
 *
 *    xray_slice_move(mine, &slice, slice.until);
 *    while (mine->at < slice.until && pfr_next(mine, &rec, &err) == PFR_OK) ...
 */
#include <perfray/trace.h>

/* Records from `at` to `until` in the buffer that ends at `end`. */
struct xray_slice {
    uint64_t at, until, end;
    uint64_t base; /* ticks that the first delta is added to */
    bool timed;    /* base is known */
};

/* Whether slices are possible: the recording is a trace and its input is seekable. */
bool xray_slices_can_be(const pfr_reader *reader);
/* `ahead`: end of the bytes to read ahead, which include the slices that come next. */
void xray_slice_move(pfr_reader *reader, const struct xray_slice *slice, uint64_t ahead);

/* A buffer at `at` in an undamaged trace, in the form that all writers use: only calls and events follow its preamble.
   The functions that find it do not read its records, report nothing, and do not move the reader. */
struct xray_buffer {
    struct xray_slice slice; /* its records, from NewBuffer on */
    uint64_t next;           /* offset of the next buffer */
    uint64_t time;           /* ticks in its first NewCPUId */
    int32_t tid, pid;
    bool has_pid;
};

#define TRACE_PREAMBLE_MOST 80u /* bytes that are examined to find the preamble */

/* Finds the buffer at `at`. PFR_END: the trace ends there. PFR_HOLE: there is no buffer of this form. */
pfr_status xray_buffer_at(pfr_reader *reader, uint64_t at, struct xray_buffer *buffer, pfr_error *err);
/* Like xray_buffer_at, but for a caller that reads the buffer next, and the bytes after it up to `ahead`: also moves
   the read buffer there. */
pfr_status xray_buffer_ahead(pfr_reader *reader, uint64_t at, uint64_t ahead, struct xray_buffer *buffer,
                             pfr_error *err);
/*
 * Finds one of the buffers that begin between `from` and `until`. Multiples of `like`, the usual size of a buffer, are
 * tried first. PFR_END: there is no such buffer. The result may be the payload of an event that looks like a buffer;
 * only a reader that comes from the previous buffer can detect this.
 */
pfr_status xray_buffer_near(pfr_reader *reader, uint64_t from, uint64_t until, uint64_t like,
                            struct xray_buffer *buffer, uint64_t *at, pfr_error *err);
/* Offset of the first buffer. */
#define TRACE_FIRST_BUFFER 32u

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_WRITER_H
#define PFR_FILE_XRAY_WRITER_H
/*
 * Writing traces: the flight recorder's in versions 1 to 5, and basic logs of version 3, in either byte order. What
 * happened is said by its time, thread and cpu; how a version says that (deltas, wraps, extents, strides) is known
 * here. No buffer is written that its readers refuse: each has a NewCPUId in front of what has a time.
 *
 *     trace_writer_open(&w, &form, header, memory, &out, &err);
 *     trace_write_thread(&w, &thread, &err);                 a buffer of this thread begins
 *     trace_write_call(&w, cpu, &call, &err);
 *     trace_writer_end(&w, &err);
 *
 * A buffer is kept in memory until it ends, then written; one that becomes larger than `room` goes on in another.
 */
#include "file/xray/xray_calls.h"
#include "base/io/output.h"
#include "wire/layout.h"

/* The unused word of the header of a basic log that perfray wrote, "perfray": basic logs have no magic, and one whose
   first calls are of thread or function 0 looks like other files. */
#define XRAY_BASIC_MARK 0x0079617266726570u

struct xray_form {
    unsigned version; /* 1 to 5; of a basic log 3 */
    bool basic, big_endian;
};

/* Whose buffer it is, and when it began. */
struct trace_thread_said {
    int32_t tid, pid;
    bool has_pid;
    int64_t seconds;
    int32_t microseconds;
};

/* Where the bits of a function record stand in its first word. */
struct call_places {
    unsigned action, function;
};

struct trace_writer {
    struct memory *memory;
    struct output *out, body;
    struct xray_form form;
    struct pfr_context context;
    struct call_places places;
    uint64_t room;   /* most bytes of a buffer's records */
    uint64_t stride; /* version 1 */
    struct trace_thread_said thread;
    bool open;    /* a buffer is */
    bool has_cpu; /* and says its time */
    uint16_t cpu;
    uint64_t base;  /* what deltas count from */
    uint64_t least; /* bytes of the buffer's preamble */
    struct trace_call last;
    bool may_have_argument; /* a call was written last, or an argument of it */
    uint64_t buffers, records;
};

/* Writes the header: what `like` says of the clock. */
pfr_status trace_writer_open(struct trace_writer *w, const struct xray_form *form, const pfr_header *like,
                             struct memory *memory, struct output *out, pfr_error *err);
/* A buffer of this thread begins; the one before ends. */
pfr_status trace_write_thread(struct trace_writer *w, const struct trace_thread_said *thread, pfr_error *err);
pfr_status trace_write_cpu(struct trace_writer *w, uint16_t cpu, uint64_t tsc, pfr_error *err);
pfr_status trace_write_wrap(struct trace_writer *w, uint64_t tsc, pfr_error *err);
pfr_status trace_write_call(struct trace_writer *w, uint16_t cpu, const struct trace_call *call, pfr_error *err);
/* Of the call that was written last; where something else was, nothing is written. PFR_HOLE: its buffer has no room. */
pfr_status trace_write_argument(struct trace_writer *w, uint64_t value, pfr_error *err);
/* type < 0: a custom event. PFR_HOLE: this form has no such event, or no room for it; nothing was written. */
pfr_status trace_write_event(struct trace_writer *w, uint16_t cpu, uint64_t tsc, int32_t type, const pfr_bytes *data,
                             pfr_error *err);
/* Ends the last buffer. */
pfr_status trace_writer_end(struct trace_writer *w, pfr_error *err);
void trace_writer_close(struct trace_writer *w);

#endif

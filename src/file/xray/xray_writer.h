/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_WRITER_H
#define PFR_FILE_XRAY_WRITER_H
/*
 * Writes traces: flight recorder versions 1 to 5, and basic logs of version 3, in either byte order. The caller passes
 * time, thread and cpu of each event; the writer applies the encoding of the version (deltas, wraps, extents, strides).
 * Readers accept every buffer, because a NewCPUId precedes the first record with a time.
 *
 *    xray_writer_open(&w, &form, header, memory, &out, &err);
 *    xray_write_thread(&w, &thread, &err);                 a buffer of this thread begins
 *    xray_write_call(&w, cpu, &call, &err);
 *    xray_writer_end(&w, &err);
 *
 * A buffer is kept in memory until it ends, then written; one that would exceed `room` is continued in a new buffer.
 */
#include "file/xray/xray_calls.h"
#include "base/io/output.h"
#include "wire/layout.h"

/* "perfray", stored in the unused word of the header of basic logs that perfray writes. Basic logs have no magic, and a
   log whose first calls have thread or function 0 looks like another kind of file. */
#define XRAY_BASIC_MARK 0x0079617266726570u

struct xray_form {
    unsigned version; /* 1 to 5; 3 for a basic log */
    bool basic, big_endian;
};

/* Thread of a buffer, and the time of its start. */
struct xray_thread_said {
    int32_t tid, pid;
    bool has_pid;
    int64_t seconds;
    int32_t microseconds;
};

/* Bit positions in the first word of a function record. */
struct call_places {
    unsigned action, function;
};

struct xray_writer {
    struct memory *memory;
    struct output *out, body;
    struct xray_form form;
    struct pfr_context context;
    struct call_places places;
    uint64_t room;   /* maximum bytes of records in a buffer */
    uint64_t stride; /* version 1: distance between the starts of buffers */
    struct xray_thread_said thread;
    bool open;    /* a buffer has begun */
    bool has_cpu; /* the buffer has a NewCPUId */
    uint16_t cpu;
    uint64_t base;  /* ticks that the next delta is added to */
    uint64_t least; /* bytes of the buffer's preamble */
    struct xray_call last;
    bool may_have_argument; /* the last record is a call, or an argument of a call */
    uint64_t buffers, records;
};

/* Writes the header, with the clock and flags of `like`. */
pfr_status xray_writer_open(struct xray_writer *w, const struct xray_form *form, const pfr_header *like,
                            struct memory *memory, struct output *out, pfr_error *err);
/* Ends the current buffer and begins one for this thread. */
pfr_status xray_write_thread(struct xray_writer *w, const struct xray_thread_said *thread, pfr_error *err);
pfr_status xray_write_cpu(struct xray_writer *w, uint16_t cpu, uint64_t tsc, pfr_error *err);
pfr_status xray_write_wrap(struct xray_writer *w, uint64_t tsc, pfr_error *err);
/* PFR_HOLE: the trace form has no such function ids; nothing is written. */
pfr_status xray_write_call(struct xray_writer *w, uint16_t cpu, const struct xray_call *call, pfr_error *err);
/* Writes an argument of the last call; if the last record was not a call or argument, writes nothing. PFR_HOLE: the
   buffer of the call is full, or the call could not be written. */
pfr_status xray_write_argument(struct xray_writer *w, uint64_t value, pfr_error *err);
/* Writes an event; type < 0: a custom event. PFR_HOLE: the trace form has no such events, or no room; nothing is
   written. */
pfr_status xray_write_event(struct xray_writer *w, uint16_t cpu, uint64_t tsc, int32_t type, const pfr_bytes *data,
                            pfr_error *err);
/* Ends the last buffer. */
pfr_status xray_writer_end(struct xray_writer *w, pfr_error *err);
void xray_writer_close(struct xray_writer *w);

#endif

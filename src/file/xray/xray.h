/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_H
#define PFR_FILE_XRAY_H
/*
 * What a pfr_reader has more when the recording is an XRay trace.
 *
 *     xray_open.c     what kind of trace is this; its header
 *     xray_next.c     what the readers share: records and holes, the end
 *     fdr_buffers.c   flight recorder: where buffers begin and end, and what to do where they do not
 *     fdr_stride.c    version 1: how far apart they are
 *     fdr_records.c   flight recorder: one record, the time and thread it has, whether it may stand there
 *     xray_calls.c    flight recorder: runs of function records
 *     xray_clock.c    flight recorder: clock pairs, ticks to times
 *     xray_position.c    places to go on from, for who reads pieces in turn
 *     xray_slice.c    flight recorder: pieces of it, in any order
 *     recorder_notes.c what our own runtime tells in a trace, and how it lies
 *     xray_basic.c    basic logs
 *     xray_profile.c  profiles
 */
#include "file/xray/recorder_losses.h"
#include "file/read/recording.h"
#include "file/xray/xray_clock.h"
#include "wire/fdr_follow.h"

#include <perfray/trace.h>

#define XRAY_HEADER 32u
#define FDR_METADATA 16u /* bytes of a metadata record, without payload */
#define FDR_FUNCTION 8u
#define FDR_BASE_LOST ((uint64_t)1 << 32)
#define FDR_NO_KIND UINT32_MAX /* of fdr_kind_of: no kind that any version knows */

/* Values of types: pfr_trace_type without PFR_TRACE_TYPES. */
enum fdr_kind {
    FDR_NEW_BUFFER,
    FDR_END_OF_BUFFER,
    FDR_NEW_CPU_ID,
    FDR_TSC_WRAP,
    FDR_WALL_CLOCK_TIME,
    FDR_CUSTOM_EVENT,
    FDR_CALL_ARGUMENT,
    FDR_BUFFER_EXTENTS,
    FDR_TYPED_EVENT,
    FDR_PID,
    FDR_KINDS,
    FDR_CALL = 16
};

/* Where the members stand that reading needs, out of the tables, once. */
struct fdr_places {
    uint32_t tid, pid, cpu, cpu_tsc, wrap_tsc, event_size, event_tsc, event_cpu, event_delta, typed_delta, extents,
        call_delta, seconds, microseconds;
    uint32_t action_shift, action_mask, function_shift, function_mask; /* in the word of a function record */
};

/* The buffer at hand. */
struct fdr_buffer {
    bool inside;     /* else the next one is looked for */
    bool told;       /* that the record at r->at is out of place */
    bool told_empty; /* that an event has no bytes */
    uint64_t end;    /* of the buffer; UINT64_MAX: an EndOfBuffer says so */
    uint64_t base;   /* what deltas count from */
    uint16_t cpu;
    uint32_t after;     /* kind of the record before, or FDR_BEGIN */
    uint64_t monotonic; /* ns of a WallClockTime after which nothing happened yet; 0: none */
};

/* The same for the calls of a basic log; pid 0: it has none. */
struct basic_places {
    uint32_t action, function, tsc, tid, pid, cpu;
};

/* A basic log: what an argument belongs to. */
struct basic_call {
    bool any;
    uint32_t function, tid, pid;
};

struct trace {
    pfr_status (*next)(pfr_reader *r, pfr_record *rec, pfr_error *err);
    pfr_trace_point point;
    uint8_t header[XRAY_HEADER]; /* as read: a stream cannot be asked again */
    unsigned version;
    uint64_t stride; /* version 1: bytes from one buffer to the next; 0: they have no fixed size */
    struct fdr_places places;
    uint32_t may_follow[FDR_STATES];
    struct fdr_buffer buffer;
    struct trace_clock clock;
    struct u64_map
        bases; /* version 1: tid -> base at the end of its last buffer; tid + FDR_BASE_LOST -> 1: it is lost */
    struct basic_call call;
    struct basic_places basic;
    uint64_t block_end;                      /* of the profile's block at hand */
    bool told;                               /* that the record at r->at is out of place, of basic logs and profiles */
    uint64_t slots_at, slot_size, slots_end; /* recorder_notes.h; slot_size 0: buffers lie one behind the other */
    uint32_t threshold;                      /* 1 + ns, as our own recorder tells it; 0: not told */
    uint64_t slots_told; /* where the slots end that its control block tells of; 0: it tells of none */
    struct recorder_losses losses;
};

/* The window on r->at; *have < need: the input ends there. */
static inline pfr_status trace_window(pfr_reader *r, size_t need, const uint8_t **bytes, size_t *have, pfr_error *err) {
    return input_window(&r->parts[0].in, r->at, need, bytes, have, err);
}

#define BASIC_RECORD 32u

/* The kind of the record that begins with this byte. */
static inline uint32_t fdr_kind_of(const pfr_reader *r, uint8_t first) {
    const bool metadata = r->context.mirrored ? first >> 7 : first & 1;
    const uint32_t kind = r->context.mirrored ? first & 0x7f : first >> 1;
    return !metadata ? FDR_CALL : kind < FDR_KINDS ? kind : FDR_NO_KIND;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_H
#define PFR_FILE_XRAY_H
/*
 * State of a pfr_reader whose recording is an XRay trace.
 *
 *    xray_open.c           recognises the kind of trace; reads its header
 *    xray_next.c           shared by all formats: records, holes, the end
 *    fdr_buffers.c         flight recorder: bounds of buffers, recovery from damage
 *    fdr_stride.c          version 1: distance between buffers
 *    fdr_records.c         flight recorder: one record, its time and thread, whether it is allowed there
 *    xray_calls.c          runs of function records
 *    xray_clock.c          flight recorder: clock pairs, ticks to times
 *    xray_clock_learn.c    flight recorder: reads all clock pairs of a trace
 *    xray_position.c       saved positions, for reading pieces in turn
 *    xray_slice.c          flight recorder: pieces in any order
 *    xray_buffers_ahead.c  flight recorder: finds buffers without reading their records
 *    recorder_notes.c      notes of perfray's own runtime, and the slots of its traces
 *    recorder_losses.c     losses that the runtime counted
 *    xray_basic.c          basic logs
 *    xray_profile.c        profiles
 *    xray_writer.c         writes traces
 */
#include "file/xray/recorder_losses.h"
#include "file/read/recording.h"
#include "file/xray/xray_clock.h"
#include "wire/fdr_follow.h"

#include <perfray/trace.h>

#define XRAY_HEADER 32u
#define FDR_METADATA 16u /* bytes of a metadata record, without payload */
#define FDR_FUNCTION 8u
#define FDR_FUNCTION_ID_MOST 0x0fffffffu
#define FDR_BASE_LOST ((uint64_t)1 << 32)
#define FDR_NO_KIND UINT32_MAX /* fdr_kind_of returns this for a kind that no version knows */

/* Values of record types: pfr_trace_type without PFR_TRACE_TYPES. */
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

/* Offsets of the members needed for reading, taken from the layout tables once. */
struct fdr_places {
    uint32_t tid, pid, cpu, cpu_tsc, wrap_tsc, event_size, event_tsc, event_cpu, event_delta, typed_delta, extents,
        call_delta, seconds, microseconds;
    uint32_t action_shift, action_mask, function_shift,
        function_mask; /* of the fields in the first word of a function record */
};

/* The current buffer. */
struct fdr_buffer {
    bool inside;         /* false: the next buffer is still to be found */
    bool reported;       /* a record at r->at that is out of place was already reported */
    bool reported_empty; /* an event without bytes was already reported */
    uint64_t end;        /* end of the buffer; UINT64_MAX: EndOfBuffer marks it */
    uint64_t base;       /* ticks that the next delta is added to */
    uint16_t cpu;
    uint32_t after;     /* kind of the previous record, or FDR_BEGIN */
    uint64_t monotonic; /* time in ns of a WallClockTime whose NewCPUId has not come yet; 0: there is no such time */
};

/* Offsets of the members of a call in a basic log; pid 0: the calls have no pid. */
struct basic_places {
    uint32_t action, function, tsc, tid, pid, cpu;
};

/* Basic log: the call that an argument belongs to. */
struct basic_call {
    bool any;
    uint32_t function, tid, pid;
};

struct xray_trace {
    pfr_status (*next)(pfr_reader *r, pfr_record *rec, pfr_error *err);
    pfr_trace_point point;
    uint8_t header[XRAY_HEADER]; /* copy of the header, because a stream cannot be read again */
    unsigned version;
    uint64_t stride; /* version 1: distance in bytes between the starts of two buffers; 0: buffers have no fixed size */
    struct fdr_places places;
    uint32_t may_follow[FDR_STATES];
    struct fdr_buffer buffer;
    struct xray_clock clock;
    struct u64_map bases; /* version 1: tid -> base at the end of its last buffer; tid + FDR_BASE_LOST -> 1: unknown */
    struct basic_call call;
    struct basic_places basic;
    uint64_t block_end; /* end of the current block of a profile */
    bool reported;      /* basic logs and profiles: a record at r->at that is out of place was already reported */
    uint64_t slots_at, slot_size, slots_end; /* see recorder_notes.h; slot_size 0: buffers follow each other directly */
    uint32_t threshold;      /* 1 + the threshold in ns that perfray's own recorder states; 0: not stated */
    uint64_t slots_reported; /* end of the slots according to the control block; 0: it mentions no slots */
    struct recorder_losses losses;
};

/* The bytes in the read buffer from r->at on; *have < need: the input ends there. */
static inline pfr_status xray_window(pfr_reader *r, size_t need, const uint8_t **bytes, size_t *have, pfr_error *err) {
    return input_window(&r->parts[0].in, r->cursor.at, need, bytes, have, err);
}

#define BASIC_RECORD 32u

/* The kind of the record that begins with this byte. */
static inline uint32_t fdr_kind_of(const pfr_reader *r, uint8_t first) {
    const bool metadata = r->context.mirrored ? first >> 7 : first & 1;
    const uint32_t kind = r->context.mirrored ? first & 0x7f : first >> 1;
    return !metadata ? FDR_CALL : kind < FDR_KINDS ? kind : FDR_NO_KIND;
}

/* Whether the record has a payload, whose size is one of its members. */
static inline bool fdr_is_event(uint32_t kind) {
    return kind == FDR_CUSTOM_EVENT || kind == FDR_TYPED_EVENT;
}

#endif

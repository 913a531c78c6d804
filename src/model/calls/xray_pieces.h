/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_XRAY_PIECES_H
#define PFR_MODEL_XRAY_PIECES_H
/*
 * Finds the pieces of each thread of a trace, in one pass over the whole trace. A piece is the records of one thread in
 * one buffer of a flight recorder; in a basic log, consecutive records of one thread.
 */
#include "base/tables/hashmap.h"
#include "file/xray/xray_position.h"
#include "model/calls/xray_order.h"

struct xray_piece {
    uint64_t begin;     /* offset of its buffer; in a basic log, of the piece */
    uint64_t from, end; /* offsets of its first event and of its end */
    uint64_t time;      /* time of its buffer in ticks; 0: not known */
    struct xray_base base;
    uint32_t thread;
    uint32_t events; /* upper bound of its number of events; UINT32_MAX: that many or more */
};

struct xray_pieces {
    struct memory *memory;
    struct xray_piece *at; /* finally sorted by thread, then in the order in which the thread wrote them */
    size_t count, room;
    struct u64_map threads; /* pid and tid -> number */
    struct xray_order_facts facts;
};

/* Maps a record type to the kind of an event: TRACE_ENTER for a call (whatever its action), or the kind of an argument,
   custom or typed event. TRACE_EVENT_KINDS: any other record. No default: the compiler reports a type that is missing
   here. */
static inline unsigned xray_kind_of(uint32_t type) {
    switch ((pfr_trace_type)type) {
    case PFR_TRACE_FUNCTION:
    case PFR_TRACE_BASIC_FUNCTION:
        return TRACE_ENTER;
    case PFR_TRACE_CALL_ARGUMENT:
    case PFR_TRACE_BASIC_ARGUMENT:
        return TRACE_ARGUMENT;
    case PFR_TRACE_CUSTOM_EVENT:
        return TRACE_CUSTOM_EVENT;
    case PFR_TRACE_TYPED_EVENT:
        return TRACE_TYPED_EVENT;
    case PFR_TRACE_NEW_BUFFER:
    case PFR_TRACE_END_OF_BUFFER:
    case PFR_TRACE_NEW_CPU_ID:
    case PFR_TRACE_TSC_WRAP:
    case PFR_TRACE_WALL_CLOCK_TIME:
    case PFR_TRACE_BUFFER_EXTENTS:
    case PFR_TRACE_PID:
    case PFR_TRACE_PROFILE_BLOCK:
    case PFR_TRACE_PROFILE_PATH:
        break;
    }
    return TRACE_EVENT_KINDS;
}

/* Reads the whole trace. xray_pieces_free is required in every case. */
pfr_status xray_pieces_find(struct xray_pieces *pieces, pfr_reader *reader, struct memory *memory,
                            const struct xray_order_watch *watch, pfr_error *err);
void xray_pieces_free(struct xray_pieces *pieces);

#endif

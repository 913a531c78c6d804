/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_XRAY_PIECES_H
#define PFR_MODEL_XRAY_PIECES_H
/*
 * Where the pieces of each thread of a trace are: one read of all of it. A piece is what one thread did in one buffer
 * of the flight recorder; in a basic log, records of one thread that follow each other.
 */
#include "base/tables/hashmap.h"
#include "file/xray/xray_position.h"
#include "model/calls/xray_order.h"

struct xray_piece {
    uint64_t begin;     /* of its buffer; of a basic log its own */
    uint64_t from, end; /* its first event; where it is over */
    uint64_t time;      /* ticks of its buffer; 0: not known */
    struct xray_base base;
    uint32_t thread;
    uint32_t events; /* how many it has, or more; UINT32_MAX: no fewer */
};

struct xray_pieces {
    struct memory *memory;
    struct xray_piece *at; /* in the end by thread, and in the order in which the thread made them */
    size_t count, room;
    struct u64_map threads; /* pid and tid -> number */
    struct xray_order_facts facts;
};

/* What an event, a call or an argument is; TRACE_EVENT_KINDS: any other record. The action of a call is not looked at.
 */
static inline unsigned xray_kind_of(uint32_t type) {
    static const uint8_t kinds[] = {
        [PFR_TRACE_CUSTOM_EVENT - PFR_TRACE_TYPES] = TRACE_CUSTOM_EVENT + 1,
        [PFR_TRACE_TYPED_EVENT - PFR_TRACE_TYPES] = TRACE_TYPED_EVENT + 1,
        [PFR_TRACE_CALL_ARGUMENT - PFR_TRACE_TYPES] = TRACE_ARGUMENT + 1,
        [PFR_TRACE_FUNCTION - PFR_TRACE_TYPES] = TRACE_ENTER + 1,
        [PFR_TRACE_BASIC_FUNCTION - PFR_TRACE_TYPES] = TRACE_ENTER + 1,
        [PFR_TRACE_BASIC_ARGUMENT - PFR_TRACE_TYPES] = TRACE_ARGUMENT + 1,
    };
    const uint32_t n = type - PFR_TRACE_TYPES;
    return n < sizeof kinds && kinds[n] ? kinds[n] - 1u : TRACE_EVENT_KINDS;
}

/* Reads the whole trace. xray_pieces_free is needed in every case. */
pfr_status xray_pieces_find(struct xray_pieces *pieces, pfr_reader *reader, struct memory *memory,
                            const struct xray_order_watch *watch, pfr_error *err);
void xray_pieces_free(struct xray_pieces *pieces);

#endif

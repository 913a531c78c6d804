/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrects records that the kernel made longer than their contents. KSYMBOL and BPF_EVENT are built once and passed to
 * every counter of the CPU that requests them, in all processes. Each counter adds the length of its sample_id to the
 * size in the header, and the size is not restored (Linux 5.1 to at least 6.18, kernel/events/core.c:
 * perf_event_ksymbol_output, perf_event_bpf_output). So all but the first counter get a record that ends with old bytes
 * of the ring, and a reader that locates sample_id from the record's end reads these bytes instead. The correct length
 * is computed from the record's own fields; the bytes after it are omitted.
 */
#include <string.h>
#include "record/rings/ring_mend.h"
#include "record/rings/ring_copy.h"

#define BODY_AT 24u /* end of BPF_EVENT, start of the name in KSYMBOL */

#define IN_SAMPLE_ID                                                                                                   \
    (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |                   \
     PERF_SAMPLE_IDENTIFIER)

/* Records begin at multiples of 8, so their header never wraps around. */
static struct perf_event_header header_at(const struct ring *ring, uint64_t place) {
    struct perf_event_header header;
    memcpy(&header, ring_data(ring) + (place & (ring->bytes - 1)), sizeof header);
    return header;
}

/* Length of a name with its NUL, padded to a multiple of 8; 0: the first `room` bytes contain no NUL. */
static uint32_t name_length(const uint8_t *name, uint32_t room) {
    const uint8_t *const end = memchr(name, '\0', room);
    return end ? ((uint32_t)(end - name) + 8) & ~7u : 0;
}

static uint32_t size_of(const struct ring *ring, uint64_t place, struct perf_event_header header, uint32_t id_size) {
    uint8_t bytes[OVERLONG_MOST];
    if (header.type == PFR_RECORD_BPF_EVENT)
        return BODY_AT + id_size;
    const uint32_t seen = header.size < sizeof bytes ? header.size : sizeof bytes;
    ring_copy(ring, place, bytes, seen);
    const uint32_t name = seen > BODY_AT ? name_length(bytes + BODY_AT, seen - BODY_AT) : 0;
    return name ? BODY_AT + name + id_size : header.size;
}

struct overlong ring_find_overlong(const pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length) {
    const struct perf_event_attr *const attr = &r->events.at[r->tracking].attr;
    const uint32_t id_size = 8 * (uint32_t)__builtin_popcountll(attr->sample_type & IN_SAMPLE_ID);
    for (uint64_t at = 0; at < length;) {
        const struct perf_event_header header = header_at(ring, from + at);
        if (header.size < sizeof header || header.size > length - at)
            break;
        if (header.type == PFR_RECORD_KSYMBOL || header.type == PFR_RECORD_BPF_EVENT) {
            const uint32_t size = size_of(ring, from + at, header, id_size);
            if (size < header.size && size <= OVERLONG_MOST)
                return (struct overlong){at, header.size, size};
        }
        at += header.size;
    }
    return (struct overlong){length, 0, 0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps and drains the rings: one per CPU, or per thread with per_thread. The first counter maps the ring; other
 * counters write into the same ring. The kernel moves data_head past complete records, and the recorder moves data_tail
 * past records that are in the file (linux/perf_event.h, struct perf_event_mmap_page). An overwriting ring is written
 * backward: its newest record is at data_head.
 */
#include <errno.h>
#include <sys/mman.h>
#include "record/rings/rings.h"
#include "record/rings/aux_areas.h"
#include "record/rings/recorder_note.h"
#include "record/rings/ring_copy.h"
#include "record/rings/ring_mend.h"

#define RING_DEFAULT ((uint64_t)1 << 20)
#define RING_USUAL ((uint64_t)512 << 10) /* default size of perf; smaller default rings are reported to the user */

static uint64_t power_of_two(uint64_t bytes) {
    uint64_t size = page_size();
    while (size < bytes && size < (uint64_t)1 << 40)
        size *= 2;
    return size;
}

/* Maps the largest ring possible: kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK limit how much memory a user may
   lock. */
static pfr_status map_ring(pfr_recorder *r, const struct open_counter *counter, struct ring *ring, pfr_error *err) {
    const uint64_t asked = r->ring_bytes;
    const bool backward = r->events.at[counter->event].attr.write_backward;
    for (;;) {
        void *const at = r->kernel->map(r->kernel->context, counter->fd, page_size() + r->ring_bytes, 0, backward);
        if (at != MAP_FAILED) {
            *ring = (struct ring){.page = at,
                                  .bytes = r->ring_bytes,
                                  .fd = counter->fd,
                                  .cpu = counter->cpu,
                                  .tid = counter->tid,
                                  .backward = backward};
            break;
        }
        const int why = errno;
        if ((why != EPERM && why != ENOMEM) || r->ring_bytes <= page_size())
            return why == EPERM
                       ? pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "ring",
                                  "no ring buffer can be mapped; raise kernel.perf_event_mlock_kb or ulimit -l")
                       : pfr_fail_errno(err, why, "map", "a ring");
        r->ring_bytes /= 2;
    }
    if (r->ring_bytes != asked && (r->options.ring_bytes || r->ring_bytes < RING_USUAL))
        recorder_note(r,
                      "ring buffers have %llu KB instead of %llu KB because of the limit of locked memory; to enlarge "
                      "them, raise kernel.perf_event_mlock_kb or ulimit -l",
                      (unsigned long long)r->ring_bytes >> 10, (unsigned long long)asked >> 10);
    return PFR_OK;
}

static struct ring *ring_at(pfr_recorder *r, const struct open_counter *counter) {
    const bool by_thread = r->options.per_thread, backward = r->events.at[counter->event].attr.write_backward;
    for (size_t i = 0; i < r->nr_rings; i++)
        if (r->rings[i].backward == backward &&
            (by_thread ? r->rings[i].tid == counter->tid : r->rings[i].cpu == counter->cpu))
            return &r->rings[i];
    return NULL;
}

static pfr_status add_ring(pfr_recorder *r, struct open_counter *counter, pfr_error *err) {
    if (r->nr_rings == r->rings_room) {
        const size_t room = r->rings_room ? 2 * r->rings_room : 8;
        void *const at = mem_resize(&r->memory, r->rings, r->rings_room, room, sizeof *r->rings);
        if (!at)
            return mem_fail(&r->memory, err, "rings");
        r->rings = at;
        r->rings_room = room;
    }
    struct ring *const ring = &r->rings[r->nr_rings];
    PFR_TRY(map_ring(r, counter, ring, err));
    counter->ring = (uint32_t)r->nr_rings++;
    return PFR_OK;
}

static pfr_status join_ring(pfr_recorder *r, struct open_counter *counter, const struct ring *ring, pfr_error *err) {
    counter->ring = (uint32_t)(ring - r->rings);
    if (r->kernel->control(r->kernel->context, counter->fd, PERF_EVENT_IOC_SET_OUTPUT, (uintptr_t)ring->fd) < 0)
        return pfr_fail_errno(err, errno, "put records into one ring of", r->events.at[counter->event].name);
    return PFR_OK;
}

/* The descriptor of a counter whose task has ended reports a hang-up. All counters are watched, because the task of the
 * counter that mapped the ring may be the first to end. */
static pfr_status watch_counter(pfr_recorder *r, const struct open_counter *counter, pfr_error *err) {
    if (r->kernel->watch(r->kernel->context, r->control.watch, counter->fd) < 0)
        return pfr_fail_errno(err, errno, "watch", "a ring");
    return PFR_OK;
}

pfr_status rings_map_from(pfr_recorder *r, size_t first, pfr_error *err) {
    for (size_t i = first; i < r->nr_counters; i++) {
        struct open_counter *const counter = &r->counters[i];
        struct ring *const ring = ring_at(r, counter);
        PFR_TRY(ring ? join_ring(r, counter, ring, err) : add_ring(r, counter, err));
        PFR_TRY(aux_map(r, counter, &r->rings[counter->ring], err));
        PFR_TRY(watch_counter(r, counter, err));
    }
    return PFR_OK;
}

pfr_status rings_map(pfr_recorder *r, pfr_error *err) {
    r->ring_bytes = power_of_two(r->options.ring_bytes ? r->options.ring_bytes : RING_DEFAULT);
    return rings_map_from(r, 0, err);
}

void rings_free(pfr_recorder *r) {
    for (size_t i = 0; i < r->nr_rings; i++) {
        aux_unmap(r, &r->rings[i]);
        r->kernel->unmap(r->kernel->context, r->rings[i].page, page_size() + r->rings[i].bytes);
    }
    mem_free(&r->memory, r->rings, r->rings_room, sizeof *r->rings);
    r->rings = NULL;
    r->nr_rings = r->rings_room = 0;
}

static uint64_t head_of(const struct ring *ring) {
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* Writes bytes of the ring from position `from` on. They may wrap around. */
static pfr_status write_bytes(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length,
                              pfr_error *err) {
    if (length == 0)
        return PFR_OK;
    const uint64_t at = from & (ring->bytes - 1);
    const uint64_t first = length < ring->bytes - at ? length : ring->bytes - at;
    r->file.raw_bytes += length;
    return pfr_writer_raw(r->file.writer, ring_data(ring) + at, first, length > first ? ring_data(ring) : NULL,
                          length - first, err);
}

static pfr_status write_mended(pfr_recorder *r, const struct ring *ring, uint64_t from, uint16_t size, pfr_error *err) {
    uint8_t bytes[OVERLONG_MOST];
    ring_copy(ring, from, bytes, size);
    memcpy(bytes + offsetof(struct perf_event_header, size), &size, sizeof size);
    r->file.raw_bytes += size;
    return pfr_writer_raw(r->file.writer, bytes, size, NULL, 0, err);
}

/* Writes complete records, with overlong ones corrected. */
static pfr_status write_chunk(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length,
                              pfr_error *err) {
    while (length > 0) {
        const struct overlong o = ring_find_overlong(r, ring, from, length);
        PFR_TRY(write_bytes(r, ring, from, o.before, err));
        if (o.size)
            PFR_TRY(write_mended(r, ring, from + o.before, (uint16_t)o.real, err));
        from += o.before + o.size;
        length -= o.before + o.size;
    }
    return PFR_OK;
}

static pfr_status drain(pfr_recorder *r, struct ring *ring, bool *any, pfr_error *err) {
    const uint64_t head = head_of(ring);
    const uint64_t length = head - ring->tail;
    if (length == 0 || length < r->drain_least)
        return PFR_OK;
    if (length > ring->bytes)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "ring",
                        "a ring buffer of %zu bytes cannot hold the %llu bytes that the kernel reports", ring->bytes,
                        (unsigned long long)length);
    aux_look(r, ring, ring->tail, length);
    PFR_TRY(write_chunk(r, ring, ring->tail, length, err));
    ring->tail = head;
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
    *any = true;
    return PFR_OK;
}

pfr_status rings_drain(pfr_recorder *r, bool *any, pfr_error *err) {
    *any = false;
    for (size_t i = 0; i < r->nr_rings; i++)
        if (!r->rings[i].backward) {
            PFR_TRY(drain(r, &r->rings[i], any, err));
            PFR_TRY(aux_drain(r, &r->rings[i], any, err));
        }
    return PFR_OK;
}

bool rings_are_filling(const pfr_recorder *r) {
    for (size_t i = 0; i < r->nr_rings; i++)
        if (!r->rings[i].backward && head_of(&r->rings[i]) - r->rings[i].tail > r->rings[i].bytes / 2)
            return true;
    return false;
}

pfr_status rings_drain_filling(pfr_recorder *r, pfr_error *err) {
    bool any;
    return rings_are_filling(r) ? rings_drain(r, &any, err) : PFR_OK;
}

static struct perf_event_header header_at(const struct ring *ring, uint64_t place) {
    struct perf_event_header header;
    ring_copy(ring, place, &header, sizeof header);
    return header;
}

/* The number of bytes of complete records from data_head on, at most up to the start of the last snapshot. The oldest
 * record does not count if it is partly overwritten. */
static uint64_t whole_length(const struct ring *ring, uint64_t head) {
    const uint64_t written = 0 - head, before = 0 - ring->tail;
    const uint64_t most = written - before < ring->bytes ? written - before : ring->bytes;
    uint64_t length = 0;
    while (length + sizeof(struct perf_event_header) <= most) {
        const uint64_t size = header_at(ring, head + length).size;
        if (size < sizeof(struct perf_event_header) || length + size > most)
            break;
        length += size;
    }
    return length;
}

static pfr_status snapshot(pfr_recorder *r, struct ring *ring, pfr_error *err) {
    const uint64_t head = head_of(ring);
    const uint64_t length = whole_length(ring, head);
    ring->tail = head;
    return write_chunk(r, ring, head, length, err);
}

pfr_status rings_snapshot(pfr_recorder *r, pfr_error *err) {
    pfr_status status = PFR_OK;
    for (size_t i = 0; i < r->nr_rings && status == PFR_OK; i++) {
        struct ring *const ring = &r->rings[i];
        if (!ring->backward)
            continue;
        r->kernel->control(r->kernel->context, ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
        status = snapshot(r, ring, err);
        r->kernel->control(r->kernel->context, ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
    }
    return status;
}

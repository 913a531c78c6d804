/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AUX areas. An AUX area is a second buffer in the mapping of a counter, after its ring; the hardware writes it.
 * aux_head and aux_tail of struct perf_event_mmap_page (linux/perf_event.h) delimit its new data. The data are written
 * to the file after AUXTRACE records, and AUX records in the ring describe them. If samples contain pieces of the area
 * (AUX area sampling), the area itself is never read; it is mapped so that the kernel overwrites old data.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "record/rings/aux_areas.h"
#include "record/rings/put_record.h"
#include "record/rings/recorder_note.h"
#include "record/rings/ring_copy.h"
#include "wire/layout.h"

#define AREA_DEFAULT ((uint64_t)4 << 20)

enum { TRUNCATED = 1 };

static pfr_status wrong(pfr_error *err, const char *what, const char *text) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, what, "%s", text);
}

/* --- requests --- */

static const struct typed_event *first_aux(const pfr_recorder *r) {
    for (size_t i = 0; i < r->events.count; i++)
        if (r->events.at[i].aux)
            return &r->events.at[i];
    return NULL;
}

/* Whether samples contain pieces of an area; if so, the areas themselves are not read. */
static bool is_sampled(const pfr_recorder *r) {
    for (size_t i = 0; i < r->events.count; i++)
        if (aux_samples(r, &r->events.at[i]))
            return true;
    return false;
}

bool aux_is_recorded(const pfr_recorder *r) {
    return first_aux(r) != NULL;
}

bool aux_samples(const pfr_recorder *r, const struct typed_event *e) {
    return (e->aux_sample || r->options.aux_sample) && !e->aux && r->events.at[e->leader].aux;
}

pfr_status aux_check(const pfr_recorder *r, pfr_error *err) {
    if (r->options.aux_sample && !is_sampled(r))
        return wrong(err, "aux-sample",
                     "--aux-sample needs a group that an event with an AUX area leads, such as {intel_pt//,cycles}");
    if (aux_is_recorded(r) && r->options.overwrite)
        return wrong(err, "overwrite", "an AUX area cannot be combined with --overwrite");
    if (aux_is_recorded(r) && r->options.clock)
        return wrong(err, "clockid",
                     "an AUX area cannot be combined with --clockid: its times are of the kernel's own clock");
    return PFR_OK;
}

static uint64_t area_bytes(const pfr_recorder *r) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
                   request = r->options.aux_bytes ? r->options.aux_bytes : AREA_DEFAULT;
    uint64_t bytes = page;
    while (bytes < request && bytes < (uint64_t)1 << 40)
        bytes *= 2;
    return bytes;
}

void aux_plan(const pfr_recorder *r, struct typed_event *e) {
    struct perf_event_attr *const attr = &e->attr;
    if (aux_samples(r, e)) {
        attr->sample_type |= PERF_SAMPLE_AUX;
        attr->aux_sample_size = e->aux_sample ? e->aux_sample : r->options.aux_sample;
    }
    if (!e->aux)
        return;
    attr->freq = 0;
    attr->sample_period = 1;
    attr->sample_type |= PERF_SAMPLE_TIME | (r->options.per_thread ? 0 : PERF_SAMPLE_CPU);
    attr->aux_watermark = is_sampled(r) ? 0 : (uint32_t)(area_bytes(r) / 4);
}

/* --- mapping --- */

static pfr_status cannot_map(int why, pfr_error *err) {
    if (why == EPERM)
        return pfr_fail(err, PFR_ERR_PERMISSION, PFR_NO_OFFSET, 0, "aux",
                        "no AUX area can be mapped; raise kernel.perf_event_mlock_kb or ulimit -l");
    return pfr_fail_errno(err, why, "map", "an AUX area");
}

pfr_status aux_map(pfr_recorder *r, const struct open_counter *counter, struct ring *ring, pfr_error *err) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), request = area_bytes(r);
    if (!r->events.at[counter->event].aux || ring->aux.at)
        return PFR_OK;
    for (uint64_t bytes = r->aux_bytes ? r->aux_bytes : request; bytes >= page; bytes /= 2) {
        ring->page->aux_offset = page + ring->bytes;
        ring->page->aux_size = bytes;
        void *const at = r->kernel->map(r->kernel->context, counter->fd, bytes, page + ring->bytes, is_sampled(r));
        const int why = errno;
        if (at != MAP_FAILED) {
            ring->aux = (struct aux_area){.at = at, .bytes = bytes, .fd = counter->fd};
            if (bytes != request && r->aux_bytes != bytes)
                recorder_note(r,
                              "AUX areas have %llu KB instead of %llu KB because of the limit of locked memory; to "
                              "enlarge them, raise kernel.perf_event_mlock_kb or ulimit -l",
                              (unsigned long long)bytes >> 10, (unsigned long long)request >> 10);
            r->aux_bytes = bytes;
            return PFR_OK;
        }
        if ((why != EPERM && why != ENOMEM) || bytes == page)
            return cannot_map(why, err);
    }
    return PFR_OK;
}

void aux_unmap(pfr_recorder *r, struct ring *ring) {
    if (ring->aux.at)
        r->kernel->unmap(r->kernel->context, ring->aux.at, ring->aux.bytes);
}

/* --- records at the start --- */

pfr_status aux_put_info(pfr_recorder *r, pfr_error *err) {
    const struct typed_event *const e = first_aux(r);
    uint64_t words[AUX_WORDS] = {0};
    if (!e)
        return PFR_OK;
    words[0] = e->attr.type;
    const struct aux_facts facts = {.page = r->rings[0].page,
                                    .kernel = r->kernel,
                                    .by_cpu = r->targets.by_cpu,
                                    .per_thread = r->options.per_thread};
    const size_t count = 1 + e->aux->put_info(&facts, words + 1);
    const struct pfr_rec_auxtrace_info info = {.type = e->aux->type,
                                               .priv = {.at = (const uint8_t *)words, .count = count}};
    return put_record(r, PFR_RECORD_AUXTRACE_INFO, 0, &info, sizeof info, err);
}

/* Writes how ticks are converted to time, if the kernel provides the conversion. */
pfr_status aux_put_clock(pfr_recorder *r, pfr_error *err) {
    const struct perf_event_mmap_page *const page = r->nr_rings ? r->rings[0].page : NULL;
    static const uint8_t unused[6];
    if (!page || !page->cap_user_time_zero)
        return PFR_OK;
    const struct pfr_rec_time_conv clock = {
        .time_shift = page->time_shift,
        .time_mult = page->time_mult,
        .time_zero = page->time_zero,
        .time_cycles = page->cap_user_time_short ? page->time_cycles : 0,
        .time_mask = page->cap_user_time_short ? page->time_mask : 0,
        .cap_user_time_zero = true,
        .cap_user_time_short = page->cap_user_time_short,
        .reserved = {.at = unused, .length = sizeof unused},
    };
    return put_record(r, PFR_RECORD_TIME_CONV, 0, &clock, sizeof clock, err);
}

/* --- draining --- */

static uint64_t ticks(void) {
#if defined __x86_64__ || defined __i386__
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

/* Writes the bytes from `from` on, which may wrap around, padded to a multiple of 8. */
static pfr_status put_chunk(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length, pfr_error *err) {
    static const uint8_t zeros[8];
    const struct aux_area *const aux = &ring->aux;
    const uint64_t at = from & (aux->bytes - 1), padding = -length & 7;
    const uint64_t first = length < aux->bytes - at ? length : aux->bytes - at;
    const struct pfr_rec_auxtrace record = {.size = length + padding,
                                            .offset = from,
                                            .reference = ticks(),
                                            .idx = (uint32_t)(ring - r->rings),
                                            .tid = (uint32_t)ring->tid,
                                            .cpu = (uint32_t)ring->cpu};
    PFR_TRY(put_record(r, PFR_RECORD_AUXTRACE, 0, &record, sizeof record, err));
    PFR_TRY(pfr_writer_payload(r->file.writer, aux->at + at, first, err));
    PFR_TRY(pfr_writer_payload(r->file.writer, aux->at, length - first, err));
    return pfr_writer_payload(r->file.writer, zeros, padding, err);
}

pfr_status aux_drain(pfr_recorder *r, struct ring *ring, bool *any, pfr_error *err) {
    struct aux_area *const aux = &ring->aux;
    if (!aux->at || is_sampled(r))
        return PFR_OK;
    const uint64_t head = __atomic_load_n(&ring->page->aux_head, __ATOMIC_ACQUIRE), length = head - aux->tail;
    if (length == 0)
        return PFR_OK;
    if (length > aux->bytes)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "aux",
                        "an AUX area of %zu bytes cannot hold the %llu bytes that the kernel reports", aux->bytes,
                        (unsigned long long)length);
    PFR_TRY(put_chunk(r, ring, aux->tail, length, err));
    aux->tail = head;
    __atomic_store_n(&ring->page->aux_tail, head, __ATOMIC_RELEASE);
    *any = true;
    if (r->control.enabled) /* the kernel stops the counter when its area is full; this restarts it */
        r->kernel->control(r->kernel->context, aux->fd, PERF_EVENT_IOC_ENABLE, 0);
    return PFR_OK;
}

/* Counts the AUX records that report a full area, among the bytes of a ring that are about to be written. */
void aux_look(pfr_recorder *r, const struct ring *ring, uint64_t from, uint64_t length) {
    struct {
        struct perf_event_header header;
        uint64_t offset, size, flags;
    } record;
    if (!ring->aux.at)
        return;
    for (uint64_t at = 0; at + sizeof record.header <= length; at += record.header.size) {
        ring_copy(ring, from + at, &record, at + sizeof record <= length ? sizeof record : sizeof record.header);
        if (record.header.size < sizeof record.header)
            return;
        r->result.aux_truncated += record.header.type == PFR_RECORD_AUX && record.header.size >= sizeof record &&
                                   at + sizeof record <= length && record.flags & TRUNCATED;
    }
}

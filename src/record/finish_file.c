/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a file: LOST_SAMPLES for each counter that lost any, as read(2) tells (PERF_FORMAT_LOST), the build-ids of
 * objects that samples hit, the span of their times; then sizes and features.
 */
#include <string.h>
#include "base/output.h"
#include "record/recorder_parts.h"
#include "wire/feature_bits.h"

enum { TYPE_LOST_SAMPLES = 13 };

/* The numbers in front of `lost` in what read(2) gives: value, and what read_format asks for. */
static size_t lost_at(uint64_t format) {
    size_t at = 1;
    at += (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
    at += (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
    at += (format & PERF_FORMAT_ID) != 0;
    return at;
}

/* Of a group the leader gives all: nr, times, then value, id, lost of each. */
static uint64_t lost_in_group(const uint64_t *words, size_t count, uint64_t format, uint64_t id) {
    size_t at = 1;
    at += (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
    at += (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
    for (uint64_t i = 0; i < words[0] && at + 3 <= count; i++, at += 3)
        if (words[at + 1] == id)
            return words[at + 2];
    return 0;
}

static uint64_t lost_of(pfr_recorder *r, const struct counter *counter) {
    const uint64_t format = r->events.at[counter->event].attr.read_format;
    uint64_t words[3 + 3 * 64];
    if (!(format & PERF_FORMAT_LOST))
        return 0;
    const ssize_t got = r->kernel->read(r->kernel->context, counter->fd, words, sizeof words);
    const size_t count = got > 0 ? (size_t)got / sizeof *words : 0;
    if (count == 0)
        return 0;
    if (format & PERF_FORMAT_GROUP)
        return lost_in_group(words, count, format, counter->id);
    return count > lost_at(format) ? words[lost_at(format)] : 0;
}

static pfr_status put_lost(pfr_recorder *r, const struct counter *counter, uint64_t lost, pfr_error *err) {
    const struct pfr_rec_lost_samples body = {.lost = lost};
    const struct pfr_rec_sample_id id = {
        .id = counter->id, .identifier = counter->id, .cpu = (uint32_t)counter->cpu, .tid = (uint32_t)counter->tid};
    return pfr_writer_put(r->writer, counter->event, TYPE_LOST_SAMPLES, 0, &body, sizeof body, &id, err);
}

/* The kernel's counts go on from file to file; each file has its own part. */
static pfr_status put_losses(pfr_recorder *r, pfr_error *err) {
    for (size_t i = 0; i < r->nr_counters; i++) {
        struct counter *const counter = &r->counters[i];
        const uint64_t lost = lost_of(r, counter);
        const uint64_t here = lost > counter->lost ? lost - counter->lost : 0;
        if (here)
            PFR_TRY(put_lost(r, counter, here, err));
        counter->lost += here;
        r->result.lost += here;
    }
    return PFR_OK;
}

static pfr_status put_times(pfr_recorder *r, uint64_t first, uint64_t last, pfr_error *err) {
    const uint64_t times[2] = {first, last};
    return pfr_writer_feature(r->writer, BIT_SAMPLE_TIME, times, sizeof times, err);
}

static pfr_status finish(pfr_recorder *r, pfr_error *err) {
    uint64_t first = 0, last = 0;
    PFR_TRY(put_losses(r, err));
    PFR_TRY(pfr_writer_flush(r->writer, err));
    if (r->options.build_ids == PFR_BUILD_IDS_OF_HITS && strcmp(r->path, "-") != 0)
        PFR_TRY(hits_put(r, &first, &last, err));
    PFR_TRY(put_times(r, first, last, err));
    r->result.bytes += pfr_writer_size(r->writer);
    r->result.plain_bytes += r->options.compress ? r->raw_bytes : 0;
    return pfr_writer_finish(r->writer, err);
}

pfr_status file_finish(pfr_recorder *r, pfr_error *err) {
    const pfr_status status = finish(r, err);
    pfr_writer_close(r->writer);
    r->writer = NULL;
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ticks to times: see xray_clock.h. */
#include "file/xray/xray_clock.h"

#include "file/xray/xray.h"

#define NS_PER_SECOND 1000000000u

/* Converts ticks to whole nanoseconds, clamped to 2^64 - 1. */
static uint64_t ns_of_ticks(uint64_t ticks, uint64_t frequency) {
    const uint64_t seconds = ticks / frequency, rest = ticks % frequency;
    if (seconds < UINT64_MAX / NS_PER_SECOND && frequency <= UINT64_MAX / NS_PER_SECOND)
        return seconds * NS_PER_SECOND + rest * NS_PER_SECOND / frequency;
    const unsigned __int128 ns = (unsigned __int128)ticks * NS_PER_SECOND / frequency;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

struct xray_clock xray_clock_of(const pfr_reader *r) {
    struct xray_clock clock = {.frequency = r->header.cycle_frequency};
    if (!r->trace)
        return clock;
    clock = r->trace->clock;
    if (clock.offset < 0 && ns_of_ticks(clock.first, clock.frequency) < -(uint64_t)clock.offset)
        clock.has_pair = false;
    if (!clock.has_pair)
        clock.offset = clock.latest = 0;
    return clock;
}

uint64_t xray_clock_ns(const struct xray_clock *clock, uint64_t tsc) {
    if (clock->frequency == 0)
        return tsc;
    const uint64_t ns = ns_of_ticks(tsc, clock->frequency), distance = (uint64_t)clock->offset;
    if (clock->offset < 0)
        return ns > -distance ? ns + distance : 0;
    return ns > UINT64_MAX - distance ? UINT64_MAX : ns + distance;
}

const char *xray_clock_name(const struct xray_clock *clock) {
    return clock->frequency == 0 ? "ticks" : clock->has_pair ? "monotonic" : "tsc";
}

void xray_clock_add(struct xray_clock *clock, uint64_t tsc, uint64_t monotonic) {
    const uint64_t ns = clock->frequency ? ns_of_ticks(tsc, clock->frequency) : UINT64_MAX;
    clock->first = tsc < clock->first ? tsc : clock->first;
    if (ns > INT64_MAX || monotonic > INT64_MAX || monotonic == 0)
        return;
    const int64_t offset = (int64_t)monotonic - (int64_t)ns;
    clock->offset = !clock->has_pair || offset < clock->offset ? offset : clock->offset;
    clock->latest = !clock->has_pair || offset > clock->latest ? offset : clock->latest;
    clock->has_pair = true;
}

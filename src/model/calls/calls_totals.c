/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of calls, added up over the workers. */
#include "model/calls/calls_totals.h"

uint64_t calls_ns(uint64_t ticks, uint64_t frequency) {
    if (frequency == 0)
        return ticks;
    const unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / frequency;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

#define NS_PER_SECOND 1000000000u

uint64_t calls_sum_ns(unsigned __int128 ticks, uint64_t frequency) {
    if (frequency) /* converts whole seconds first, so that sums below 2^64 seconds do not overflow */
        ticks = ticks / frequency > UINT64_MAX
                    ? UINT64_MAX
                    : ticks / frequency * NS_PER_SECOND + ticks % frequency * NS_PER_SECOND / frequency;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

int64_t calls_self_ns(__int128 ticks, uint64_t frequency) {
    const uint64_t size = calls_sum_ns((unsigned __int128)(ticks < 0 ? -ticks : ticks), frequency);
    const int64_t most = size > INT64_MAX ? INT64_MAX : (int64_t)size;
    return ticks < 0 ? -most : most;
}

void calls_report_hole(const struct calls_request *request, struct calls_totals *totals, const pfr_error *hole) {
    totals->lossy = true;
    if (request->hole)
        request->hole(request->context, hole);
}

void calls_totals_add(struct calls_totals *to, const struct calls_totals *from) {
    to->calls += from->calls;
    to->open += from->open;
    to->lone += from->lone;
    to->backward += from->backward;
    to->custom += from->custom;
    to->typed += from->typed;
    to->arguments += from->arguments;
    to->untimed += from->untimed;
    to->too_deep += from->too_deep;
    to->limited += from->limited;
    to->threads += from->threads;
    to->shortest = from->shortest < to->shortest ? from->shortest : to->shortest;
    to->first = from->first < to->first ? from->first : to->first;
    to->last = from->last > to->last ? from->last : to->last;
}

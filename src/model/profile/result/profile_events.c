/* SPDX-License-Identifier: Apache-2.0 */
/* Events and counted quantities: see profile.h. Events of a trace are expressed in terms of perf.data. */
#include "file/read/recording.h"
#include "file/read/stored.h"
#include "model/calls/calls.h"
#include "model/profile/result/profile.h"
#include "model/profile/result/sample_waits.h"

enum { TYPE_SOFTWARE = 1 };

#define CALLS_HOLD (PFR_SAMPLE_IP | PFR_SAMPLE_TID | PFR_SAMPLE_CALLCHAIN | PFR_SAMPLE_PERIOD)

static const pfr_event call_time = {.attr = {.type = TYPE_SOFTWARE, .sample_type = CALLS_HOLD},
                                    .name = "call-time",
                                    .rebuilt = "call-time",
                                    .unit = "ns",
                                    .scale = 1};
static const pfr_event call_ticks = {.attr = {.type = TYPE_SOFTWARE, .sample_type = CALLS_HOLD},
                                     .name = "call-ticks",
                                     .rebuilt = "call-ticks",
                                     .unit = "ticks",
                                     .scale = 1};

uint32_t profile_event_count(const pfr_reader *reader) {
    return reader->trace ? 1 : pfr_event_count(reader);
}

const pfr_event *profile_event(const pfr_reader *reader, uint32_t event) {
    const struct sample_waits *waits = reader->waits;
    if (waits && event < waits->nr_events && waits->shown[event].name)
        return &waits->shown[event];
    if (!reader->trace)
        return pfr_get_event(reader, event);
    return event > 0 ? NULL : reader->header.cycle_frequency ? &call_time : &call_ticks;
}

const struct profile_measure *profile_measure(const pfr_reader *reader) {
    static const struct profile_measure samples = {"Samples", "Event count (approx.)", "samples", false, true};
    static const struct profile_measure time = {"Calls", "Time in calls, ns", "calls", true, false};
    static const struct profile_measure ticks = {"Calls", "Time in calls, ticks", "calls", true, false};
    const bool traced = reader->trace || (reader->stored && reader->stored->traced);
    return !traced ? &samples : reader->header.cycle_frequency ? &time : &ticks;
}

uint64_t profile_amount(const struct profile *p, uint64_t weight) {
    return calls_ns(weight, p->ticks_per_second);
}

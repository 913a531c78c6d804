/* SPDX-License-Identifier: Apache-2.0 */
/* Events and counted quantities: see profile.h. The events of a trace are described like those of perf.data. */
#include "file/read/recording.h"
#include "file/read/stored.h"
#include "model/calls/calls.h"
#include "model/profile/result/profile.h"
#include "model/profile/result/sample_waits.h"

#include <string.h>

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

/* "cpu-clock:pppH" and "cpu/cycles/u" are "cpu-clock" and "cpu/cycles/" with modifiers, see perf-list(1). */
static bool has_base(const char *name, const char *typed) {
    const size_t length = strlen(typed);
    if (length == 0 || strncmp(name, typed, length) != 0)
        return false;
    const char *const rest = name + length + (name[length] == ':' && typed[length - 1] != '/');
    return (rest > name + length || typed[length - 1] == '/') && *rest && !rest[strspn(rest, "ukhGHIpPSDWeb")];
}

static bool is_exactly(const struct event_names *names, const char *typed) {
    return strcmp(names->name, typed) == 0 || strcmp(names->rebuilt, typed) == 0;
}

static bool is_without_modifiers(const struct event_names *names, const char *typed) {
    return has_base(names->name, typed) || has_base(names->rebuilt, typed);
}

bool event_is_meant(const char *typed, uint32_t number, uint32_t count,
                    struct event_names (*names)(const void *of, uint32_t number), const void *of) {
    const struct event_names own = names(of, number);
    if (is_exactly(&own, typed) || !is_without_modifiers(&own, typed))
        return is_exactly(&own, typed);
    for (uint32_t i = 0; i < count; i++) {
        const struct event_names other = names(of, i);
        if (i != number && (is_exactly(&other, typed) || is_without_modifiers(&other, typed)))
            return false;
    }
    return true;
}

static struct event_names names_of(const void *reader, uint32_t event) {
    const pfr_event *const e = profile_event(reader, event);
    return e ? (struct event_names){e->name, e->rebuilt} : (struct event_names){"", ""};
}

bool profile_event_is(const pfr_reader *reader, uint32_t event, const char *typed) {
    return event_is_meant(typed, event, profile_event_count(reader), names_of, reader);
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

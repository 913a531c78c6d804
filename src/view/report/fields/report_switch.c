/* SPDX-License-Identifier: Apache-2.0 */
/* See report_switch.h. The rules are those of perfray script in time order (script_switch.c). */
#include "view/report/fields/report_switch.h"

#include "base/memory/fail.h"
#include "base/tables/radix.h"

#include <perfray/constants.h>
#include <string.h>

enum { SWITCHES_ON = 1, SWITCHES_OFF = 2 };

/* The samples of the switching events, in file order. */
struct switches {
    struct report *report;
    struct radix_item *at; /* key: time; value: SWITCHES_ON, SWITCHES_OFF or both */
    size_t count, room;
    int32_t last_event; /* event of the last sample, and the role of that event: cached, because consecutive samples
                           mostly have the same event */
    unsigned role;
};

static bool is_named(const pfr_event *event, const char *name) {
    return name && strcmp(event->name, name) == 0;
}

static unsigned role_of(struct switches *s, const pfr_record *rec) {
    const pfr_report_options *o = s->report->options;
    if (rec->event != s->last_event) {
        const pfr_event *event = rec->event < 0 ? NULL : profile_event(s->report->reader, (uint32_t)rec->event);
        s->role = !event ? 0
                         : (is_named(event, o->switch_on) ? SWITCHES_ON : 0u) |
                               (is_named(event, o->switch_off) ? SWITCHES_OFF : 0u);
        s->last_event = rec->event;
    }
    return s->role;
}

static pfr_status add_switch(struct switches *s, const pfr_record *rec, unsigned role, pfr_error *err) {
    pfr_value time;
    if (pfr_get(rec, "time", &time, NULL) != PFR_OK)
        return PFR_OK; /* the sample is damaged; the counting pass reports it */
    if (time.kind != PFR_VALUE_UNSIGNED)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "samples have no time (record -T): --switch-on and --switch-off need it");
    struct radix_item *grown = mem_grow(s->report->memory, s->at, s->count, &s->room, 64, sizeof *s->at);
    if (!grown)
        return mem_fail(s->report->memory, err, "report");
    s->at = grown;
    s->at[s->count++] = (struct radix_item){time.as.u, role};
    return PFR_OK;
}

static pfr_status find_switches(struct switches *s, pfr_error *err) {
    pfr_reader *const reader = s->report->reader;
    pfr_record rec;
    pfr_status st;
    PFR_TRY(pfr_rewind(reader, err));
    while ((st = pfr_next(reader, &rec, err)) >= 0 && st != PFR_END) {
        const unsigned role = st == PFR_OK && rec.type == PFR_RECORD_SAMPLE ? role_of(s, &rec) : 0;
        if (role)
            PFR_TRY(add_switch(s, &rec, role, err));
    }
    return st < 0 ? st : pfr_rewind(reader, err);
}

static pfr_status check_event(const struct report *r, const char *which, const char *name, pfr_error *err) {
    bool found = !name;
    for (uint32_t i = 0; !found && i < profile_event_count(r->reader); i++)
        found = is_named(profile_event(r->reader, i), name);
    return found ? PFR_OK
                 : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "events",
                            "%s event not found (%.80s); perfray info --events lists them", which, name);
}

/* Makes the time ranges. This excludes the switching samples, and other samples with exactly the same time. */
static pfr_status make_ranges(struct report *r, const struct radix_item *at, size_t count, pfr_error *err) {
    bool on = !r->options->switch_on, over = false;
    uint64_t from = 0;
    for (size_t i = 0; i < count && !over; i++) {
        if (!(at[i].value & (on ? SWITCHES_OFF : SWITCHES_ON)))
            continue;
        if (on && at[i].key > from)
            PFR_TRY(ranges_add(r->memory, &r->filters.switched, from, at[i].key - 1, err));
        on = !on;
        from = at[i].key == UINT64_MAX ? UINT64_MAX : at[i].key + 1;
        over = !r->options->switch_on; /* without switch_on, nothing can switch the samples on again */
    }
    return on ? ranges_add(r->memory, &r->filters.switched, from, UINT64_MAX, err) : PFR_OK;
}

static pfr_status sort_and_make(struct switches *s, pfr_error *err) {
    struct memory *const memory = s->report->memory;
    struct radix_item *spare = mem_alloc(memory, s->count, sizeof *spare);
    if (!spare)
        return mem_fail(memory, err, "report");
    const pfr_status st = make_ranges(s->report, s->count ? radix_sort(s->at, spare, s->count) : spare, s->count, err);
    mem_free(memory, spare, s->count, sizeof *spare);
    return st;
}

pfr_status switch_learn(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    struct switches s = {.report = r, .last_event = PFR_NO_EVENT};
    r->filters.switched.any = !o->switch_on && !o->switch_off;
    if (r->filters.switched.any)
        return PFR_OK;
    pfr_status st = find_switches(&s, err);
    if (st >= 0)
        st = check_event(r, "switch-on", o->switch_on, err);
    if (st >= 0)
        st = check_event(r, "switch-off", o->switch_off, err);
    if (st >= 0)
        st = sort_and_make(&s, err);
    mem_free(r->memory, s.at, s.room, sizeof *s.at);
    return st;
}

void switch_free(struct report *r) {
    mem_free(r->memory, r->filters.switched.at, r->filters.switched.room, sizeof *r->filters.switched.at);
}

bool switch_is_on(const struct report *r, uint64_t time) {
    size_t low = 0, high = r->filters.switched.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->filters.switched.at[middle].last < time)
            low = middle + 1;
        else
            high = middle;
    }
    return r->filters.switched.any || (low < r->filters.switched.count && r->filters.switched.at[low].first <= time);
}

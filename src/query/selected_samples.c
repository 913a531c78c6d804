/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are counted:
 *
 *     cpus  0,2-3    pids, tids  12,13    comms  sh,make    time  12.5,13 or 10%-20%    event  cycles
 *
 * Lists are read as script's are (query/ranges.h), cpus and times by what reports have (query/sample_filter.h).
 */
#include "query/selected_samples.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

static pfr_status read_event(struct choice *c, const char *name, const pfr_reader *reader, pfr_error *err) {
    bool any = false;
    if (!name)
        return PFR_OK;
    c->nr_events = profile_event_count(reader);
    c->events = mem_zeroed(c->memory, c->nr_events, sizeof *c->events);
    if (!c->events)
        return mem_fail(c->memory, err, "filter");
    for (uint32_t i = 0; i < c->nr_events; i++) {
        const pfr_event *event = profile_event(reader, i);
        c->events[i] = strcmp(event->name, name) == 0 || strcmp(event->rebuilt, name) == 0;
        any = any || c->events[i];
    }
    return any ? PFR_OK
               : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                          "there is no event '%.60s'; perfray info --events lists them", name);
}

pfr_status choice_read(struct choice *c, const pfr_selection *of, pfr_reader *reader, struct memory *memory,
                       pfr_error *err) {
    *c = (struct choice){.memory = memory, .comms = of->comms};
    PFR_TRY(samples_choose(&c->kept, reader, of->cpus, of->time, err));
    PFR_TRY(script_ranges_read(c->memory, &c->pids, "pid", of->pids, err));
    PFR_TRY(script_ranges_read(c->memory, &c->tids, "tid", of->tids, err));
    return read_event(c, of->event, reader, err);
}

void choice_free(struct choice *c) {
    struct script_ranges *const lists[] = {&c->pids, &c->tids};
    for (size_t i = 0; c->memory && i < sizeof lists / sizeof *lists; i++)
        mem_free(c->memory, lists[i]->at, lists[i]->room, sizeof *lists[i]->at);
    samples_free(&c->kept);
    if (c->memory)
        mem_free(c->memory, c->events, c->nr_events, sizeof *c->events);
}

bool choice_is_everything(const struct choice *c) {
    return !c->kept.any && c->pids.any && c->tids.any && !c->events;
}

bool choice_wants(const struct choice *c, const struct profile_sample *sample) {
    return (!c->events || (sample->event < c->nr_events && c->events[sample->event])) &&
           script_ranges_have(&c->pids, sample->pid) && script_ranges_have(&c->tids, sample->tid) &&
           (!c->kept.any || samples_keep(&c->kept, sample));
}

bool choice_wants_comm(const struct choice *c, const char *comm, size_t length) {
    for (const char *at = c->comms ? c->comms : ""; *at; at += *at == ',') {
        const size_t own = strcspn(at, ",");
        if (own == length && memcmp(at, comm, length) == 0)
            return true;
        at += own;
    }
    return !c->comms;
}

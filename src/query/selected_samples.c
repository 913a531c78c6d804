/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the samples to count: those that belong to the events with the given name and pass the filter. Comms are
 * checked later, because they are known only after counting.
 */
#include "query/selected_samples.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "model/sched/wait_event.h"

static bool is_called(const pfr_reader *reader, uint32_t number, const char *name) {
    return profile_event_is(reader, number, name);
}

static pfr_status no_such_event(const char *name, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                    "there is no event '%.60s'; perfray info --events lists them", name);
}

static bool is_stream(const pfr_reader *reader) {
    return !reader->trace && pfr_get_header(reader)->container == PFR_PIPE;
}

static pfr_status read_event(struct choice *c, const char *name, const pfr_reader *reader, pfr_error *err) {
    bool any = false;
    if (!name)
        return PFR_OK;
    if (is_stream(reader)) {
        c->event = name;
        c->reader = reader;
        return PFR_OK;
    }
    c->nr_events = profile_event_count(reader);
    c->events = mem_zeroed(c->filter.memory, c->nr_events, sizeof *c->events);
    if (!c->events)
        return mem_fail(c->filter.memory, err, "filter");
    for (uint32_t i = 0; i < c->nr_events; i++) {
        c->events[i] = is_called(reader, i, name);
        any = any || c->events[i];
    }
    return any ? PFR_OK : no_such_event(name, err);
}

pfr_status choice_check(const struct choice *c, pfr_error *err) {
    for (uint32_t i = 0; c->event && i < profile_event_count(c->reader); i++)
        if (is_called(c->reader, i, c->event))
            return PFR_OK;
    return c->event ? no_such_event(c->event, err) : PFR_OK;
}

pfr_status choice_read(struct choice *c, const pfr_selection *of, pfr_reader *reader, struct memory *memory,
                       pfr_error *err) {
    const struct sample_lists lists = {.cpus = of->cpus, .pids = of->pids, .tids = of->tids, .comms = of->comms};
    *c = (struct choice){.waits = reader->waits ? NULL : reader};
    PFR_TRY(wait_event_begin(reader, of->event, of->note, of->context, err));
    PFR_TRY(sample_filter_read(&c->filter, memory, &lists, err));
    PFR_TRY(samples_check_cpus(reader, of->cpus, err));
    PFR_TRY(sample_filter_read_time_of(&c->filter, of->time, reader, err));
    return read_event(c, of->event, reader, err);
}

void choice_free(struct choice *c) {
    if (c->filter.memory)
        mem_free(c->filter.memory, c->events, c->nr_events, sizeof *c->events);
    sample_filter_free(&c->filter);
    if (c->waits)
        wait_event_end(c->waits);
}

bool choice_is_everything(const struct choice *c) {
    return !sample_filter_has_numbers(&c->filter) && !c->events && !c->event;
}

bool choice_wants_event(const struct choice *c, uint32_t event) {
    if (c->event)
        return is_called(c->reader, event, c->event);
    return !c->events || (event < c->nr_events && c->events[event]);
}

bool choice_wants(const struct choice *c, const struct profile_sample *sample) {
    const struct sample_facts facts = sample_facts_of(sample);
    return choice_wants_event(c, sample->event) && sample_filter_passes(&c->filter, &facts);
}

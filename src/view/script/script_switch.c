/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints only samples between two events: one switches printing on, the other off, any number of times. If no
 * switch-on event is given, printing is on until the first switch-off event, and off from then on. The switching events
 * themselves are printed on request.
 */
#include "view/script/script_switch.h"

#include "base/memory/fail.h"

static const struct script_event *find_event(const struct script *s, const char *name) {
    for (uint32_t i = 0; name && i < s->shared->nr_events; i++)
        if (strcmp(s->shared->events[i].event->name, name) == 0)
            return &s->shared->events[i];
    return NULL;
}

static pfr_status take_event(struct script *s, const char *which, const char *name, const struct script_event **event,
                             pfr_error *err) {
    *event = find_event(s, name);
    if (!name || *event)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "events", "%s event not found (%.80s)", which, name);
}

pfr_status script_switch_make(struct script *s, pfr_error *err) {
    PFR_TRY(take_event(s, "switch-on", s->shared->options->switch_on, &s->sequence.turns.on, err));
    return take_event(s, "switch-off", s->shared->options->switch_off, &s->sequence.turns.off, err);
}

bool script_is_on(struct script *s, const struct moment *m) {
    struct script_turns *const turns = &s->sequence.turns;
    const bool was_on = turns->is_on || !s->shared->options->switch_on;
    const bool turns_it = m->event == (was_on ? turns->off : turns->on);
    if (turns->is_over || !turns_it)
        return was_on && !turns->is_over;
    turns->is_on = !was_on;
    turns->is_over = !s->shared->options->switch_on;
    return s->shared->options->show_switches;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters. The options -c, -d, -S, --pid and --tid, whose values are comma-separated lists, select the samples that
 * become rows. Samples excluded by these options still count in totals, unless --percentage relative or -U is given. -C
 * and --time exclude samples completely: profile_request.keep.
 */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_filter.h"
#include "view/report/fields/report_groups.h"
#include "view/report/fields/report_cells.h"
#include "view/report/fields/report_switch.h"

#include "base/memory/fail.h"

#include <string.h>

pfr_status filter_choose(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    const struct sample_lists lists = {
        .pids = o->pids, .tids = o->tids, .comms = o->comms, .objects = o->objects, .symbols = o->symbols};
    r->relative = o->relative || o->hide_unresolved; /* as in perf, hidden samples do not count at all */
    PFR_TRY(sample_filter_read(&r->filters.rows, r->memory, &lists, err));
    r->filters.has_rows =
        sample_filter_has_numbers(&r->filters.rows) || sample_filter_has_names(&r->filters.rows) || o->hide_unresolved;
    return PFR_OK;
}

bool report_wants_event(const struct report *r, uint32_t number) {
    return !r->options->event || profile_event_is(r->reader, number, r->options->event);
}

pfr_status filter_check_event(const struct report *r, pfr_error *err) {
    const uint32_t count = profile_event_count(r->reader);
    uint32_t i = 0;
    while (i < count && !report_wants_event(r, i))
        i++;
    return !r->options->event || i < count
               ? PFR_OK
               : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                          "there is no event '%.60s'; perfray info --events lists them", r->options->event);
}

/* Reduces the selected CPUs to those of the selected sockets. */
static pfr_status keep_sockets(struct report *r, pfr_error *err) {
    struct ranges sockets = {.any = false};
    const struct ranges cpus = r->filters.kept.cpus;
    pfr_status st = ranges_read(r->memory, &sockets, "socket-filter", r->options->sockets, err);
    if (st >= 0)
        st = samples_need_cpu(r->reader, "socket-filter", err);
    if (st >= 0)
        st = report_learn_sockets(r, err);
    if (st >= 0 && !r->nr_cpus)
        st = pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sockets",
                      "the CPU topology was not recorded; select CPUs with --cpu");
    r->filters.kept.cpus = (struct ranges){.any = false};
    for (uint32_t cpu = 0; st >= 0 && cpu < r->nr_cpus; cpu++)
        if (ranges_have(&cpus, cpu) && r->socket_of[cpu] >= 0 && ranges_have(&sockets, (uint32_t)r->socket_of[cpu]))
            st = ranges_add(r->memory, &r->filters.kept.cpus, cpu, cpu, err);
    mem_free(r->memory, sockets.at, sockets.room, sizeof *sockets.at);
    mem_free(r->memory, cpus.at, cpus.room, sizeof *cpus.at);
    return st;
}

pfr_status filter_choose_samples(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    PFR_TRY(sample_filter_read(&r->filters.kept, r->memory, &(struct sample_lists){.cpus = o->cpus}, err));
    PFR_TRY(samples_check_cpus(r->reader, o->cpus, err));
    if (o->sockets)
        PFR_TRY(keep_sockets(r, err));
    PFR_TRY(sample_filter_read_time_of(&r->filters.kept, o->time, r->reader, err));
    return switch_learn(r, err);
}

void filter_free(struct report *r) {
    sample_filter_free(&r->filters.rows);
    sample_filter_free(&r->filters.kept);
    switch_free(r);
}

static bool keeps_comm(const struct report *r, const struct profile_group *group) {
    const uint64_t comm = profile_value(r->profile, group, PROFILE_COMM);
    const struct intern_text text = intern_get(&r->profile->texts, (uint32_t)comm);
    return sample_filter_wants_comm(&r->filters.rows, (const char *)text.bytes, text.length);
}

/* Compares the short name and the path. */
static bool keeps_dso(const struct report *r, const struct profile_frame *f) {
    if (!f || f->object == NO_OBJECT)
        return false;
    const struct object *o = &r->profile->state.objects.at[f->object];
    const struct intern_text name = intern_get(&r->profile->state.names, o->short_name);
    const struct intern_text path = intern_get(&r->profile->state.names, o->path);
    return sample_filter_wants_object(&r->filters.rows, &path, &name);
}

static bool keeps_symbol(const struct report *r, const struct profile_frame *f) {
    if (!f || f->text == NO_TEXT)
        return false;
    const struct intern_text name = intern_get(&r->profile->texts, f->text);
    return sample_filter_wants_symbol(&r->filters.rows, (const char *)name.bytes, name.length);
}

/* The group contains the keys that filter_keys_needed requested. */
static bool keeps_numbers(const struct report *r, const struct profile_group *group) {
    struct sample_facts facts = {.known = SAMPLE_PID | SAMPLE_TID};
    if (!r->filters.rows.pids.any)
        facts.pid = (uint32_t)profile_value(r->profile, group, PROFILE_PID);
    if (!r->filters.rows.tids.any)
        facts.tid = (uint32_t)profile_value(r->profile, group, PROFILE_TID);
    return sample_filter_passes(&r->filters.rows, &facts);
}

bool filter_keeps(const struct report *r, const struct profile_group *group, uint32_t frame) {
    const struct sample_lists *lists = &r->filters.rows.lists;
    const struct profile_frame *f = report_frame(r, frame);
    return (!lists->comms || keeps_comm(r, group)) && (!lists->objects || keeps_dso(r, f)) &&
           (!lists->symbols || keeps_symbol(r, f)) && keeps_numbers(r, group) &&
           (!r->options->hide_unresolved || (f && f->text != NO_TEXT));
}

bool filter_keeps_row(const struct report *r, const struct row *row) {
    const char *part = r->options->symbol_filter;
    const struct profile_frame *f = part || r->options->hide_unresolved ? report_frame(r, row->frame) : NULL;
    if (r->options->hide_unresolved && (!f || f->text == NO_TEXT))
        return false;
    return !part || (f && f->text != NO_TEXT && strstr(intern_chars(&r->profile->texts, f->text), part));
}

void filter_totals(struct report *r) {
    memcpy(r->events.sums.before, r->events.sums.totals,
           ((size_t)r->profile->nr_events + 1) * sizeof *r->events.sums.before);
    if (!r->options->symbol_filter || !r->relative)
        return;
    memset(r->events.sums.totals, 0, ((size_t)r->profile->nr_events + 1) * sizeof *r->events.sums.totals);
    for (uint32_t i = 0; i < r->rows.cells.count; i++) {
        const struct row *row = &r->rows.at[i];
        struct profile_weight *total = &r->events.sums.totals[row->event];
        const bool kept = filter_keeps_row(r, row);
        total->weight += kept ? row->self.weight : 0;
        total->samples += kept ? row->self.samples : 0;
    }
}

uint32_t filter_keys_needed(const struct report *r, bool *frames) {
    const struct sample_filter *filter = &r->filters.rows;
    *frames =
        filter->lists.objects || filter->lists.symbols || r->options->symbol_filter || r->options->hide_unresolved;
    return (filter->lists.comms ? PROFILE_BIT(PROFILE_COMM) : 0) | (filter->pids.any ? 0 : PROFILE_BIT(PROFILE_PID)) |
           (filter->tids.any ? 0 : PROFILE_BIT(PROFILE_TID));
}

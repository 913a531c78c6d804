/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are rows: -c, -d, -S, --pid, --tid, lists with commas between. What they leave out still counts in
 * totals, unless --percentage relative. -C and --time leave samples out of everything: profile_request.keep.
 */
#include "view/report/report_cells.h"

#include "base/memory/fail.h"

#include <string.h>

static bool is_listed(const char *list, const char *name, size_t length) {
    for (const char *at = list; *at; at += *at == ',') {
        const size_t word = strcspn(at, ",");
        if (word == length && memcmp(at, name, length) == 0)
            return true;
        at += word;
    }
    return false;
}

pfr_status filter_choose(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    r->filter = (struct report_filter){.comms = o->comms, .dsos = o->objects, .symbols = o->symbols};
    r->filter.any = o->comms || o->objects || o->symbols || o->pids || o->tids;
    r->relative = o->relative;
    PFR_TRY(script_ranges_read(r->memory, &r->filter.pids, "pid", o->pids, err));
    return script_ranges_read(r->memory, &r->filter.tids, "tid", o->tids, err);
}

void filter_free(struct report *r) {
    mem_free(r->memory, r->filter.pids.at, r->filter.pids.room, sizeof *r->filter.pids.at);
    mem_free(r->memory, r->filter.tids.at, r->filter.tids.room, sizeof *r->filter.tids.at);
}

static bool keeps_comm(const struct report *r, const struct profile_group *group) {
    const uint64_t comm = profile_value(r->profile, group, PROFILE_COMM);
    const struct intern_text text = intern_get(&r->profile->texts, (uint32_t)comm);
    return is_listed(r->filter.comms, (const char *)text.bytes, text.length);
}

/* By the short name or by the path. */
static bool keeps_dso(const struct report *r, const struct profile_frame *f) {
    if (!f || f->object == NO_OBJECT)
        return false;
    const struct object *o = &r->profile->state.objects.at[f->object];
    const struct intern_text name = intern_get(&r->profile->state.names, o->short_name);
    const struct intern_text path = intern_get(&r->profile->state.names, o->path);
    return is_listed(r->filter.dsos, (const char *)name.bytes, name.length) ||
           is_listed(r->filter.dsos, (const char *)path.bytes, path.length);
}

static bool keeps_symbol(const struct report *r, const struct profile_frame *f) {
    if (!f || f->text == NO_TEXT)
        return false;
    const struct intern_text name = intern_get(&r->profile->texts, f->text);
    return is_listed(r->filter.symbols, (const char *)name.bytes, name.length);
}

bool filter_keeps(const struct report *r, const struct profile_group *group, uint32_t frame) {
    const struct report_filter *filter = &r->filter;
    const struct profile_frame *f = report_frame(r, frame);
    return (!filter->comms || keeps_comm(r, group)) && (!filter->dsos || keeps_dso(r, f)) &&
           (!filter->symbols || keeps_symbol(r, f)) &&
           (filter->pids.any ||
            script_ranges_have(&filter->pids, (uint32_t)profile_value(r->profile, group, PROFILE_PID))) &&
           (filter->tids.any ||
            script_ranges_have(&filter->tids, (uint32_t)profile_value(r->profile, group, PROFILE_TID)));
}

bool filter_keeps_row(const struct report *r, const struct row *row) {
    const char *part = r->options->symbol_filter;
    const struct profile_frame *f = part ? report_frame(r, row->frame) : NULL;
    return !part || (f && f->text != NO_TEXT && strstr(intern_chars(&r->profile->texts, f->text), part));
}

void filter_totals(struct report *r) {
    memcpy(r->before, r->totals, ((size_t)r->profile->nr_events + 1) * sizeof *r->before);
    if (!r->options->symbol_filter || !r->relative)
        return;
    memset(r->totals, 0, ((size_t)r->profile->nr_events + 1) * sizeof *r->totals);
    for (uint32_t i = 0; i < r->rows.cells.count; i++) {
        const struct row *row = &r->rows.at[i];
        struct profile_weight *total = &r->totals[row->event];
        const bool kept = filter_keeps_row(r, row);
        total->weight += kept ? row->self.weight : 0;
        total->samples += kept ? row->self.samples : 0;
    }
}

uint32_t filter_keys_needed(const struct report *r, bool *frames) {
    const struct report_filter *filter = &r->filter;
    *frames = filter->dsos || filter->symbols || r->options->symbol_filter;
    return (filter->comms ? PROFILE_BIT(PROFILE_COMM) : 0) | (filter->pids.any ? 0 : PROFILE_BIT(PROFILE_PID)) |
           (filter->tids.any ? 0 : PROFILE_BIT(PROFILE_TID));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the records to show: a list of types by name or number, a range of offsets, a range of times. */
#include "view/dump/dump_filter.h"

#include "base/text/text.h"
#include "wire/names.h"

#include <perfray/trace.h>

#include <strings.h>

static bool add_number(struct dump_filter *filter, uint64_t type) {
    if (filter->nr_types == DUMP_ONLY_MOST)
        return false;
    filter->types[filter->nr_types++] = type;
    return true;
}

static unsigned find_layout(const char *word, size_t length) {
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        if (strlen(layout_at(n)->name) == length && strncasecmp(layout_at(n)->name, word, length) == 0)
            return n;
    return L_NONE;
}

/* Accepts the names of the layout tables ("header_build_id"), then perf's names ("BUILD_ID"). */
static bool add_word(struct dump_filter *filter, const char *word, size_t length) {
    uint64_t number;
    const unsigned layout = find_layout(word, length);
    if (parse_u64_part(word, length, &number))
        return add_number(filter, number);
    if (layout) {
        filter->layouts[layout] = true;
        return true;
    }
    if (name_value(SHOW_RECORD, word, length, &number))
        return add_number(filter, number);
    return name_value(SHOW_TRACE_RECORD, word, length, &number) && add_number(filter, PFR_TRACE_TYPES + number);
}

static pfr_status read_only(struct dump_filter *filter, const char *only, pfr_error *err) {
    for (;;) {
        const size_t length = strcspn(only, ",");
        if (!add_word(filter, only, length))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "only", "unknown record type \"%.*s\"",
                            length < 60 ? (int)length : 60, only);
        if (!only[length])
            return PFR_OK;
        only += length + 1;
    }
}

pfr_status dump_filter_make(struct dump_filter *filter, const pfr_dump_options *options, pfr_error *err) {
    *filter = (struct dump_filter){
        .any = !options->only,
        .offset_from = options->offset_from,
        .offset_to = options->offset_to ? options->offset_to : UINT64_MAX,
        .time_from = options->time_from,
        .time_to = options->time_to ? options->time_to : UINT64_MAX,
        .timed = options->time_from || options->time_to,
    };
    return options->only ? read_only(filter, options->only, err) : PFR_OK;
}

static bool is_named(const struct dump_filter *filter, unsigned layout, uint64_t type) {
    if (filter->any || filter->layouts[layout])
        return true;
    for (unsigned i = 0; i < filter->nr_types; i++)
        if (filter->types[i] == type)
            return true;
    return false;
}

/* False: the trace does not state the time of the record. */
static bool xray_time(const struct dump *d, uint64_t *time) {
    const pfr_trace_point *at = pfr_get_trace_point(d->reader);
    if (!at->timed || d->clock.frequency == 0)
        return false;
    *time = xray_clock_ns(&d->clock, at->tsc);
    return true;
}

static bool time_of(const struct dump *d, const pfr_record *rec, unsigned layout, uint64_t *time) {
    if (rec->context->trace)
        return xray_time(d, time);
    pfr_value value;
    const char *field = layout == L_sample ? "time" : "id.time";
    if (pfr_get(rec, field, &value, NULL) != PFR_OK || value.kind == PFR_VALUE_ABSENT)
        return false;
    *time = value.as.u;
    return true;
}

static bool is_in_time(const struct dump *d, const pfr_record *rec, unsigned layout) {
    uint64_t time;
    return time_of(d, rec, layout, &time) && time >= d->filter.time_from && time <= d->filter.time_to;
}

bool dump_wants(const struct dump *d, const pfr_record *rec, unsigned layout) {
    const struct dump_filter *filter = &d->filter;
    return is_named(filter, layout, rec->type) && rec->offset >= filter->offset_from &&
           rec->offset < filter->offset_to && (!filter->timed || is_in_time(d, rec, layout));
}

bool dump_wants_pseudo(const struct dump *d, unsigned layout, uint64_t offset) {
    const struct dump_filter *filter = &d->filter;
    return (filter->any || filter->layouts[layout]) && offset >= filter->offset_from && offset < filter->offset_to &&
           !filter->timed;
}

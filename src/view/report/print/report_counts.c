/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of a recording without samples (perf record -n -s), summed by event. When a thread exits, the kernel
 * writes a READ record with the values of its counters.
 */
#include "view/report/print/report_counts.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "view/report/print/report_empty.h"

#include <string.h>

#define COUNT_WIDTH 20u

static bool take_counts(pfr_reader *reader, const pfr_record *rec, uint64_t *counts, uint32_t events) {
    struct pfr_rec_read body;
    if (rec->type != PFR_RECORD_READ || rec->event < 0 || (uint32_t)rec->event >= events ||
        pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return false;
    pfr_items_iter it = pfr_items_begin(&body.values.values);
    struct pfr_rec_read_entry entry;
    bool is_group = false;
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        const int32_t event = pfr_event_of_id(reader, entry.id);
        is_group = true;
        if (event >= 0 && (uint32_t)event < events)
            counts[event] += entry.value;
    }
    counts[rec->event] += is_group ? 0 : body.values.value;
    return true;
}

static void print_counts(const struct report *r, const uint64_t *counts, pfr_output *to) {
    out_text(&to->out, "#                Count  Event\n# ...................  ..........\n#\n");
    for (uint32_t i = 0; i < r->profile->nr_events; i++) {
        const char *name = profile_event(r->reader, i)->name;
        out_u64_wide(&to->out, counts[i], COUNT_WIDTH + 1);
        out_text(&to->out, "  ");
        print_name(to, name, strlen(name));
        out_char(&to->out, '\n');
    }
}

/* Whether READ records are possible: the kernel writes them only for events with inherit_stat. Without such an event,
 * the recording need not be searched for READ records. */
static bool has_read_records(pfr_reader *reader, uint32_t events) {
    for (uint32_t i = 0; i < events; i++)
        if (pfr_get_event(reader, i)->attr.flags.inherit_stat)
            return true;
    return false;
}

pfr_status report_print_counts(struct report *r, pfr_output *to, pfr_error *err) {
    const uint32_t events = r->profile->nr_events;
    pfr_record rec = {0};
    pfr_status st = PFR_OK;
    bool any = false;
    if (r->reader->trace || r->options->format != PFR_REPORT_TEXT || r->profile->facts.left_out || report_samples(r) ||
        !has_read_records(r->reader, events))
        return PFR_OK;
    uint64_t *const counts = mem_zeroed(r->memory, events, sizeof *counts);
    if (!counts)
        return mem_fail(r->memory, err, "report");
    st = pfr_rewind(r->reader, err);
    while (st >= 0 && (st = pfr_next(r->reader, &rec, err)) >= 0 && st != PFR_END)
        any = (st == PFR_OK && take_counts(r->reader, &rec, counts, events)) || any;
    if (st >= 0 && any)
        print_counts(r, counts, to);
    r->has_counts = any;
    mem_free(r->memory, counts, events, sizeof *counts);
    return st < 0 ? st : PFR_OK;
}

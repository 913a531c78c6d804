/* SPDX-License-Identifier: Apache-2.0 */
/* Notes for the user: why a report has no rows (the options that select samples, or the contents of the recording), and
   what to do if most samples have no function name. */
#include "view/report/print/report_empty.h"

#include "file/read/recording.h"
#include "view/report/fields/report_common.h"

#include <stdio.h>
#include <string.h>

#define SENTENCE 400u

static void add_option(char text[SENTENCE], const char *name, const char *value) {
    const size_t used = strlen(text);
    if (value)
        snprintf(text + used, SENTENCE - used, *value ? " --%s %.60s" : " --%s", name, value);
}

uint64_t report_samples(const struct report *r) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < r->profile->nr_events; i++)
        count += r->profile->totals[i].samples;
    return count;
}

/* Names the options that exclude samples before they are counted. */
static void explain_samples(const struct report *r, char text[SENTENCE]) {
    const pfr_report_options *o = r->options;
    if (r->profile->facts.left_out == 0) {
        const bool counts_elsewhere = o->format > PFR_REPORT_PERF && !r->measure->is_amount;
        snprintf(text, SENTENCE, "the recording has no %s%s", r->measure->counted,
                 counts_elsewhere ? "; --format=text prints counts, if it has any" : "");
        return;
    }
    snprintf(text, SENTENCE, "no %s match", r->measure->counted);
    add_option(text, "cpu", o->cpus);
    add_option(text, "time", o->time);
    add_option(text, "switch-on", o->switch_on);
    add_option(text, "switch-off", o->switch_off);
}

static void explain_rows(const struct report *r, char text[SENTENCE]) {
    const pfr_report_options *o = r->options;
    snprintf(text, SENTENCE, "no rows match");
    add_option(text, "comms", o->comms);
    add_option(text, "pid", o->pids);
    add_option(text, "tid", o->tids);
    add_option(text, "dso", o->objects);
    add_option(text, "symbols", o->symbols);
    add_option(text, "symbol-filter", o->symbol_filter);
    add_option(text, "hide-unresolved", o->hide_unresolved ? "" : NULL);
    if (o->only_parent)
        add_option(text, "exclude-other --parent", o->parent ? o->parent : "");
    if (o->percent_limit > 0)
        add_option(text, "percent-limit", "");
}

void report_note_empty(const struct report *r) {
    char text[SENTENCE];
    const bool draws_rows = !(r->options->bars && r->options->format <= PFR_REPORT_PERF);
    const uint64_t samples = report_samples(r);
    if (!r->options->note || r->has_counts || (samples && (r->lines_shown || !draws_rows)))
        return;
    if (samples == 0)
        explain_samples(r, text);
    else
        explain_rows(r, text);
    r->options->note(r->options->context, text);
}

#define UNNAMED_PERCENT 50u

/* Counts only in reports with the default sort keys, which include the function. */
void report_note_unnamed(const struct report *r) {
    const pfr_report_options *o = r->options;
    const bool has_names =
        !o->sort && !o->fields && r->mode == REPORT_SAMPLES && !r->reader->trace && !r->reader->stored;
    uint64_t all = 0, unnamed = 0;
    char text[SENTENCE];
    if (!o->hints || !o->note || !has_names || (o->naming && o->naming->no_symbols))
        return;
    for (uint32_t i = 0; i < r->rows.cells.count; i++) {
        const struct row *const row = &r->rows.at[i];
        const struct profile_frame *const f = report_frame(r, row->frame);
        all += row->self.samples;
        unnamed += f && f->text == NO_TEXT ? row->self.samples : 0;
    }
    if (all == 0 || (double)unnamed * 100 <= (double)all * UNNAMED_PERCENT)
        return;
    snprintf(text, sizeof text, "%.0f %% of samples have no function name; perfray symbols FILE says why",
             100.0 * (double)unnamed / (double)all);
    o->note(o->context, text);
}

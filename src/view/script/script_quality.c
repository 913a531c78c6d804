/* SPDX-License-Identifier: Apache-2.0 */
/* Reports, at the end, notes on the quality of the recording that the text does not show. These notes do not mean
 * damage. */
#include "view/script/script_quality.h"
#include "view/script/script_hole.h"

#include "base/memory/fail.h"
#include "model/names/kernel_file.h"

#include <inttypes.h>
#include <stdio.h>

static void note_count(const struct script *s, uint64_t count, const char *one, const char *several) {
    char text[160];
    if (count == 0 || !s->shared->options->note)
        return;
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, count == 1 ? one : several);
    s->shared->options->note(s->shared->options->context, text);
}

static void report_name_limits(struct script *s) {
    pfr_error why;
    if (name_limits_met(&s->shared->names->all.limits, &why))
        script_report_hole(s, &why);
    if (name_limits_met_lines(&s->shared->names->all.limits, &why))
        script_report_hole(s, &why);
}

static void report_hole(void *context, const pfr_error *hole) {
    script_report_hole(context, hole);
}

static void report_chain_limits(struct script *s) {
    pfr_error why;
    chain_counts_report_limits(s->current.unwound, s->current.nr_unwound, &s->shared->names->unwinding.limits,
                               report_hole, s);
    if (deferred_met_limit(&s->shared->state->deferred, &why))
        script_report_hole(s, &why);
    if (chain_stitch_met_limit(s->current.maker.stitcher.begun_anew, &why))
        script_report_hole(s, &why);
    deferred_note(&s->shared->state->deferred, false, s->shared->options->note, s->shared->options->context);
}

void script_report_empty(const pfr_script_options *o) {
    const bool filters = o->comms || o->pids || o->tids || o->cpus || o->symbols || o->objects || o->time ||
                         o->switch_on || o->switch_off;
    if (o->note && !o->per_event)
        o->note(o->context, filters ? "no samples match the filters" : "the recording has no samples");
}

void script_report_quality(struct script *s) {
    report_name_limits(s);
    report_chain_limits(s);
    note_count(
        s, s->shared->timeline ? timeline_late(s->shared->timeline) : 0,
        "record was written so late that newer ones had been printed: it is printed at its place in the file",
        "records were written so late that newer ones had been printed: they are printed at their places in the file");
    note_count(s, s->guests, "sample of a guest is left out: the recording does not say which guest",
               "samples of guests are left out: the recording does not say which guests");
    jit_note(&s->shared->state->jit, &s->shared->state->objects, s->shared->options->note, s->shared->options->context);
    if (s->shared->options->note)
        symbol_texts_note(&s->shared->names->all.texts, s->shared->options->note, s->shared->options->context);
    kernel_file_note(&s->shared->names->all, s->shared->options->note, s->shared->options->context);
    chain_counts_note(s->current.unwound, s->current.nr_unwound, s->shared->options->note, s->shared->options->context);
}

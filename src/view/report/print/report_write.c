/* SPDX-License-Identifier: Apache-2.0 */
/* Writes all events of a report, one after another or grouped side by side, in the chosen format; notes on the whole
 * report come first. */
#include "view/report/rows/report_lines.h"
#include "view/report/print/report_write.h"
#include "view/report/fields/report_groups.h"
#include "view/report/print/report_bars.h"
#include "view/report/print/report_counts.h"
#include "view/report/print/report_csv.h"
#include "view/report/print/report_hierarchy_print.h"
#include "view/report/print/report_json.h"

#include "base/memory/fail.h"

#include <inttypes.h>

struct report_writing {
    struct report *r;
    pfr_output *to;
    struct json json;
};

/* --- notes --- */

static void say(const struct report_writing *w, uint64_t count, const char *what) {
    if (!count)
        return;
    out_text(&w->to->out, "# ");
    out_u64(&w->to->out, count);
    out_text(&w->to->out, what);
}

static void say_notes(const struct report_writing *w) {
    for (const struct profile_note *note = w->r->profile->notes; note; note = note->next) {
        out_text(&w->to->out, "# ");
        out_text(&w->to->out, note->text);
        out_char(&w->to->out, '\n');
    }
}

/* Names the options that can have excluded samples before they were counted. */
static const char *text_of_left_out(const struct report *r) {
    const pfr_report_options *o = r->options;
    const bool always_on = r->filters.switched.any;
    if (r->measure->is_amount)
        return " calls left out by -C and --time\n";
    if (o->event && !o->cpus && !o->time && always_on)
        return " samples of other events left out by -e\n";
    if (o->event)
        return " samples left out by -e, -C, --time, --switch-on and --switch-off\n";
    return always_on ? " samples left out by -C and --time\n"
                     : " samples left out by -C, --time, --switch-on and --switch-off\n";
}

static void say_quality(const struct report_writing *w) {
    const struct profile *p = w->r->profile;
    say(w, p->facts.left_out, text_of_left_out(w->r));
    say(w, p->facts.late, " records written late: they count at their own time\n");
    say(w, p->facts.guests, " samples of guests, whose functions are unknown\n");
    say(w, p->facts.too_deep, " samples [unknown]: their processes have too many ancestors (limit depth)\n");
    say(w, p->facts.limited.samples, " samples in [limit]: their stacks did not fit (limit memory)\n");
    say(w, pfr_get_quality(w->r->reader)->holes, " ranges of the recording could not be used\n");
    say_notes(w);
}

static void begin_text(const struct report_writing *w) {
    struct output *out = &w->to->out;
    if (w->r->options->quiet)
        return;
    if (w->r->options->format == PFR_REPORT_PERF)
        out_text(out, "# To display the perf.data header info, please use --header/--header-only options.\n#\n#\n");
    if (w->r->options->format == PFR_REPORT_PERF || !w->r->measure->is_amount) {
        out_text(out, "# Total Lost Samples: ");
        out_u64(out, pfr_get_quality(w->r->reader)->lost_samples);
        out_char(out, '\n');
    }
    if (w->r->options->format == PFR_REPORT_TEXT)
        say_quality(w);
    out_text(out, "#\n");
}

static void write_notes(struct report_writing *w) {
    if (!w->r->profile->notes)
        return;
    json_key(&w->json, "notes");
    json_begin_array(&w->json);
    for (const struct profile_note *note = w->r->profile->notes; note; note = note->next)
        json_text(&w->json, note->text);
    json_end_array(&w->json);
}

static void begin(struct report_writing *w) {
    const pfr_report_format format = w->r->options->format;
    w->json = json_on(&w->to->out, JSON_PRETTY);
    if (format == PFR_REPORT_CSV) {
        report_write_csv_heading(w->r, w->to);
    } else if (format != PFR_REPORT_JSON) {
        begin_text(w);
    } else {
        json_begin_object(&w->json);
        json_key(&w->json, "version");
        json_u64(&w->json, 1);
        write_notes(w);
        json_key(&w->json, "events");
        json_begin_array(&w->json);
    }
}

static void end(struct report_writing *w) {
    if (w->r->options->format != PFR_REPORT_JSON)
        return;
    json_end_array(&w->json);
    json_end_object(&w->json);
    json_end_line(&w->json);
}

/* --- events --- */

static pfr_status write_lines(struct report_writing *w, const struct lines *lines, pfr_error *err) {
    const pfr_report_format format = w->r->options->format;
    if (format == PFR_REPORT_JSON)
        PFR_TRY(report_write_json(w->r, lines, &w->json, err));
    else if (format == PFR_REPORT_CSV)
        PFR_TRY(report_write_csv(w->r, lines, w->to, err));
    else if (w->r->options->bars)
        return report_print_bars(w->r, lines, w->to, err);
    else
        return report_print_table(w->r, lines, w->to, err);
    return w->r->cell.out.status < 0 ? mem_fail(w->r->memory, err, "report") : PFR_OK;
}

static bool has_samples(const struct report *r, uint32_t event, uint32_t members) {
    for (uint32_t m = 0; m < members; m++)
        if (r->profile->totals[event + m].samples)
            return true;
    return false;
}

/* The hierarchy determines which lines are shown. */
static pfr_status write_hierarchy(struct report_writing *w, struct lines *lines, pfr_error *err) {
    struct hierarchy h;
    pfr_status st = hierarchy_make(&h, w->r, lines, err);
    w->r->lines_shown += h.count;
    if (st >= 0)
        st = report_print_hierarchy(w->r, &h, lines, w->to, err);
    hierarchy_free(&h, w->r, lines);
    return st;
}

static pfr_status write_event(struct report_writing *w, uint32_t event, uint32_t members, pfr_error *err) {
    struct lines lines;
    if (!has_samples(w->r, event, members))
        return PFR_OK;
    pfr_status st = lines_make(w->r, event, members, &lines, err);
    if (st >= 0 && w->r->options->hierarchy) {
        st = write_hierarchy(w, &lines, err);
    } else if (st >= 0) {
        w->r->lines_shown += lines.shown;
        st = write_lines(w, &lines, err);
    }
    lines_free(w->r, &lines);
    return st;
}

/* CSV and JSON never group events. */
static pfr_status choose_groups(struct report *r, pfr_error *err) {
    const pfr_report_format format = r->options->format;
    return format == PFR_REPORT_CSV || format == PFR_REPORT_JSON ? PFR_OK : report_learn_groups(r, err);
}

pfr_status report_write(struct report *r, pfr_output *out, pfr_error *err) {
    struct report_writing w = {.r = r, .to = out};
    PFR_TRY(choose_groups(r, err));
    PFR_TRY(lines_prepare(r, err));
    begin(&w);
    for (uint32_t event = 0; event < r->profile->nr_events; event++) {
        const uint32_t members = report_members_of(r, event);
        if (members)
            PFR_TRY(write_event(&w, event, members, err));
    }
    end(&w);
    return report_print_counts(r, out, err);
}

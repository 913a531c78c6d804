/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the request and runs the steps from a recording to the waits of its threads: see offcpu_parts.h. */
#include "view/offcpu/offcpu_parts.h"
#include "view/offcpu/offcpu_cgroups.h"
#include "view/offcpu/offcpu_notes.h"
#include "view/offcpu/offcpu_locks.h"
#include "view/offcpu/offcpu_path.h"
#include "view/offcpu/offcpu_formats.h"
#include "view/offcpu/offcpu_text.h"
#include "view/offcpu/offcpu_load.h"
#include "view/offcpu/offcpu_filter.h"
#include "view/offcpu/offcpu_rows.h"

static void report_hole(void *context, const pfr_error *hole) {
    struct offcpu *o = context;
    o->lossy = true;
    if (o->options->hole && !o->is_muted)
        o->options->hole(o->options->context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct offcpu *o = context;
    if (o->options->note && !o->is_muted)
        o->options->note(o->options->context, sentence);
}

/* Checks before loading whether the recording has the necessary events. */
static pfr_status check(struct offcpu *o, pfr_error *err) {
    struct sched_sources sources;
    PFR_TRY(sched_sources_learn(&sources, o->reader, o->memory, err));
    const pfr_status st = sched_sources_any(&sources)
                              ? offcpu_cgroups_check(o, &sources, err)
                              : pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "offcpu",
                                         "the recording does not show when threads ran: record with --off-cpu, or with "
                                         "-e sched:sched_switch -g, or --switch-events");
    sched_sources_free(&sources);
    return st;
}

static pfr_status open_model(struct offcpu *o, const struct model_watch *watch, pfr_error *err) {
    const pfr_model_options how = {.size = sizeof how,
                                   .jobs = o->options->jobs,
                                   .max_stack = o->options->max_stack,
                                   .functions = o->options->no_lines,
                                   .lines = !o->options->no_lines,
                                   .no_intervals = true,
                                   .no_marks = true, /* offcpu_load makes them in its own pass */
                                   .naming = o->options->naming,
                                   .hole = report_hole,
                                   .note = report_note,
                                   .context = o};
    o->model = model_open_watched(o->reader, &how, watch, err);
    return o->model ? PFR_OK : err->status;
}

/* Whether intervals can be added up while the model is made. Locks and paths of wakers need each interval with its
   thread and stack; so does the cgroup. */
static bool can_watch(const struct offcpu *o) {
    return o->options->view == PFR_OFFCPU_WAITS && o->options->by != PFR_OFFCPU_BY_CGROUP && !o->reader->stored &&
           sched_walk_can_share(o->reader);
}

/* Discards everything, so that the recording can be read again in two passes. */
static pfr_status begin_again(struct offcpu *o, pfr_error *err) {
    pfr_model_close(o->model);
    o->model = NULL;
    offcpu_classes_free(&o->classes);
    return pfr_rewind(o->reader, err);
}

/* Makes the model and the thread states in one pass. *complete false: there was not enough memory for both, or thread
   states need a pass of their own. */
static pfr_status open_watched(struct offcpu *o, bool *complete, pfr_error *err) {
    const struct model_watch watch = offcpu_watch(o);
    pfr_status st = open_model(o, &watch, err), end = PFR_OK;
    pfr_error own;
    *complete = st != PFR_ERR_LIMIT;
    if (o->walking)
        end = sched_walk_end(o->walking, st < 0 ? &(bool){false} : complete, st < 0 ? &own : err);
    o->walking = NULL;
    st = st < 0 ? st : end;
    return (st >= 0 || st == PFR_ERR_LIMIT) && !*complete ? begin_again(o, err) : st;
}

static pfr_status load(struct offcpu *o, pfr_error *err) {
    bool is_watched = can_watch(o);
    PFR_TRY(is_watched ? open_watched(o, &is_watched, err) : PFR_OK);
    o->is_muted = can_watch(o) && !is_watched;
    PFR_TRY(is_watched ? PFR_OK : open_model(o, NULL, err));
    o->is_muted = false;
    return offcpu_load(o, is_watched, err);
}

static pfr_status write_form(struct offcpu *o, pfr_output *out, pfr_error *err) {
    if (o->options->view == PFR_OFFCPU_WAKERS)
        return offcpu_write_path(o, out, err);
    if (o->options->view == PFR_OFFCPU_LOCKS)
        return offcpu_write_locks(o, out, err);
    if (o->options->format == PFR_OFFCPU_CSV)
        return offcpu_write_csv(o, out, err);
    return o->options->format == PFR_OFFCPU_JSON ? offcpu_write_json(o, out, err) : offcpu_write_text(o, out, err);
}

/* Passes the notes to the caller for CSV; text and JSON contain them. Note 0, which only states what was read, is left
   out. */
static void report_notes(const struct offcpu *o) {
    char text[OFFCPU_NOTE_ROOM];
    for (unsigned i = 1; o->options->format == PFR_OFFCPU_CSV && offcpu_note(o, i, text); i++)
        report_note((void *)(uintptr_t)o, text);
    if (o->shown == 0)
        report_note((void *)(uintptr_t)o, "no thread matches the filters");
}

static pfr_status run(struct offcpu *o, pfr_output *out, pfr_error *err) {
    PFR_TRY(offcpu_filter_read(o, err));
    PFR_TRY(check(o, err));
    wait_machine_learn(o->reader, o->machine);
    PFR_TRY(load(o, err));
    PFR_TRY(offcpu_order(o, err));
    PFR_TRY(write_form(o, out, err));
    report_notes(o);
    return o->lossy ? PFR_HOLE : PFR_OK;
}

pfr_status pfr_offcpu_print(pfr_reader *reader, const pfr_offcpu_options *options, pfr_output *out, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    if (reader->trace)
        return pfr_fail(
            err, PFR_ERR_FORMAT, 0, 0, "offcpu",
            "an XRay trace does not contain the times at which threads ran; perfray latency shows durations of calls");
    struct offcpu o = {.options = options, .reader = reader, .memory = &reader->memory};
    offcpu_sums_init(&o.sums, o.memory);
    offcpu_classes_init(&o.classes, &o.share);
    u64_map_init(&o.of_tid, o.memory);
    u64_map_init(&o.in_cgroup, o.memory);
    u64_map_init(&o.frame_texts, o.memory);
    u64_map_init(&o.chain_texts, o.memory);
    const pfr_status st = run(&o, out, err);
    offcpu_free(&o);
    return st;
}

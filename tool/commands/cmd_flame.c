/* SPDX-License-Identifier: Apache-2.0 */
/* perfray flame: all stacks of a recording in one SVG image. */
#include <perfray/flame.h>
#include <perfray/view.h>
#include <string.h>
#include <unistd.h>
#include "diff_sides.h"
#include "page_notes.h"
#include "selecting.h"

struct flame_options {
    const char *output, *title, *diff;
    uint32_t width;
    double min_width;
    bool upward;
    struct selecting selecting;
};

static const struct flame_options flame_defaults = {.selecting = {.naming.cache = true}};

static const struct opt flame_opts[] = {
    HEADING("Drawing"),
    {"output", 'o', OPT_STRING, offsetof(struct flame_options, output), "FILE",
     "write FILE: SVG, or a page if named *.html; - for stdout (default)"},
    {"upward", 0, OPT_FLAG, offsetof(struct flame_options, upward), NULL,
     "draw callers below their callees (default: callers on top)"},
    {"title", 0, OPT_STRING, offsetof(struct flame_options, title), "TEXT", "title above the graph"},
    {"width", 0, OPT_NUMBER, offsetof(struct flame_options, width), "PIXELS",
     "fixed width of the graph (default: width of the window)"},
    {"min-width", 0, OPT_DECIMAL, offsetof(struct flame_options, min_width), "PIXELS",
     "omit functions narrower than PIXELS (default 0.3)"},
    {"diff", 0, OPT_STRING, offsetof(struct flame_options, diff), "BASE",
     "color the graph by the change since recording BASE"},
    SELECTING_ROWS(struct flame_options),
    HEADING("Compatibility"),
    {"inverted", 'G', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (callers are on top by default)"},
    {0},
};

#define PROGRAM "perfray flame"

static enum exit_status write_flame(const struct task *task, pfr_reader *reader) {
    const struct flame_options *const options = task->options;
    const pfr_symbol_options naming = symbol_options_of(&options->selecting.naming);
    const pfr_selection of = selection_of(&options->selecting, task, &naming);
    const pfr_flame_options how = {.size = sizeof how,
                                   .of = &of,
                                   .path = output_path(options->output),
                                   .title = options->title,
                                   .subject = task->file,
                                   .width = options->width,
                                   .min_width = options->min_width,
                                   .upward = options->upward};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_flame(reader, &how, task->out, &err);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

/* --- Comparison with another recording. */

/* Options that select samples work on a single recording; a comparison uses all samples of an event. */
static bool diff_fits(const struct flame_options *o) {
    const struct selecting *s = &o->selecting;
    if (!s->cpus && !s->pids && !s->tids && !s->comms && !s->time && !s->stitched && !s->weight && !o->upward)
        return true;
    complain_as(PROGRAM, "--diff uses all samples of an event: it cannot be combined with --upward, or with options "
                         "that select samples other than -e");
    return false;
}

static enum exit_status draw_diff(const struct task *task, const struct diff_sides *sides) {
    const struct flame_options *const o = task->options;
    const pfr_diff_options how = {.size = sizeof how, .event = o->selecting.event, .limits = &task->shared->limits};
    const pfr_diff_flame_options picture = {.size = sizeof picture,
                                            .path = output_path(o->output),
                                            .title = o->title,
                                            .width = o->width,
                                            .min_width = o->min_width};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_diff *const diff = pfr_diff_open(sides->runs[0], sides->count[0], sides->runs[1], sides->count[1], &how, &err);
    const pfr_status status = diff ? pfr_diff_flame(diff, &picture, task->out, &err) : err.status;
    pfr_diff_close(diff);
    if (status == PFR_ERR_USAGE) {
        complain_as(PROGRAM, "%s", err.text);
        return ENDS_USAGE;
    }
    return status < 0 && !pfr_output_failed(task->out) ? complain_of(task->file, &err, NULL) : ENDS_FINE;
}

static enum exit_status flame_diff(const struct task *task) {
    const struct flame_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->selecting.naming);
    const pfr_model_options model = {.size = sizeof model,
                                     .jobs = o->selecting.jobs,
                                     .max_stack = o->selecting.max_stack,
                                     .functions = true,
                                     .naming = &naming,
                                     .no_intervals = true,
                                     .no_marks = true};
    const struct word_list base = {.at = {o->diff}, .count = 1}, changed = {.at = {task->file}, .count = 1};
    struct diff_sides sides = {0};
    struct task sideless = *task;
    sideless.nr_files = 0; /* both sides are given explicitly */
    if (!diff_fits(o))
        return ENDS_USAGE;
    enum exit_status status = diff_sides_open(&sideless, &base, &changed, &model, &sides);
    if (status == ENDS_FINE && !task->shared->store && (sides.count[0] > 1 || sides.count[1] > 1)) {
        complain_as(PROGRAM, "--diff compares two recordings");
        status = ENDS_USAGE;
    }
    if (status == ENDS_FINE) {
        status = draw_diff(task, &sides);
        status = graver_of(status, diff_sides_damage(task, &sides));
    }
    diff_sides_close(&sides);
    return status;
}

/* --- A page instead of SVG: -o FILE.html. */

static bool is_page(const char *path) {
    const size_t length = path ? strlen(path) : 0;
    return length > 5 && strcmp(path + length - 5, ".html") == 0;
}

/* The page contains all samples; its viewer selects among them. */
static bool fits_page(const struct flame_options *o) {
    const struct selecting *s = &o->selecting;
    const bool selects = s->event || s->cpus || s->pids || s->tids || s->comms || s->time || s->weight || s->stitched;
    if (!selects && !o->upward && !o->width && o->min_width <= 0)
        return true;
    complain_as(PROGRAM, "an HTML page has its own selection and drawing; omit these options, or write FILE.svg");
    return false;
}

static void page_hole(void *notes, const pfr_error *hole) {
    report_limit((void *)(uintptr_t)((const struct page_notes *)notes)->file, hole);
}

static pfr_status write_model(const struct task *task, const pfr_model *model, const struct page_notes *notes,
                              pfr_error *err) {
    const struct flame_options *const options = task->options;
    const pfr_view_options how = {.size = sizeof how,
                                  .path = options->output,
                                  .title = options->title,
                                  .subject = task->file,
                                  .version = PERFRAY_VERSION,
                                  .notes = notes->list};
    return pfr_view_write(model, &how, task->out, err);
}

static enum exit_status write_page(const struct task *task, pfr_reader *reader) {
    const struct flame_options *const options = task->options;
    const pfr_symbol_options naming = symbol_options_of(&options->selecting.naming);
    struct page_notes notes = {.file = task->file};
    const pfr_model_options how = {.size = sizeof how,
                                   .jobs = options->selecting.jobs,
                                   .max_stack = options->selecting.max_stack,
                                   .functions = true,
                                   .naming = &naming,
                                   .hole = page_hole,
                                   .note = page_note,
                                   .context = &notes};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_model *const model = pfr_model_open(reader, &how, &err);
    const pfr_status status = model ? write_model(task, model, &notes, &err) : err.status;
    pfr_model_close(model);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

static enum exit_status flame_run(const struct task *task) {
    const struct flame_options *const options = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    if (!is_other_file(task, PROGRAM, output_path(options->output)) || !selecting_fits(&options->selecting, PROGRAM))
        return ENDS_USAGE;
    if (!options->output && isatty(STDOUT_FILENO)) {
        complain_as(PROGRAM, "refusing to write SVG to a terminal; use -o FILE");
        return ENDS_USAGE;
    }
    if (options->diff && is_page(options->output)) {
        complain_as(PROGRAM, "--diff draws SVG: give the output as FILE.svg");
        return ENDS_USAGE;
    }
    if (options->diff)
        return flame_diff(task);
    if (is_page(options->output) && !fits_page(options))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = is_page(options->output) ? write_page(task, reader) : write_flame(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_flame;
const struct command cmd_flame = {
    .name = "flame",
    .about = "draw a flame graph: one SVG file to search and zoom",
    .arguments = "[FILE]",
    .examples = "perfray flame perf.data -o flame.svg\n"
                "perfray flame -e cpu-clock --upward perf.data -o flame.svg\n",
    .takes_one_file = true,
    .opts = flame_opts,
    .defaults = &flame_defaults,
    .size = sizeof(struct flame_options),
    .prints_at_end = true,
    .passes = 2,
    .reads_store = true,
    .run = flame_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that write a recording: see editing.h. */
#include "editing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "selecting.h"

#define LEVEL_MOST 22
#define TO_QUIPPER 4u /* number in --to, after the containers */

struct edit_report {
    const char *program;
    struct damage damage;
};

static void on_hole(void *context, const pfr_error *hole) {
    struct edit_report *const report = context;
    report_damage(&report->damage, hole);
}

/* Returns 0 if the word is not a level. */
static int level_of(const char *word) {
    char *end;
    if (!*word)
        return 1;
    const long level = strtol(word, &end, 10);
    return *end || level < 1 || level > LEVEL_MOST ? 0 : (int)level;
}

/* Checks the combination of options; on failure prints a message and returns false. */
static bool makes_sense(const struct task *task, const char *program) {
    const struct editing *const o = task->options;
    const char *wrong = NULL;
    if (!o->output)
        wrong = "give the output file with -o";
    else if (o->plain && o->compress)
        wrong = "--plain and --compress exclude each other";
    else if (o->compress && !level_of(o->compress))
        wrong = "--compress takes a level from 1 to 22";
    else if ((o->text || o->sorted || o->without || o->marks) && o->to != TO_QUIPPER)
        wrong = "--text, --order, --without and --mark-unmapped require --to=quipper";
    else if (o->to == TO_QUIPPER && (o->order || o->plain || o->compress || o->attr_size || o->trace))
        wrong = "--to=quipper can be combined only with --text, --order, --without and --mark-unmapped";
    else if (o->to && o->to - 1 != PFR_PIPE && o->to != TO_QUIPPER && strcmp(o->output, "-") == 0)
        wrong = "only a stream can be written to standard output";
    else if (strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO) && !o->text)
        wrong = "refusing to write a recording to a terminal; use -o FILE";
    if (wrong)
        complain_as(program, "%s; see %s -h", wrong, program);
    return !wrong && is_other_file(task, program, output_path(o->output));
}

static pfr_edit_options options_of(const struct editing *o, struct edit_report *report) {
    return (pfr_edit_options){
        .size = sizeof(pfr_edit_options),
        .path = o->output,
        .to_form = o->to > 0 && o->to != TO_QUIPPER,
        .container = o->to && o->to != TO_QUIPPER ? (pfr_container)(o->to - 1) : PFR_FILE,
        .order = (pfr_order)o->order,
        .compression = o->plain      ? PFR_EDIT_PLAIN
                       : o->compress ? PFR_EDIT_COMPRESS
                                     : PFR_EDIT_AS_IT_IS,
        .level = o->compress ? level_of(o->compress) : 0,
        .attr_size = o->attr_size,
        .trace = (pfr_edit_trace)o->trace,
        .quipper = o->to != TO_QUIPPER ? PFR_EDIT_NO_QUIPPER
                   : o->text           ? PFR_EDIT_QUIPPER_TEXT
                                       : PFR_EDIT_QUIPPER,
        .file_order = o->sorted == 1,
        .quipper_marks = o->marks,
        .quipper_without = o->without,
        .hole = on_hole,
        .context = report,
    };
}

/* Whether the error occurred while writing. If so, its offset is not in the recording, and its text names the file. */
static bool is_of_output(const pfr_error *err) {
    static const char *const words[] = {"make", "write", "synchronise", "name", "output"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(err->where, words[i]) == 0)
            return true;
    return false;
}

/* XRay traces have no samples to count. */
static void report_written(const struct task *task, const pfr_reader *reader, const pfr_edit_counts *counts) {
    const char *const output = output_path(((const struct editing *)task->options)->output);
    const char *const to = output ? output : "standard output";
    if (pfr_get_header(reader)->format == PFR_PERF_DATA)
        complain("%s: %" PRIu64 " records were written to %s, %" PRIu64 " of them samples", task->file, counts->records,
                 to, counts->samples);
    else
        complain("%s: %" PRIu64 " records were written to %s", task->file, counts->records, to);
}

static enum exit_status end_of_edit(const struct task *task, struct edit_report *report, pfr_status status,
                                    const pfr_edit_counts *counts, const pfr_error *err, pfr_reader *reader) {
    if (status == PFR_ERR_USAGE) {
        complain_as(report->program, "%s; see %s -h", err->text, report->program);
        return ENDS_USAGE;
    }
    if (status < 0 && is_of_output(err)) {
        complain("%s", err->text);
        return exit_status_of(status);
    }
    if (status < 0)
        return complain_of(task->file, err, NULL);
    const enum exit_status damage = complain_of_reported_damage(task, &report->damage, reader);
    if (damage != ENDS_FINE)
        report_written(task, reader, counts);
    return graver_of(exit_status_of(status), damage);
}

/* Opens a recording, or a quipper message that contains one. */
static pfr_reader *open_any(const struct task *task, const pfr_open_options *options, struct edit_report *report,
                            enum exit_status *status) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_open_options how = *options;
    how.limits = &task->shared->limits;
    raise_file_limit();
    pfr_reader *const reader = pfr_open_any(task->file, &how, on_hole, report, &err);
    *status = reader ? ENDS_FINE : complain_of_opening(task, &err);
    return reader;
}

/* Explains "convert -z 5 FILE" and "convert FILE OUTPUT". */
bool explain_edited_files(const char *program, const struct editing *o, const struct operands *files) {
    const char *const first = files->at[0], *const last = files->at[files->count - 1];
    if (o->compress && !*o->compress && *first && level_of(first) && access(first, F_OK) < 0)
        complain_as(program, "the level of -z is in the same word: -z%s", first);
    else if (!o->output && files->count == 2)
        complain_as(program, "the output is named with -o: -o %s", last);
    else
        return false;
    return true;
}

enum exit_status run_edit(const struct task *task, const char *program, edit_fn *edit) {
    const pfr_open_options how = {.size = sizeof how, .keep_aux = true, .spool = true};
    struct edit_report report = {program, {.file = task->file}};
    const pfr_edit_options options = options_of(task->options, &report);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_edit_counts counts = {0};
    enum exit_status status = ENDS_USAGE;
    pfr_reader *const reader = makes_sense(task, program) ? open_any(task, &how, &report, &status) : NULL;
    if (reader)
        status = end_of_edit(task, &report, edit(reader, &options, &counts, &err), &counts, &err, reader);
    pfr_close(reader);
    return status;
}

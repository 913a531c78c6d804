/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of the commands that write an image or a file: see selecting.h. */
#include "selecting.h"

#include "fetching.h"
#include "name_files.h"

#include <string.h>
#include <sys/stat.h>

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

pfr_selection selection_of(const struct selecting *options, const struct task *task, const pfr_symbol_options *naming) {
    return (pfr_selection){.size = sizeof(pfr_selection),
                           .event = options->event,
                           .cpus = options->cpus,
                           .pids = options->pids,
                           .tids = options->tids,
                           .comms = options->comms,
                           .time = options->time,
                           .max_stack = options->max_stack,
                           .stitched = options->stitched,
                           .jobs = options->jobs,
                           .naming = naming,
                           .by_count = options->weight == 1,
                           .by_period = options->weight == 2,
                           .hole = report_limit,
                           .note = report_note,
                           .context = (void *)(uintptr_t)task->file};
}

bool selecting_fits(const struct selecting *o, const char *program) {
    return name_files_fit(program, &o->naming) && knows_demangle(o->naming.demangle, program);
}

const char *output_path(const char *option) {
    return option && strcmp(option, "-") != 0 ? option : NULL;
}

bool is_other_file(const struct task *task, const char *program, const char *path) {
    struct stat in, out;
    if (!path || stat(task->file, &in) < 0 || stat(path, &out) < 0 || in.st_dev != out.st_dev ||
        in.st_ino != out.st_ino)
        return true;
    complain_as(program, "%s is the recording itself; name another file with -o", path);
    return false;
}

enum exit_status end_of_writing(const struct task *task, const char *program, pfr_reader *reader, pfr_status status,
                                const pfr_error *err) {
    if (status == PFR_ERR_USAGE) {
        complain_as(program, "%s; see %s -h", err->text, program);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the file of a task, with the next step when that fails. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "guess.h"
#include "help.h"

static const char *advice_for(const char *file, const pfr_error *err) {
    if (strcmp(file, "-") != 0 && access(file, F_OK) < 0 && errno == ENOENT)
        return "record one with perf record, or name a file";
    if (err->status == PFR_ERR_PERMISSION)
        return "perf record as root leaves files of root: read it as root, or change its owner";
    return err->status == PFR_ERR_FORMAT || err->status == PFR_ERR_USAGE ? guess_content(file) : NULL;
}

pfr_reader *open_recording(const struct task *task, bool keep_aux, enum exit_status *status) {
    const pfr_open_options options = {.size = sizeof options, .keep_aux = keep_aux};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_reader *const reader = pfr_open(task->file, &options, &err);
    *status = ENDS_FINE;
    if (!reader)
        *status = complain_of(task->file, &err, advice_for(task->file, &err));
    if (*status == ENDS_USAGE)
        *status = ENDS_FORMAT; /* the words were fine, the file was not */
    return reader;
}

void print_title(const struct task *task) {
    char name[512];
    if (!task->has_company)
        return;
    escape_controls(name, sizeof name, task->file);
    print_line(task->out, "%s:\n", name);
}

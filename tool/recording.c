/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the file of a task. If that fails, the message advises the next step. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <perfray/store.h>
#include "command.h"
#include "guess.h"
#include "help.h"

static bool is_folder(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_short_of_files(const pfr_error *err) {
    return strstr(err->text, strerror(EMFILE)) || strstr(err->text, strerror(ENFILE));
}

void raise_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

char *default_recording(bool is_trace_first) {
    static char samples[] = DEFAULT_RECORDING, trace[] = DEFAULT_TRACE;
    const bool has_trace = access(trace, F_OK) == 0;
    return has_trace && (is_trace_first || access(samples, F_OK) != 0) ? trace : samples;
}

static const char *advice_for(const char *file, bool is_unnamed, const pfr_error *err) {
    if (is_short_of_files(err))
        return "raise the limit of open files (ulimit -n)";
    if (is_folder(file))
        return guess_content(file);
    if (strcmp(file, "-") != 0 && access(file, F_OK) < 0 && errno == ENOENT)
        return is_unnamed ? "record one with perfray record, or name a file" : NULL;
    if (err->status == PFR_ERR_PERMISSION)
        return "files that perf record writes as root belong to root: read it as root, or change its owner";
    return err->status == PFR_ERR_FORMAT ? guess_content(file) : NULL;
}

enum exit_status complain_of_opening(const struct task *task, const pfr_error *err) {
    const bool is_unnamed = task->shared && task->shared->is_unnamed;
    const enum exit_status status = complain_of(task->file, err, advice_for(task->file, is_unnamed, err));
    if (status != ENDS_IO || !is_folder(task->file) || is_short_of_files(err))
        return status;
    return ENDS_FORMAT; /* it was read, but is not a recording */
}

/* Opens the recordings that the expression task->file selects. */
static pfr_reader *open_stored(const struct task *task, enum exit_status *status) {
    const pfr_store_options how = {.size = sizeof how, .limits = &task->shared->limits, .read_only = true};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const bool is_all = task->file == task->shared->store; /* no expression was given */
    pfr_store *const store = pfr_store_open(task->shared->store, &how, &err);
    pfr_reader *const reader = store ? pfr_store_select(store, is_all ? NULL : task->file, &err) : NULL;
    pfr_store_close(store);
    err.offset = PFR_NO_OFFSET;
    *status = reader ? ENDS_FINE : complain_of(task->shared->store, &err, NULL);
    return reader;
}

pfr_reader *open_recording(const struct task *task, const pfr_open_options *options, enum exit_status *status) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_open_options how = options ? *options : (pfr_open_options){.size = sizeof how};
    how.limits = &task->shared->limits;
    if (task->shared->store)
        return open_stored(task, status);
    raise_file_limit();
    pfr_reader *const reader = pfr_open(task->file, &how, &err);
    *status = reader ? ENDS_FINE : complain_of_opening(task, &err);
    return reader;
}

int64_t capture_time(const char *file) {
    struct stat st;
    const bool is_kept = strcmp(file, "-") != 0 && stat(file, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
    return is_kept ? (int64_t)st.st_mtim.tv_sec : 0;
}

void print_title(const struct task *task) {
    char name[1000];
    if (!task->has_company)
        return;
    pfr_escape(name, sizeof name, task->file, strlen(task->file));
    print_line(task->out, "%s:\n", name);
}

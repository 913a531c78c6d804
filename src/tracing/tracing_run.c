/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program under the flight recorder: writes the options to PERFRAY_RT, preloads the library if the program does
 * not link it, and otherwise runs the program unchanged (perfray/tracing.h).
 */
#include <perfray/tracing.h>

#include "base/memory/fail.h"
#include "base/io/whole_file.h"
#include "tracing/tracing_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_ROOM 8192
#define PATH_ROOM 1000 /* the recorder's own limit, less the suffix it appends */

struct traced_run {
    const pfr_tracing_options *options;
    const char *const *words;
    pfr_tracing_hooks hooks;
    char output[PATH_ROOM], requests[WORDS_ROOM], preload[WORDS_ROOM];
    size_t used;
};

/* --- PERFRAY_RT. */

static pfr_status add_request(struct traced_run *r, pfr_error *err, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static pfr_status add_request(struct traced_run *r, pfr_error *err, const char *key, const char *format, ...) {
    char value[WORDS_ROOM];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    const char quote = strchr(value, '\'') ? '"' : '\'';
    const size_t room = sizeof r->requests - r->used;
    const int put = snprintf(r->requests + r->used, room, "%s=%c%s%c ", key, quote, value, quote);
    if (length < 0 || (size_t)length >= sizeof value || put < 0 || (size_t)put >= room || strchr(value, quote))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, key, "%s is too long, or has quotes of both kinds", key);
    r->used += (size_t)put;
    return PFR_OK;
}

/*
 * Units of integers, which are checked here by the recorder's rules (src/runtime/rt_options.c): the recorder itself
 * could report an error only after the program was started.
 */
static const char *const sizes[] = {"", "k", "K", "m", "M", "g", "G", NULL};
static const char *const times[] = {"", "ns", "us", "ms", "s", NULL};

static bool is_amount(const char *word, const char *const *units) {
    const size_t digits = strspn(word, "0123456789");
    while (*units && strcmp(word + digits, *units) != 0)
        units++;
    return digits > 0 && digits < 10 && *units;
}

static pfr_status check_amount(const char *key, const char *word, const char *const *units, const char *what,
                               pfr_error *err) {
    if (!word || is_amount(word, units))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "options", "%s is %s, not '%.40s'", key, what, word);
}

static pfr_status check_amounts(const pfr_tracing_options *o, pfr_error *err) {
    static const char size[] = "a size, such as 64k, 16M or 1G";
    PFR_TRY(check_amount("size", o->room, sizes, size, err));
    PFR_TRY(check_amount("buffer", o->buffer, sizes, size, err));
    return check_amount("time-filter", o->threshold, times, "a time, such as 500ns, 5us or 1ms", err);
}

static pfr_status add_patterns(struct traced_run *r, const char *key, const char *const *patterns, pfr_error *err) {
    for (size_t i = 0; patterns && patterns[i]; i++)
        PFR_TRY(add_request(r, err, key, "%s", patterns[i]));
    return PFR_OK;
}

static pfr_status add_filters(struct traced_run *r, pfr_error *err) {
    const pfr_tracing_options *o = r->options;
    PFR_TRY(add_patterns(r, "filter", o->filters, err));
    PFR_TRY(add_patterns(r, "notrace", o->notrace, err));
    PFR_TRY(add_patterns(r, "include", o->includes, err));
    PFR_TRY(add_patterns(r, "exclude", o->excludes, err));
    if (o->threshold)
        PFR_TRY(add_request(r, err, "threshold", "%s", o->threshold));
    return o->depth ? add_request(r, err, "depth", "%" PRIu32, o->depth) : PFR_OK;
}

static pfr_status write_requests(struct traced_run *r, pfr_error *err) {
    const pfr_tracing_options *o = r->options;
    PFR_TRY(add_request(r, err, "file", "%s", r->output));
    PFR_TRY(add_request(r, err, "leader", "%d", (int)getpid()));
    PFR_TRY(add_request(r, err, "keep", "%s", o->keep_last ? "last" : "first"));
    if (o->room)
        PFR_TRY(add_request(r, err, "size", "%s", o->room));
    if (o->buffer)
        PFR_TRY(add_request(r, err, "buffer", "%s", o->buffer));
    return add_filters(r, err);
}

/* Checked before the program runs, because the recorder in the program could only report the error and continue. */
static pfr_status try_output(const char *path, pfr_error *err) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output", "cannot be made: %s", strerror(errno));
    close(fd);
    unlink(path);
    return PFR_OK;
}

/* Makes the path absolute, because the program may have another working directory when the recorder starts. */
static pfr_status set_output(struct traced_run *r, pfr_error *err) {
    const char *path = r->options->output;
    char folder[PATH_ROOM] = "";
    PFR_TRY(whole_file_may_be(path, err));
    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output", "where are we? %s", strerror(errno));
    const int length = snprintf(r->output, sizeof r->output, "%s%s%s", folder, path[0] == '/' ? "" : "/", path);
    if (length < 0 || (size_t)length >= sizeof r->output || strchr(r->output, '%'))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output", "the path is too long, or has a %%");
    if (unlink(r->output) != 0 && errno != ENOENT)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output", "the existing file cannot be removed: %s",
                        strerror(errno));
    return try_output(r->output, err);
}

/* --- The program. */

bool tracing_find_program(const char *name, char *to, size_t room) {
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return (size_t)snprintf(to, room, "%s", name) < room;
    for (;;) {
        const size_t length = strcspn(path, ":");
        const int put = snprintf(to, room, "%.*s%s%s", (int)length, path, length ? "/" : "", name);
        if (put > 0 && (size_t)put < room && access(to, X_OK) == 0)
            return true;
        if (!path[length])
            return false;
        path += length + 1;
    }
}

#if defined __x86_64__
static const bool sleds_are_known = true;
#else
static const bool sleds_are_known = false;
#endif

static const char *advice_for(const pfr_tracing_hooks *h) {
    if (h->other_rights)
        return "is a set-user-ID or set-group-ID program, so the recorder cannot be loaded: trace a copy of it";
    if (h->sleds && !h->calls && !sleds_are_known)
        return "has only XRay sleds, which are supported on x86-64; build it with -finstrument-functions";
    if (!h->calls && !h->sleds && !h->has_runtime && h->has_symbols)
        return "is not instrumented: build it with -finstrument-functions (gcc, clang) or -fxray-instrument (clang), "
               "or use --any-program if its libraries are instrumented";
    if (!h->is_dynamic && !h->has_runtime && h->has_symbols)
        return "is static: link it with the recorder, pkg-config --libs --static perfray-rt";
    return NULL;
}

static pfr_status look_at_program(struct traced_run *r, pfr_error *err) {
    char path[TRACING_PROGRAM_ROOM];
    pfr_error unread;
    if (!tracing_find_program(r->words[0], path, sizeof path) || pfr_tracing_look(path, &r->hooks, &unread) != PFR_OK)
        return PFR_OK; /* execvp reports the reason */
    const char *advice = r->hooks.is_elf && !r->options->force ? advice_for(&r->hooks) : NULL;
    return advice ? pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "program", "%s", advice) : PFR_OK;
}

static pfr_status set_preload(struct traced_run *r, pfr_error *err) {
    const char *before = getenv("LD_PRELOAD");
    if (!r->options->runtime || r->hooks.has_runtime)
        return PFR_OK;
    const int put = snprintf(r->preload, sizeof r->preload, "%s%s%s", r->options->runtime, before && *before ? ":" : "",
                             before ? before : "");
    if (put < 0 || (size_t)put >= sizeof r->preload)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "program", "LD_PRELOAD is too long");
    return PFR_OK;
}

/* Does not return. If the program cannot be run, writes errno to `error_fd`. */
static void become_program(const struct traced_run *r, int error_fd) {
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (setenv("PERFRAY_RT", r->requests, 1) == 0 && (!r->preload[0] || setenv("LD_PRELOAD", r->preload, 1) == 0))
        execvp(r->words[0], (char *const *)(uintptr_t)r->words);
    const int why = errno;
    const ssize_t written = write(error_fd, &why, sizeof why);
    _exit(written == sizeof why ? 127 : 126);
}

static pfr_status wait_for(pid_t child, int error_fd, int *status, pfr_error *err) {
    int why = 0;
    const ssize_t got = read(error_fd, &why, sizeof why);
    pid_t ended;
    do
        ended = waitpid(child, status, 0);
    while (ended < 0 && errno == EINTR);
    if (got == sizeof why)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "cannot be run: %s", strerror(why));
    return PFR_OK;
}

/* Ignores SIGINT and SIGQUIT from the terminal, which the program receives too and may survive. */
static pfr_status start_and_wait(const struct traced_run *r, int *status, pfr_error *err) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int error_pipe[2];
    if (pipe2(error_pipe, O_CLOEXEC) != 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "no pipe: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0)
        become_program(r, error_pipe[1]);
    const int why = errno;
    close(error_pipe[1]);
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    const pfr_status st = child > 0 ? wait_for(child, error_pipe[0], status, err)
                                    : pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "%s", strerror(why));
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    close(error_pipe[0]);
    return st;
}

pfr_status pfr_tracing_run(const pfr_tracing_options *options, const char *const *words, pfr_tracing_result *result,
                           pfr_error *err) {
    struct traced_run r = {.options = options, .words = words};
    *result = (pfr_tracing_result){0};
    PFR_TRY(check_amounts(options, err));
    PFR_TRY(look_at_program(&r, err));
    PFR_TRY(set_output(&r, err));
    PFR_TRY(write_requests(&r, err));
    PFR_TRY(set_preload(&r, err));
    PFR_TRY(start_and_wait(&r, &result->status, err));
    if (access(r.output, F_OK) != 0)
        return PFR_OK;
    return pfr_tracing_finish(r.output, result, err);
}

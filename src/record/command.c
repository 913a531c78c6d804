/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command to record: a child that waits before exec, so that counters with enable_on_exec count from its first
 * instruction. If exec fails, the child writes errno to a pipe; a successful exec closes the pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "record/child_command.h"
#include "record/privileges.h"
#include "record/rings/targets.h"

static bool is_program(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

/* Whether a name without a slash is found in PATH, which is searched as by execvp(3). */
static bool is_in_path(const char *name) {
    const char *at = getenv("PATH");
    char path[PATH_MAX];
    for (bool more = at != NULL; more; at++) {
        const size_t length = strcspn(at, ":");
        const int made = snprintf(path, sizeof path, "%.*s/%s", (int)length, length ? at : ".", name);
        if (made < (int)sizeof path && is_program(path))
            return true;
        at += length;
        more = *at == ':';
    }
    return at == NULL; /* if PATH is not set, execvp searches default folders: the command may exist */
}

/* Checked early, so that no existing recording is renamed if the new one cannot be made. */
static pfr_status can_be_started(const char *name, pfr_error *err) {
    if (strchr(name, '/') ? is_program(name) : *name && is_in_path(name))
        return PFR_OK;
    struct stat facts;
    const bool is_there = strchr(name, '/') && stat(name, &facts) == 0;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "command", "cannot start '%.80s': %s", name,
                    !is_there                 ? strchr(name, '/') ? "the file does not exist" : "it is not in PATH"
                    : !S_ISREG(facts.st_mode) ? "it is not a regular file"
                                              : "it may not be executed");
}

static void become(const char *const *words, int go, int failed) {
    char byte;
    prctl(PR_SET_NAME, "perfray-exec");
    ssize_t got;
    do
        got = read(go, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(126); /* the pipe was closed: the recorder has ended, or does not run the command */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(words[0], (char *const *)(uintptr_t)words);
    const int why = errno;
    if (write(failed, &why, sizeof why) != sizeof why)
        _exit(126);
    _exit(127);
}

static void close_pipe(int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

static pfr_status fork_command(pfr_recorder *r, int go[2], int failed[2], pfr_error *err) {
    const pid_t pid = fork();
    if (pid < 0)
        return pfr_fail_errno(err, errno, "fork", r->options.command[0]);
    if (pid == 0) {
        close(go[1]);
        close(failed[0]);
        if (r->options.drop_privileges && !privileges_drop())
            _exit(126);
        if (r->options.output && strcmp(r->options.output, "-") == 0)
            dup2(STDERR_FILENO, STDOUT_FILENO); /* so that the output of the command does not go into the stream */
        become(r->options.command, go[0], failed[1]);
    }
    r->command = (struct recorder_command){.pid = pid, .go = go[1], .failed = failed[0]};
    r->command.watched = (int)syscall(SYS_pidfd_open, pid, 0);
    close(go[0]);
    close(failed[1]);
    return r->targets.of_command ? targets_add_task(r, pid, err) : PFR_OK;
}

pfr_status command_start(pfr_recorder *r, pfr_error *err) {
    int go[2], failed[2];
    PFR_TRY(can_be_started(r->options.command[0], err));
    if (pipe2(go, O_CLOEXEC) != 0)
        return pfr_fail_errno(err, errno, "make a pipe for", r->options.command[0]);
    if (pipe2(failed, O_CLOEXEC) != 0) {
        const int why = errno;
        close_pipe(go);
        return pfr_fail_errno(err, why, "make a pipe for", r->options.command[0]);
    }
    const pfr_status status = fork_command(r, go, failed, err);
    if (status < 0 && !r->command.pid) {
        close_pipe(go);
        close_pipe(failed);
    }
    return status;
}

pfr_status command_go(pfr_recorder *r, pfr_error *err) {
    struct recorder_command *const command = &r->command;
    int why = 0;
    ssize_t got;
    if (write(command->go, "", 1) != 1)
        return pfr_fail_errno(err, errno, "start", r->options.command[0]);
    close(command->go);
    command->go = -1;
    do
        got = read(command->failed, &why, sizeof why);
    while (got < 0 && errno == EINTR);
    close(command->failed);
    command->failed = -1;
    if (got != sizeof why)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "command", "cannot start %.80s: %s", r->options.command[0],
                    strerror(why));
}

/* Whether the command has ended. If another part of the program waits for children, or SIGCHLD is ignored, the status
 * of the command is unknown. */
bool command_ended(struct recorder_command *command) {
    if (!command->pid || command->ended)
        return command->ended;
    const pid_t got = waitpid(command->pid, &command->status, WNOHANG);
    command->has_status = got == command->pid;
    command->ended = got == command->pid || (got < 0 && errno == ECHILD);
    return command->ended;
}

static void close_if_open(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A child that still waits before exec ends when its pipe is closed. */
void command_end(struct recorder_command *command) {
    if (!command->pid)
        return;
    const bool waits = command->go >= 0;
    close_if_open(&command->go);
    close_if_open(&command->failed);
    close_if_open(&command->watched);
    if (waits && !command->ended)
        waitpid(command->pid, &command->status, 0);
    command->pid = 0;
}

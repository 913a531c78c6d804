/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tasks and CPUs to record, from lists such as "7,9" and "0,2-3", users, threads of processes (/proc) and
   online CPUs. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/rings/targets.h"
#include "record/rings/recorder_note.h"

pfr_status targets_add_task(pfr_recorder *r, pid_t tid, pfr_error *err) {
    if (r->targets.nr_tasks == r->targets.tasks_room) {
        const size_t room = r->targets.tasks_room ? 2 * r->targets.tasks_room : 16;
        void *const at =
            mem_resize(&r->memory, r->targets.tasks, r->targets.tasks_room, room, sizeof *r->targets.tasks);
        if (!at)
            return mem_fail(&r->memory, err, "tasks");
        r->targets.tasks = at;
        r->targets.tasks_room = room;
    }
    r->targets.tasks[r->targets.nr_tasks++].tid = tid;
    return PFR_OK;
}

pfr_status targets_add_cpu(pfr_recorder *r, int32_t cpu, pfr_error *err) {
    if (r->targets.nr_cpus == r->targets.cpus_room) {
        const size_t room = r->targets.cpus_room ? 2 * r->targets.cpus_room : 16;
        void *const at = mem_resize(&r->memory, r->targets.cpus, r->targets.cpus_room, room, sizeof *r->targets.cpus);
        if (!at)
            return mem_fail(&r->memory, err, "cpus");
        r->targets.cpus = at;
        r->targets.cpus_room = room;
    }
    r->targets.cpus[r->targets.nr_cpus++] = cpu;
    return PFR_OK;
}

void targets_free(pfr_recorder *r) {
    mem_free(&r->memory, r->targets.tasks, r->targets.tasks_room, sizeof *r->targets.tasks);
    mem_free(&r->memory, r->targets.cpus, r->targets.cpus_room, sizeof *r->targets.cpus);
}

/* Takes a number. false: there are no digits, or the number is above `most`. */
static bool take_number(const char **text, long most, long *value) {
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *value = strtol(*text, &end, 10);
    *text = end;
    return errno == 0 && *value <= most;
}

static pfr_status wrong_list(const char *what, const char *text, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, what, "'%.60s' is not a list of %s, such as %s", text, what,
                    strcmp(what, "cpus") == 0 ? "0,2-3" : "7,9");
}

/* --- cpus --- */

static pfr_status add_cpus(pfr_recorder *r, const char *text, pfr_error *err) {
    const char *at = text;
    long first, last;
    do {
        if (!take_number(&at, INT16_MAX, &first))
            return wrong_list("cpus", text, err);
        last = first;
        if (*at == '-' && (at++, !take_number(&at, INT16_MAX, &last)))
            return wrong_list("cpus", text, err);
        for (long cpu = first; cpu <= last; cpu++)
            PFR_TRY(targets_add_cpu(r, (int32_t)cpu, err));
    } while (*at++ == ',');
    return at[-1] == '\0' ? PFR_OK : wrong_list("cpus", text, err);
}

static pfr_status add_online(pfr_recorder *r, pfr_error *err) {
    char text[4096];
    if (kernel_text(text, sizeof text, r->kernel->sys, "devices/system/cpu/online") > 0)
        return add_cpus(r, text, err);
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
        PFR_TRY(targets_add_cpu(r, (int32_t)cpu, err));
    return PFR_OK;
}

bool targets_online(const struct kernel *kernel, struct cpu_list *list) {
    char text[4096];
    const char *at = text;
    long first, last;
    list->count = 0;
    if (kernel_text(text, sizeof text, kernel->sys, "devices/system/cpu/online") <= 0)
        return false;
    do {
        if (!take_number(&at, INT16_MAX, &first))
            return false;
        last = first;
        if (*at == '-' && (at++, !take_number(&at, INT16_MAX, &last)))
            return false;
        for (long cpu = first; cpu <= last && list->count < CPUS_MOST; cpu++)
            list->at[list->count++] = (int32_t)cpu;
    } while (*at++ == ',');
    return true;
}

/* Refuses CPUs that the machine cannot have. For a CPU that is offline, the kernel reports an error. */
static pfr_status cpus_are_possible(const pfr_recorder *r, pfr_error *err) {
    char text[4096];
    if (kernel_text(text, sizeof text, r->kernel->sys, "devices/system/cpu/possible") <= 0)
        return PFR_OK;
    const char *const dash = strrchr(text, '-'), *const comma = strrchr(text, ',');
    const char *const last = dash && dash > comma ? dash + 1 : comma ? comma + 1 : text;
    for (size_t i = 0; i < r->targets.nr_cpus; i++)
        if (r->targets.cpus[i] > strtol(last, NULL, 10))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "cpu", "there is no CPU %d; this machine has %.60s",
                            (int)r->targets.cpus[i], text);
    return PFR_OK;
}

/* --- tasks --- */

static pfr_status no_process(long pid, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pid", "there is no process or thread %ld", pid);
}

pfr_status targets_add_threads(pfr_recorder *r, pid_t pid, pid_t but, pfr_error *err) {
    char path[PATH_MAX];
    pfr_status status = PFR_OK;
    snprintf(path, sizeof path, "%s/%d/task", r->kernel->proc, (int)pid);
    DIR *const folder = opendir(path);
    if (!folder)
        return no_process(pid, err);
    for (struct dirent *entry; status == PFR_OK && (entry = readdir(folder));) {
        const long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != but)
            status = targets_add_task(r, (pid_t)tid, err);
    }
    closedir(folder);
    return status;
}

static pfr_status add_pids(pfr_recorder *r, const char *text, pfr_error *err) {
    const char *at = text;
    long pid;
    do {
        if (!take_number(&at, INT_MAX, &pid))
            return wrong_list("pids", text, err);
        PFR_TRY(targets_add_threads(r, (pid_t)pid, 0, err));
    } while (*at++ == ',');
    return at[-1] == '\0' ? PFR_OK : wrong_list("pids", text, err);
}

static pfr_status add_tids(pfr_recorder *r, const char *text, pfr_error *err) {
    char name[64];
    const char *at = text;
    long tid;
    do {
        if (!take_number(&at, INT_MAX, &tid))
            return wrong_list("tids", text, err);
        if (kernel_text(name, sizeof name, r->kernel->proc, "%ld/comm", tid) < 0)
            return no_process(tid, err);
        PFR_TRY(targets_add_task(r, (pid_t)tid, err));
    } while (*at++ == ',');
    return at[-1] == '\0' ? PFR_OK : wrong_list("tids", text, err);
}

static bool user_number(const char *text, uid_t *user) {
    const char *at = text;
    long number;
    if (take_number(&at, INT_MAX, &number) && *at == '\0') {
        *user = (uid_t)number;
        return true;
    }
    const struct passwd *const entry = getpwnam(text);
    if (entry)
        *user = entry->pw_uid;
    return entry != NULL;
}

static bool is_of_user(const struct kernel *kernel, long pid, uid_t user) {
    char text[4096];
    unsigned real;
    if (kernel_text(text, sizeof text, kernel->proc, "%ld/status", pid) < 0)
        return false;
    const char *const line = strstr(text, "\nUid:");
    return line && sscanf(line + 5, "%u", &real) == 1 && real == user;
}

static pfr_status add_user(pfr_recorder *r, const char *text, pfr_error *err) {
    uid_t user;
    if (!user_number(text, &user))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "uid", "there is no user '%.60s'", text);
    DIR *const folder = opendir(r->kernel->proc);
    if (!folder)
        return pfr_fail_errno(err, errno, "read", r->kernel->proc);
    pfr_status status = PFR_OK;
    for (struct dirent *entry; status >= 0 && (entry = readdir(folder));) {
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && pid != getpid() && is_of_user(r->kernel, pid, user))
            status = targets_add_threads(r, (pid_t)pid, 0, NULL) == PFR_ERR_MEMORY ? PFR_ERR_MEMORY : PFR_OK;
    }
    closedir(folder);
    if (status >= 0 && r->targets.nr_tasks == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "uid", "no process of user '%.60s' is running", text);
    return status < 0 ? mem_fail(&r->memory, err, "tasks") : PFR_OK;
}

bool targets_are_gone(const pfr_recorder *r) {
    for (size_t i = 0; i < r->targets.nr_tasks; i++) {
        char stat[512];
        if (kernel_text(stat, sizeof stat, r->kernel->proc, "%d/stat", (int)r->targets.tasks[i].tid) <= 0)
            continue;
        const char *const state = strrchr(stat, ')');
        if (state && state[1] && state[2] != 'Z' && state[2] != 'X')
            return false;
    }
    return r->targets.nr_tasks > 0;
}

static int compare_tasks(const void *left, const void *right) {
    const struct task_target *const a = left, *const b = right;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

static int compare_cpus(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Sorts the targets and removes duplicates. */
static void sort_out(pfr_recorder *r) {
    size_t kept = 0;
    if (r->targets.nr_tasks)
        qsort(r->targets.tasks, r->targets.nr_tasks, sizeof *r->targets.tasks, compare_tasks);
    for (size_t i = 0; i < r->targets.nr_tasks; i++)
        if (kept == 0 || r->targets.tasks[kept - 1].tid != r->targets.tasks[i].tid)
            r->targets.tasks[kept++] = r->targets.tasks[i];
    r->targets.nr_tasks = kept;
    kept = 0;
    if (r->targets.nr_cpus)
        qsort(r->targets.cpus, r->targets.nr_cpus, sizeof *r->targets.cpus, compare_cpus);
    for (size_t i = 0; i < r->targets.nr_cpus; i++)
        if (kept == 0 || r->targets.cpus[kept - 1] != r->targets.cpus[i])
            r->targets.cpus[kept++] = r->targets.cpus[i];
    r->targets.nr_cpus = kept;
}

static pfr_status find_tasks(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    if (o->pids)
        PFR_TRY(add_pids(r, o->pids, err));
    if (o->tids)
        PFR_TRY(add_tids(r, o->tids, err));
    if (o->user)
        PFR_TRY(add_user(r, o->user, err));
    if (o->self)
        PFR_TRY(targets_add_threads(r, getpid(), r->worker.tid, err));
    return PFR_OK;
}

pfr_status targets_find(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    const bool names_tasks = o->pids || o->tids || o->user || o->self;
    const bool cpus_alone = (o->all_cpus || o->cpus) && !names_tasks;
    if (!names_tasks && !cpus_alone && !o->command)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "target",
                        "nothing to record: give a COMMAND, -p PID, -t TID, -u USER, -C CPUS or -a");
    if (names_tasks && o->all_cpus)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "target",
                        "-a records all tasks and cannot be combined with -p, -t or -u");
    if (cpus_alone && o->per_thread) {
        recorder_note(r, "--per-thread cannot be combined with recording whole CPUs");
        r->options.per_thread = false;
    }
    r->targets.by_cpu = cpus_alone;
    r->targets.by_task = !cpus_alone;
    r->targets.of_command = o->command && !names_tasks && !cpus_alone;
    if (r->targets.by_cpu && !o->cpus)
        targets_online(r->kernel, &r->targets.online);
    PFR_TRY(find_tasks(r, err));
    PFR_TRY(o->cpus ? add_cpus(r, o->cpus, err) : add_online(r, err));
    sort_out(r);
    return o->cpus ? cpus_are_possible(r, err) : PFR_OK;
}

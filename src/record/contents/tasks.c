/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the map of the kernel, and the tasks that run when recording starts. The facts are from /proc. The records are
 * like those that the kernel would have written: FORK, COMM, NAMESPACES and MMAP2 of each task. Their time is 0, which
 * shows readers that they are older than the recording. The counters that report new tasks are already open, and their
 * rings are drained meanwhile, so no task is missed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "record/contents/tasks.h"
#include "record/rings/put_record.h"
#include "record/rings/recorder_note.h"
#include "record/rings/rings.h"
#include "wire/layout.h"

enum { MISC_KERNEL = 1, MISC_USER = 2, MISC_DATA = 0x2000 };

#define KERNEL_NAME "[kernel.kallsyms]"
#define NAME_ROOM 4096u

static pfr_text text_of(const char *text) {
    return (pfr_text){.at = text, .length = (uint32_t)strlen(text)};
}

/* --- the kernel --- */

struct kernel_text_range {
    uint64_t start, end;
    const char *symbol; /* "_text", or "_stext" if there is no _text */
};

/* Finds the symbols at which the text of the kernel begins and ends. _text is among the first symbols, but _etext is
 * near the end of the file, so the whole file is read, unless the size of the text is known. */
static void find_symbols(FILE *symbols, bool wants_end, struct kernel_text_range *range) {
    char line[512];
    uint64_t stext = 0;
    while (fgets(line, sizeof line, symbols)) {
        char type, name[256];
        unsigned long long address;
        if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3)
            continue;
        if (strcmp(name, "_stext") == 0)
            stext = address;
        if (strcmp(name, "_text") == 0)
            *range = (struct kernel_text_range){address, range->end, "_text"};
        if (strcmp(name, "_etext") == 0)
            range->end = address;
        if (range->end || (!wants_end && range->symbol))
            break;
    }
    if (!range->symbol && stext)
        *range = (struct kernel_text_range){stext, range->end, "_stext"};
}

/* Reads the size of the kernel code from "  01000000-022090c7 : Kernel code". Without permission, the numbers are
 * zeros. */
static uint64_t code_size(const struct kernel *kernel) {
    char text[16384];
    if (kernel_text(text, sizeof text, kernel->proc, "iomem") <= 0)
        return 0;
    const char *at = strstr(text, " : Kernel code");
    while (at && at > text && at[-1] != '\n')
        at--;
    unsigned long long start, last;
    return at && sscanf(at, " %llx-%llx", &start, &last) == 2 && last > start ? last + 1 - start : 0;
}

static bool find_kernel(const struct kernel *kernel, struct kernel_text_range *range) {
    char path[PATH_MAX];
    const uint64_t size = code_size(kernel);
    snprintf(path, sizeof path, "%s/kallsyms", kernel->proc);
    FILE *const symbols = fopen(path, "re");
    *range = (struct kernel_text_range){0};
    if (!symbols)
        return false;
    find_symbols(symbols, size == 0, range);
    fclose(symbols);
    if (size)
        range->end = range->start + size;
    return range->symbol && range->start && range->end > range->start;
}

static pfr_status put_map(pfr_recorder *r, uint64_t start, uint64_t length, uint64_t offset, const char *name,
                          pfr_error *err) {
    const struct pfr_rec_mmap map = {
        .pid = UINT32_MAX, .addr = start, .len = length, .pgoff = offset, .filename = text_of(name)};
    return put_record(r, PFR_RECORD_MMAP, MISC_KERNEL, &map, sizeof map, err);
}

/* Parses lines "name size users deps state 0xaddress". Modules are recorded as [name], without the path of a file. */
static pfr_status put_modules(pfr_recorder *r, pfr_error *err) {
    char path[PATH_MAX], line[4096];
    pfr_status status = PFR_OK;
    snprintf(path, sizeof path, "%s/modules", r->kernel->proc);
    FILE *const modules = fopen(path, "re");
    while (modules && status == PFR_OK && fgets(line, sizeof line, modules)) {
        char name[200], shown[256];
        unsigned long long size, address;
        if (sscanf(line, "%199s %llu %*s %*s %*s %llx", name, &size, &address) != 3 || !address)
            continue;
        snprintf(shown, sizeof shown, "[%s]", name);
        status = put_map(r, address, size, 0, shown, err);
    }
    if (modules)
        fclose(modules);
    return status;
}

pfr_status tasks_put_kernel(pfr_recorder *r, pfr_error *err) {
    struct kernel_text_range range;
    char name[64];
    if (r->events.at[0].attr.exclude_kernel && r->events.count == 1)
        return PFR_OK;
    if (!find_kernel(r->kernel, &range)) {
        recorder_note(r, "kernel addresses are hidden, so kernel functions will have no names; kernel.kptr_restrict=0 "
                         "and kernel.perf_event_paranoid=1 or less make them visible");
        return PFR_OK;
    }
    snprintf(name, sizeof name, KERNEL_NAME "%s", range.symbol);
    PFR_TRY(put_map(r, range.start, range.end - range.start, range.start, name, err));
    return put_modules(r, err);
}

/* --- tasks --- */

static bool read_status(const struct kernel *kernel, pid_t pid, pid_t tid, pid_t *group, pid_t *parent) {
    char text[4096];
    if (kernel_text(text, sizeof text, kernel->proc, "%d/task/%d/status", (int)pid, (int)tid) <= 0)
        return false;
    const char *const tgid = strstr(text, "\nTgid:"), *const ppid = strstr(text, "\nPPid:");
    *group = tgid ? (pid_t)strtol(tgid + 6, NULL, 10) : pid;
    *parent = ppid ? (pid_t)strtol(ppid + 6, NULL, 10) : 0;
    return true;
}

static pfr_status put_comm(pfr_recorder *r, pid_t pid, pid_t tid, const char *name, pfr_error *err) {
    const struct pfr_rec_comm comm = {.pid = (uint32_t)pid, .tid = (uint32_t)tid, .comm = text_of(name)};
    return put_record(r, PFR_RECORD_COMM, 0, &comm, sizeof comm, err);
}

static pfr_status put_fork(pfr_recorder *r, pid_t pid, pid_t tid, pid_t parent, pfr_error *err) {
    const pid_t from = pid == tid ? parent : pid;
    const struct pfr_rec_fork fork = {
        .pid = (uint32_t)pid, .ppid = (uint32_t)from, .tid = (uint32_t)tid, .ptid = (uint32_t)from};
    return put_record(r, PFR_RECORD_FORK, MISC_DATA, &fork, sizeof fork, err);
}

static pfr_status put_namespaces(pfr_recorder *r, pid_t pid, pid_t tid, pfr_error *err) {
    static const char *const kinds[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
    static const struct pfr_context plain;
    uint64_t links[7][2] = {{0}};
    for (size_t i = 0; i < 7; i++) {
        char path[PATH_MAX];
        struct stat facts;
        snprintf(path, sizeof path, "%s/%d/task/%d/ns/%s", r->kernel->proc, (int)pid, (int)tid, kinds[i]);
        if (stat(path, &facts) == 0) {
            links[i][0] = facts.st_dev;
            links[i][1] = facts.st_ino;
        }
    }
    const struct pfr_rec_namespaces spaces = {
        .pid = (uint32_t)pid,
        .tid = (uint32_t)tid,
        .nr_namespaces = 7,
        .link_info = {
            .at = (const uint8_t *)links, .length = sizeof links, .count = 7, .of = L_link_info, .context = &plain}};
    return put_record(r, PFR_RECORD_NAMESPACES, 0, &spaces, sizeof spaces, err);
}

static uint32_t protection_of(const char *letters) {
    return (letters[0] == 'r' ? PROT_READ : 0u) | (letters[1] == 'w' ? PROT_WRITE : 0u) |
           (letters[2] == 'x' ? PROT_EXEC : 0u);
}

/* Parses a line of /proc/PID/maps: "start-end rwxp offset major:minor inode   path". */
static pfr_status put_line(pfr_recorder *r, pid_t pid, char *line, pfr_error *err) {
    unsigned long long start, end, offset, inode;
    unsigned major_number, minor_number;
    char letters[5];
    int path = 0;
    if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, letters, &offset, &major_number, &minor_number,
               &inode, &path) < 7)
        return PFR_OK;
    const bool code = letters[2] == 'x';
    if (!code && !(r->events.at[r->tracking].attr.mmap_data && letters[0] == 'r'))
        return PFR_OK;
    line[strcspn(line, "\n")] = '\0';
    const char *const name = line[path] ? line + path : "//anon";
    const struct pfr_rec_mmap2 map = {.pid = (uint32_t)pid,
                                      .tid = (uint32_t)pid,
                                      .addr = start,
                                      .len = end - start,
                                      .pgoff = offset,
                                      .maj = major_number,
                                      .min = minor_number,
                                      .ino = inode,
                                      .prot = protection_of(letters),
                                      .flags = letters[3] == 's' ? MAP_SHARED : MAP_PRIVATE,
                                      .filename = text_of(name)};
    return put_record(r, PFR_RECORD_MMAP2, (uint16_t)(MISC_USER | (code ? 0 : MISC_DATA)), &map, sizeof map, err);
}

static pfr_status put_maps(pfr_recorder *r, pid_t pid, pfr_error *err) {
    char path[PATH_MAX], line[NAME_ROOM + 128];
    pfr_status status = PFR_OK;
    snprintf(path, sizeof path, "%s/%d/maps", r->kernel->proc, (int)pid);
    FILE *const maps = fopen(path, "re");
    while (maps && status == PFR_OK && fgets(line, sizeof line, maps))
        status = put_line(r, pid, line, err);
    if (maps)
        fclose(maps);
    return status;
}

/* Writes the records of one task. If the task has ended meanwhile, records that can no longer be made are omitted. */
static pfr_status put_task(pfr_recorder *r, pid_t pid, pid_t tid, pfr_error *err) {
    char name[64];
    pid_t group, parent;
    if (!read_status(r->kernel, pid, tid, &group, &parent) ||
        kernel_text(name, sizeof name, r->kernel->proc, "%d/task/%d/comm", (int)pid, (int)tid) < 0)
        return PFR_OK;
    if (r->targets.by_cpu || group != tid)
        PFR_TRY(put_fork(r, group, tid, parent, err));
    if (r->options.namespaces)
        PFR_TRY(put_namespaces(r, group, tid, err));
    PFR_TRY(put_comm(r, group, tid, name, err));
    return group == tid && r->synthesize & SYNTHESIZE_MAPS ? put_maps(r, group, err) : PFR_OK;
}

static pfr_status put_threads(pfr_recorder *r, pid_t pid, pfr_error *err) {
    char path[PATH_MAX];
    pfr_status status = put_task(r, pid, pid, err);
    snprintf(path, sizeof path, "%s/%d/task", r->kernel->proc, (int)pid);
    DIR *const folder = opendir(path);
    for (struct dirent *entry; folder && status == PFR_OK && (entry = readdir(folder));) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid != pid)
            status = put_task(r, pid, tid, err);
    }
    if (folder)
        closedir(folder);
    return status == PFR_OK ? rings_drain_filling(r, err) : status;
}

static pfr_status put_everything(pfr_recorder *r, pfr_error *err) {
    pfr_status status = PFR_OK;
    DIR *const folder = opendir(r->kernel->proc);
    if (!folder)
        return pfr_fail_errno(err, errno, "read", r->kernel->proc);
    for (struct dirent *entry; status == PFR_OK && (entry = readdir(folder));) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0)
            status = put_threads(r, pid, err);
    }
    closedir(folder);
    return status;
}

/* Writes the processes of the targets, each only once and with all its threads, because threads share maps. */
static pfr_status put_targets(pfr_recorder *r, pfr_error *err) {
    pid_t last = 0;
    for (size_t i = 0; i < r->targets.nr_tasks; i++) {
        pid_t group, parent;
        const pid_t tid = r->targets.tasks[i].tid;
        if (!read_status(r->kernel, tid, tid, &group, &parent) || group == last)
            continue;
        last = group;
        PFR_TRY(put_threads(r, group, err));
    }
    return PFR_OK;
}

/* --- cgroups: one per folder of the version 2 hierarchy; the id is the inode number of the folder --- */

#define CGROUP_DEPTH 16

static pfr_status put_cgroup(pfr_recorder *r, const char *root, const char *path, unsigned depth, pfr_error *err) {
    char whole[PATH_MAX];
    struct stat facts;
    if (snprintf(whole, sizeof whole, "%s%s", root, path) >= (int)sizeof whole || stat(whole, &facts) != 0)
        return PFR_OK;
    const struct pfr_rec_cgroup cgroup = {.id = facts.st_ino, .path = text_of(path)};
    PFR_TRY(put_record(r, PFR_RECORD_CGROUP, 0, &cgroup, sizeof cgroup, err));
    pfr_status status = PFR_OK;
    DIR *const folder = depth < CGROUP_DEPTH ? opendir(whole) : NULL;
    for (struct dirent *entry; folder && status == PFR_OK && (entry = readdir(folder));) {
        char inner[PATH_MAX];
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            snprintf(inner, sizeof inner, "%s%s%s", path, path[1] ? "/" : "", entry->d_name) < (int)sizeof inner)
            status = put_cgroup(r, root, inner, depth + 1, err);
    }
    if (folder)
        closedir(folder);
    return status;
}

static pfr_status put_cgroups(pfr_recorder *r, pfr_error *err) {
    static const char *const roots[] = {"fs/cgroup/unified", "fs/cgroup"};
    char text[64], root[PATH_MAX];
    for (size_t i = 0; i < 2; i++)
        if (kernel_text(text, sizeof text, r->kernel->sys, "%s/cgroup.procs", roots[i]) >= 0) {
            snprintf(root, sizeof root, "%s/%s", r->kernel->sys, roots[i]);
            return put_cgroup(r, root, "/", 0, err);
        }
    return PFR_OK;
}

/* Writes the running tasks again at the end, because records written at the start may have been overwritten. */
pfr_status tasks_put_tail(pfr_recorder *r, pfr_error *err) {
    if ((!r->options.overwrite && !r->options.tail_synthesize) || !(r->synthesize & SYNTHESIZE_TASKS))
        return PFR_OK;
    return r->targets.by_cpu ? put_everything(r, err) : put_targets(r, err);
}

pfr_status tasks_put_all(pfr_recorder *r, pfr_error *err) {
    if (r->options.cgroup_events && r->synthesize & SYNTHESIZE_CGROUPS)
        PFR_TRY(put_cgroups(r, err));
    if (!(r->synthesize & SYNTHESIZE_TASKS))
        return PFR_OK;
    if (r->targets.by_cpu)
        return put_everything(r, err);
    if (!r->targets.of_command || r->result.parts > 1)
        return put_targets(r, err);
    if (r->options.namespaces)
        PFR_TRY(put_namespaces(r, r->command.pid, r->command.pid, err));
    return put_comm(r, r->command.pid, r->command.pid, "perfray-exec", err);
}

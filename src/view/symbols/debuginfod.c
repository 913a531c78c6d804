/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches files that a recording needs from debuginfod servers: see perfray/debuginfod.h. */
#include <perfray/debuginfod.h>

#include "base/threads/confined.h"
#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "model/profile/result/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FINDER "debuginfod-find"
#define BYTES_MOST ((uint64_t)1 << 30)
#define SECONDS_MOST 90u
#define VARIABLE_ROOM 4096u

extern char **environ;

struct wanted_file {
    uint64_t samples;
    uint32_t object;
};

struct fetching {
    const pfr_debuginfod_options *options;
    pfr_symbol_options naming;
    const char *folder;
    struct memory *memory;
    struct profile *profile;
    char urls[VARIABLE_ROOM], cache[VARIABLE_ROOM], bytes[64];
    char **environment;
    size_t environment_room;
    uint64_t until_ms;
    uint64_t all; /* number of all samples */
};

/* --- Files to fetch. */

static int by_samples(const void *a, const void *b) {
    const struct wanted_file *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static void count_samples(struct fetching *f, struct wanted_file *wanted, uint32_t count) {
    const struct profile *p = f->profile;
    for (uint32_t i = 0; i < count; i++)
        wanted[i].object = i;
    for (uint32_t i = 0; i < p->nr_nodes; i++) {
        const uint64_t samples = node_weight(&p->self, i)->samples;
        f->all += samples;
        if (p->nodes[i].parent == NO_NODE)
            continue;
        const uint32_t object = p->frames[node_frame(&p->nodes[i])].object;
        if (object < count)
            wanted[object].samples += samples;
    }
    qsort(wanted, count, sizeof *wanted, by_samples);
}

/* Parts of an object that this machine has: the object itself, and symbols and lines, which may be in a separate debug
   file. */
struct present {
    bool object, symbols, lines;
};

static bool has_lines(const struct symbol_object *object, struct memory *memory) {
    struct debug_lines *lines;
    if (debug_lines_open(object, memory, &lines) != SYMBOL_FOUND)
        return false;
    debug_lines_close(lines);
    return true;
}

static bool has_lines_apart(const struct named_object *named, const struct debug_search *search,
                            struct memory *memory) {
    struct symbol_object apart;
    char path[DEBUG_PATH_ROOM];
    for (unsigned place = 0; named->handle && place < DEBUG_PLACES; place++)
        if (named_object_debug_place(named, search, place, path, &apart) && has_lines(&apart, memory))
            return true;
    return false;
}

static struct present look_for(const struct fetching *f, const struct object *o) {
    const struct debug_search search = {.path = intern_chars(&f->profile->state.names, o->path),
                                        .symfs = f->naming.symfs,
                                        .folder = f->naming.debug_dir,
                                        .fetched = f->folder,
                                        .build_id = o->build_id,
                                        .size = o->build_id_size};
    const struct symbol_object own = {.kind = SYMBOL_USER,
                                      .path = search.path,
                                      .symfs = search.symfs,
                                      .build_id = o->build_id,
                                      .build_id_size = o->build_id_size};
    struct memory *memory = f->profile->memory;
    struct present found = {0};
    struct named_object named;
    struct name_limits limits;
    name_limits_init(&limits, memory);
    named_object_begin(&named, &limits, own.path);
    const enum symbol_result result = named_object_open_elf(&named, &own, &search);
    found.symbols = result == SYMBOL_FOUND;
    found.object = found.symbols || result == SYMBOL_NO_SYMBOLS;
    found.lines = has_lines(&own, memory) || has_lines_apart(&named, &search, memory);
    named_object_close(&named);
    return found;
}

/* --- The debuginfod-find process. */

static bool is_ours(const char *variable) {
    return strncmp(variable, "DEBUGINFOD_", 11) == 0;
}

/* Makes the environment of the process: that of this process, with the variables of debuginfod replaced. */
static pfr_status make_environment(struct fetching *f, pfr_error *err) {
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    f->environment_room = count + 4;
    f->environment = mem_zeroed(f->memory, f->environment_room, sizeof *f->environment);
    if (!f->environment)
        return mem_fail(f->memory, err, "debuginfod");
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            f->environment[kept++] = environ[i];
    f->environment[kept++] = f->urls;
    f->environment[kept++] = f->cache;
    f->environment[kept++] = f->bytes;
    return PFR_OK;
}

/* Output of debuginfod-find: the path of the file that it fetched. */
struct finder_answer {
    char text[VARIABLE_ROOM];
    size_t length;
};

/* Reads a part of the output; what does not fit is dropped. Returns false at the end of the output. */
static bool hear(int talk, struct finder_answer *answer) {
    char bytes[256];
    const ssize_t got = read(talk, bytes, sizeof bytes);
    const size_t room = sizeof answer->text - 1 - answer->length;
    if (got <= 0)
        return false;
    const size_t length = (size_t)got < room ? (size_t)got : room;
    memcpy(answer->text + answer->length, bytes, length);
    answer->length += length;
    return true;
}

/* Waits until the process ends, and kills it when the time is over. Returns whether the process succeeded. */
static bool wait_for(pid_t pid, int talk, uint64_t until_ms, struct finder_answer *answer) {
    int status = 0;
    struct pollfd p = {.fd = talk, .events = POLLIN};
    for (;;) {
        const uint64_t now = confined_now_ms();
        const int ready = now < until_ms ? poll(&p, 1, (int)(until_ms - now)) : 0;
        if (ready == 0)
            kill(pid, SIGKILL);
        if (ready == 0 || (ready > 0 && !hear(talk, answer)))
            break;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* `path` is the path of the source file; NULL if `what` is not "source". */
static pfr_status run_finder(const struct fetching *f, const char *what, const char *id, const char *path, bool *found,
                             struct finder_answer *answer, pfr_error *err) {
    char *words[] = {(char *)(uintptr_t)FINDER, (char *)(uintptr_t)what, (char *)(uintptr_t)id, (char *)(uintptr_t)path,
                     NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int talk[2];
    *answer = (struct finder_answer){.length = 0};
    if (pipe2(talk, O_CLOEXEC) != 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "debuginfod", "no pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, talk[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int failed = posix_spawnp(&pid, FINDER, &actions, NULL, words, f->environment);
    posix_spawn_file_actions_destroy(&actions);
    close(talk[1]);
    *found = !failed && wait_for(pid, talk[0], f->until_ms, answer);
    close(talk[0]);
    return failed ? pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "debuginfod",
                             FINDER " cannot be run: %s; install it (Debian: package debuginfod)", strerror(failed))
                  : PFR_OK;
}

static void write_id(char id[2 * BUILD_ID_ROOM + 1], const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size && i < BUILD_ID_ROOM; i++)
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* --- One object after the other. */

static void report_fetch(const struct fetching *f, const struct wanted_file *w, const char *id, const char *how,
                         bool found) {
    char text[512], path[DEBUG_PATH_ROOM];
    struct stat facts;
    const struct object *o = &f->profile->state.objects.at[w->object];
    const double share = f->all ? 100.0 * (double)w->samples / (double)f->all : 0;
    snprintf(path, sizeof path, "%.700s/%.128s/%s", f->folder, id, how);
    if (!f->options->note)
        return;
    if (found && stat(path, &facts) == 0)
        snprintf(text, sizeof text, "debuginfod: %s of %.200s (%.1f %% of samples): %" PRIu64 " bytes", how,
                 intern_chars(&f->profile->state.names, o->path), share, (uint64_t)facts.st_size);
    else
        snprintf(text, sizeof text, "debuginfod: %s of %.200s (%.1f %% of samples): %s", how,
                 intern_chars(&f->profile->state.names, o->path), share,
                 confined_now_ms() < f->until_ms ? "no server has it" : "not in time");
    f->options->note(f->options->context, text);
}

static pfr_status fetch(const struct fetching *f, const struct wanted_file *w, const char *what, pfr_error *err) {
    const struct object *o = &f->profile->state.objects.at[w->object];
    char id[2 * BUILD_ID_ROOM + 1];
    struct finder_answer answer;
    bool found;
    write_id(id, o->build_id, o->build_id_size);
    PFR_TRY(run_finder(f, what, id, NULL, &found, &answer, err));
    report_fetch(f, w, id, what, found);
    return PFR_OK;
}

static pfr_status fetch_object(const struct fetching *f, const struct wanted_file *w, pfr_error *err) {
    const struct object *o = &f->profile->state.objects.at[w->object];
    if (o->kind != OBJECT_FILE || o->build_id_size < 4)
        return PFR_OK;
    const struct present there = look_for(f, o);
    if (!there.object)
        PFR_TRY(fetch(f, w, "executable", err));
    return there.symbols && there.lines ? PFR_OK : fetch(f, w, "debuginfo", err);
}

static pfr_status fetch_all(struct fetching *f, pfr_error *err) {
    const uint32_t count = f->profile->state.objects.keys.count;
    struct memory *memory = f->profile->memory;
    struct wanted_file *wanted = mem_zeroed(memory, count, sizeof *wanted);
    if (!wanted)
        return mem_fail(memory, err, "debuginfod");
    pfr_status st = PFR_OK;
    count_samples(f, wanted, count);
    for (uint32_t i = 0; st >= 0 && i < count && confined_now_ms() < f->until_ms; i++)
        if (wanted[i].samples)
            st = fetch_object(f, &wanted[i], err);
    mem_free(memory, wanted, count, sizeof *wanted);
    return st;
}

/* --- Cache folder and servers. */

static pfr_status prepare(struct fetching *f, char folder[PFR_DEBUGINFOD_ROOM], pfr_error *err) {
    const pfr_debuginfod_options *o = f->options;
    const char *urls = o->urls && *o->urls ? o->urls : getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "debuginfod",
                        "no server is configured: use --debuginfod=URL or set DEBUGINFOD_URLS");
    if (!fetched_folder(folder, PFR_DEBUGINFOD_ROOM / 2))
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "debuginfod",
                        "no directory for fetched files: set HOME or DEBUGINFOD_CACHE_PATH");
    if (snprintf(f->urls, sizeof f->urls, "DEBUGINFOD_URLS=%s", urls) >= (int)sizeof f->urls)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "debuginfod", "the names of servers are too long");
    snprintf(f->cache, sizeof f->cache, "DEBUGINFOD_CACHE_PATH=%s", folder);
    snprintf(f->bytes, sizeof f->bytes, "DEBUGINFOD_MAXSIZE=%" PRIu64, o->bytes_most ? o->bytes_most : BYTES_MOST);
    f->folder = folder;
    f->until_ms = confined_now_ms() + (uint64_t)(o->seconds_most ? o->seconds_most : SECONDS_MOST) * 1000;
    return PFR_OK;
}

pfr_status pfr_debuginfod_fetch(pfr_reader *reader, const pfr_debuginfod_options *options,
                                char folder[PFR_DEBUGINFOD_ROOM], pfr_error *err) {
    struct fetching f = {.options = options, .naming = naming_of(options->naming)};
    const struct profile_request request = {.shape = PROFILE_LEAVES, .names = {.naming = {.no_symbols = true}}};
    folder[0] = '\0';
    if (reader->trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "debuginfod",
                        "a trace contains no build-ids, so nothing can be fetched; name the program with -m");
    PFR_TRY(prepare(&f, folder, err));
    PFR_TRY(profile_load(&f.profile, reader, &request, err));
    f.memory = f.profile->memory;
    pfr_status st = make_environment(&f, err);
    if (st >= 0)
        st = fetch_all(&f, err);
    mem_free(f.memory, f.environment, f.environment ? f.environment_room : 0, sizeof *f.environment);
    profile_close(f.profile);
    return st < 0 ? st : pfr_rewind(reader, err);
}

/* --- Source files. */

/* Whether debuginfod-find printed a path in the directory of downloads. Cuts the answer at its first newline. */
static bool is_download(const struct fetching *f, struct finder_answer *answer) {
    const size_t length = strlen(f->folder);
    answer->text[strcspn(answer->text, "\n")] = '\0';
    return strncmp(answer->text, f->folder, length) == 0 && answer->text[length] == '/' &&
           !strstr(answer->text + length, "/../");
}

static pfr_status find_source(struct fetching *f, const char *id, const char *path, char *found, size_t room,
                              pfr_error *err) {
    struct finder_answer answer;
    bool is_found;
    PFR_TRY(make_environment(f, err));
    const pfr_status st = run_finder(f, "source", id, path, &is_found, &answer, err);
    mem_free(f->memory, f->environment, f->environment_room, sizeof *f->environment);
    if (st < 0)
        return st;
    return is_found && is_download(f, &answer) && snprintf(found, room, "%s", answer.text) < (int)room ? PFR_OK
                                                                                                       : PFR_END;
}

pfr_status pfr_debuginfod_source(const pfr_debuginfod_options *options, const uint8_t *build_id, size_t build_id_size,
                                 const char *path, char *found, size_t room, pfr_error *err) {
    char folder[PFR_DEBUGINFOD_ROOM], id[2 * BUILD_ID_ROOM + 1] = "";
    struct memory memory;
    struct fetching f = {.options = options, .memory = &memory};
    if (build_id_size < 4 || build_id_size > BUILD_ID_ROOM || *path != '/')
        return PFR_END;
    memory_init(&memory, NULL, 0);
    write_id(id, build_id, build_id_size);
    PFR_TRY(prepare(&f, folder, err));
    return find_source(&f, id, path, found, room, err);
}

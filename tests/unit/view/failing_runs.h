/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FAILING_RUNS_H
#define PFR_TESTS_FAILING_RUNS_H
/* Runs a command repeatedly, each time with another failing allocation, and checks the result of each run. */
#include "../base/failing_alloc.h"
#include "../file/recording_builder.h"
#include "failing_commands.h"

/* Opens the input, runs the command, closes the input; all memory comes from `failing`. */
static inline pfr_status run_verb(const struct scene *scene, const struct verb *verb, const char *path,
                                  const struct failing_alloc *failing, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .alloc = &failing->alloc, .keep_aux = true, .spool = true};
    assert_int_equal(ftruncate(scene->out, 0), 0);
    assert_int_equal(lseek(scene->out, 0, SEEK_SET), 0);
    pfr_reader *reader = pfr_open(path, &how, err);
    if (!reader)
        return err->status;
    pfr_output *out = pfr_output_open_alloc(scene->out, false, &failing->alloc, err);
    pfr_status status = out ? verb->run(scene, reader, out, err) : err->status;
    const pfr_status closed = pfr_output_close(out, status < 0 ? NULL : err);
    pfr_close(reader);
    return status < 0 ? status : closed < 0 ? closed : status;
}

/* A checksum of the printed text. */
static inline uint64_t sum_of_output(const struct scene *scene) {
    uint8_t bytes[4096];
    uint64_t sum = 1;
    off_t at = 0;
    for (ssize_t n; (n = pread(scene->out, bytes, sizeof bytes, at)) > 0; at += n)
        sum = mix_bytes(sum, bytes, (size_t)n);
    return sum;
}

static inline unsigned count_descriptors(void) {
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static inline unsigned clear_folder(const char *path) {
    char inside[320];
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%.60s/%.250s", path, e->d_name);
        count += unlink(inside) == 0 ? 1 : 1 + clear_folder(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
    return count;
}

/* Removes the files that commands made; returns their number. */
static inline unsigned clear_aux(const struct scene *scene) {
    return clear_folder(scene->aux);
}

struct run {
    pfr_status status;
    uint64_t sum;
    unsigned files;
};

static inline struct run run_once(const struct scene *scene, const struct verb *verb, const char *path,
                                  struct failing_alloc *failing, long fail_at) {
    pfr_error err = {0};
    const unsigned before = count_descriptors();
    failing_alloc_begin(failing, fail_at);
    struct run run = {.status = run_verb(scene, verb, path, failing, &err)};
    run.sum = sum_of_output(scene);
    run.files = clear_aux(scene);
    if (failing->blocks != 0)
        fail_msg("%s of %s: %ld blocks are left when allocation %ld fails", verb->name, path, failing->blocks, fail_at);
    if (count_descriptors() != before)
        fail_msg("%s of %s: a descriptor is left open when allocation %ld fails", verb->name, path, fail_at);
    if (run.status == PFR_ERR_MEMORY && (err.status != PFR_ERR_MEMORY || !strstr(err.text, "memory")))
        fail_msg("%s of %s: when allocation %ld fails the error is %s, \"%s\"", verb->name, path, fail_at,
                 pfr_status_name(err.status), err.text);
    return run;
}

static inline void check_failed(const struct verb *verb, const char *path, long n, const struct run *good,
                                const struct run *run) {
    if (run->status == PFR_ERR_MEMORY && run->files > 0)
        fail_msg("%s of %s: %u files are left when allocation %ld fails", verb->name, path, run->files, n);
    if (run->status != PFR_ERR_MEMORY && (run->status != good->status || run->sum != good->sum))
        fail_msg("%s of %s: allocation %ld fails, and the result is %s with %s output", verb->name, path, n,
                 pfr_status_name(run->status), run->sum == good->sum ? "the same" : "other");
}

/* Returns the number of allocations that could fail. */
static inline long fail_each(const struct scene *scene, const struct verb *verb, const char *path) {
    struct failing_alloc failing;
    const struct run good = run_once(scene, verb, path, &failing, 0);
    const long count = failing.requests;
    if (good.status < 0)
        fail_msg("%s of %s is %s without any failure", verb->name, path, pfr_status_name(good.status));
    const long step = with_sanitizers_only(3, 1);
    static long turn;
    for (long n = 1 + turn++ % step; n <= count; n += step) {
        const struct run run = run_once(scene, verb, path, &failing, n);
        assert_true(failing.has_failed);
        check_failed(verb, path, n, &good, &run);
    }
    return count;
}

static inline void begin_scene(struct scene *scene) {
    const bool in_memory = access("/dev/shm", W_OK) == 0; /* where synchronising costs nothing */
    *scene = (struct scene){.out = memfd_create("out", MFD_CLOEXEC)};
    snprintf(scene->folder, sizeof scene->folder, "%s/perfray-alloc-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    recorded_path(scene->symfs, "demo-root");
    scene->naming = (pfr_symbol_options){.size = sizeof scene->naming, .symfs = scene->symfs, .kallsyms = "/nowhere"};
    recorded_path(scene->map, "../maps/functions.yaml");
    assert_true(scene->out >= 0);
    assert_non_null(mkdtemp(scene->folder));
    setenv("HOME", scene->folder, 1); /* so that nothing is found in the user's cache */
    snprintf(scene->aux, sizeof scene->aux, "%s/aux", scene->folder);
}

static inline void end_scene(struct scene *scene) {
    close(scene->out);
    assert_int_equal(rmdir(scene->folder), 0);
}

static inline void fail_each_verb(const struct scene *scene, const char *path) {
    long count = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const long own = fail_each(scene, &verbs[i], path);
        assert_true(own > 3); /* reader, parts, output, its buffer */
        count += own;
    }
    print_message("%s: %ld allocations failed, one a run\n", path, count);
}

#endif

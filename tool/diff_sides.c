/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_sides.h"

#include <dirent.h>
#include <inttypes.h>
#include <perfray/store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROGRAM "perfray diff"
#define UPLOADS_MOST 64u /* recordings of a side of a store: each has a model in memory */

/* --- Names of files. */

static enum exit_status no_memory(void) {
    complain_as(PROGRAM, "no memory");
    return ENDS_IO;
}

static enum exit_status add_file(struct diff_sides *sides, unsigned side, const char *name, size_t length) {
    const size_t count = (size_t)sides->count[side] + 1;
    struct diff_side_run *const grown = realloc(sides->opened[side], count * sizeof *grown);
    if (!grown)
        return no_memory();
    sides->opened[side] = grown;
    grown[count - 1] = (struct diff_side_run){.file = strndup(name, length)};
    sides->count[side]++;
    return grown[count - 1].file ? ENDS_FINE : no_memory();
}

static bool is_folder(const char *name) {
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A recording may be a directory too: it has a file of that name. */
static bool is_recording_folder(const char *name) {
    char path[4096];
    struct stat st;
    return snprintf(path, sizeof path, "%s/data", name) < (int)sizeof path && stat(path, &st) == 0;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static enum exit_status add_folder(struct diff_sides *sides, unsigned side, const char *folder) {
    struct dirent **entries;
    enum exit_status status = ENDS_FINE;
    const int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 0 && length < (int)sizeof path && status == ENDS_FINE)
            status = add_file(sides, side, path, (size_t)length);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

/* "A,B"; a name that has a comma and is there is one name. */
static enum exit_status add_names(struct diff_sides *sides, unsigned side, const char *names) {
    struct stat st;
    enum exit_status status = ENDS_FINE;
    const bool is_one = stat(names, &st) == 0;
    if (is_folder(names) && !is_recording_folder(names))
        return add_folder(sides, side, names);
    for (const char *at = names; status == ENDS_FINE; at++) {
        const size_t length = is_one ? strlen(at) : strcspn(at, ",");
        if (length)
            status = add_file(sides, side, at, length);
        at += length;
        if (!*at)
            break;
    }
    return status;
}

/* NULL: the whole store. */
static const char *expression_of(const struct task *task, const char *word) {
    return strcmp(word, task->shared->store) == 0 ? NULL : word;
}

static pfr_store *open_store(const struct task *task, pfr_error *err) {
    const pfr_store_options how = {.size = sizeof how, .limits = &task->shared->limits, .read_only = true};
    return pfr_store_open(task->shared->store, &how, err);
}

static enum exit_status say_store(const struct task *task, const pfr_error *err) {
    pfr_error own = *err;
    own.offset = PFR_NO_OFFSET; /* in the expression, not in a file */
    return complain_of(task->shared->store, &own, NULL);
}

/* Recordings are the uploads that the expression selects. */
static enum exit_status add_uploads(const struct task *task, struct diff_sides *sides, unsigned side,
                                    const char *word) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    uint64_t count = 0;
    pfr_store *const store = open_store(task, &err);
    const pfr_status st = store ? pfr_store_count(store, expression_of(task, word), &count, &err) : err.status;
    pfr_store_close(store);
    enum exit_status status = st < 0 ? say_store(task, &err) : ENDS_FINE;
    const uint64_t parts = count < UPLOADS_MOST ? count : UPLOADS_MOST;
    if (parts < count)
        complain("%s: %" PRIu64 " uploads are compared as %" PRIu64 " recordings", word, count, parts);
    for (uint64_t part = 0; part < parts && status == ENDS_FINE; part++) {
        status = add_file(sides, side, word, strlen(word));
        if (status == ENDS_FINE) {
            struct diff_side_run *const run = &sides->opened[side][sides->count[side] - 1];
            run->part = part;
            run->parts = parts;
        }
    }
    return status;
}

static enum exit_status add_word(const struct task *task, struct diff_sides *sides, unsigned side, const char *word) {
    return task->shared->store ? add_uploads(task, sides, side, word) : add_names(sides, side, word);
}

static enum exit_status add_words(const struct task *task, struct diff_sides *sides, unsigned side,
                                  const struct word_list *words) {
    enum exit_status status = ENDS_FINE;
    for (unsigned i = 0; i < words->count && status == ENDS_FINE; i++)
        status = add_word(task, sides, side, words->at[i]);
    return status;
}

/* Where no operand was typed, one was filled in: perf.data, or - if standard input is a pipe. */
static bool is_unnamed(const struct task *task) {
    return task->nr_files == 0 ||
           (task->nr_files == 1 && (strcmp(task->files[0], "perf.data") == 0 || strcmp(task->files[0], "-") == 0));
}

/* Operands fill the sides that no option names. */
static enum exit_status add_operands(const struct task *task, struct diff_sides *sides) {
    const bool has_base = sides->count[0] > 0, has_new = sides->count[1] > 0;
    if (has_base && has_new && is_unnamed(task))
        return ENDS_FINE;
    const size_t wanted = 2 - (size_t)has_base - (size_t)has_new, given = task->nr_files;
    enum exit_status status = ENDS_FINE;
    if (given > wanted) {
        complain_as(PROGRAM,
                    "%zu operands, but a comparison has two sides; several recordings of a side go with "
                    "--base A1,A2 and --new B1,B2",
                    given);
        return ENDS_USAGE;
    }
    if (!has_base)
        status = add_word(task, sides, 0, given == 2 || has_new ? task->files[0] : "perf.data.old");
    if (!has_new && status == ENDS_FINE)
        status = add_word(task, sides, 1, task->files[given - 1]);
    return status;
}

static enum exit_status say_empty(bool is_base) {
    complain_as(PROGRAM, "the %s side names no recording: its directory or list is empty", is_base ? "base" : "new");
    return ENDS_USAGE;
}

static enum exit_status name_files(const struct task *task, const struct word_list *base,
                                   const struct word_list *changed, struct diff_sides *sides) {
    enum exit_status status = add_words(task, sides, 0, base);
    if (status == ENDS_FINE)
        status = add_words(task, sides, 1, changed);
    if (status == ENDS_FINE && ((base->count && !sides->count[0]) || (changed->count && !sides->count[1])))
        return say_empty(base->count && !sides->count[0]);
    if (status == ENDS_FINE)
        status = add_operands(task, sides);
    if (status == ENDS_FINE && (!sides->count[0] || !sides->count[1]))
        return say_empty(!sides->count[0]);
    return status;
}

/* --- Models. */

static void diff_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

/* *is_empty: nothing of the upload matches. */
static pfr_reader *open_upload(const struct task *task, const struct diff_side_run *run, bool *is_empty,
                               enum exit_status *status) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_store *const store = open_store(task, &err);
    pfr_reader *const reader =
        store ? pfr_store_select_part(store, expression_of(task, run->file), run->part, run->parts, &err) : NULL;
    pfr_store_close(store);
    *is_empty = !reader && run->parts > 1 && err.where && strcmp(err.where, "store.empty") == 0;
    *status = reader || *is_empty ? ENDS_FINE : say_store(task, &err);
    return reader;
}

static enum exit_status open_run(const struct task *task, struct diff_side_run *run, const pfr_model_options *options,
                                 bool *is_empty) {
    struct task one = *task;
    const pfr_open_options opening = {.size = sizeof opening, .spool = true};
    pfr_model_options how = *options;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    enum exit_status status;
    one.file = run->file;
    *is_empty = false;
    run->reader = run->parts ? open_upload(task, run, is_empty, &status) : open_recording(&one, &opening, &status);
    if (!run->reader)
        return status;
    how.hole = limit_told;
    how.note = diff_note;
    how.context = run->file;
    run->model = pfr_model_open(run->reader, &how, &err);
    return run->model ? ENDS_FINE : complain_of(run->file, &err, NULL);
}

static enum exit_status open_side(const struct task *task, struct diff_sides *sides, unsigned side,
                                  const pfr_model_options *how) {
    enum exit_status status = ENDS_FINE;
    sides->runs[side] = calloc(sides->count[side], sizeof *sides->runs[side]);
    if (!sides->runs[side])
        return no_memory();
    uint32_t kept = 0;
    const uint32_t count = sides->count[side];
    for (uint32_t i = 0; i < count && status == ENDS_FINE; i++) {
        struct diff_side_run *const run = &sides->opened[side][i];
        bool is_empty;
        status = open_run(task, run, how, &is_empty);
        if (is_empty) {
            free(run->file);
            run->file = NULL;
            continue;
        }
        struct diff_side_run *const to = &sides->opened[side][kept];
        if (to != run) {
            *to = *run;
            *run = (struct diff_side_run){.file = NULL};
        }
        sides->runs[side][kept++] = (pfr_diff_run){.model = to->model, .reader = to->reader, .name = to->file};
    }
    if (status != ENDS_FINE)
        return status; /* all are closed */
    if (kept < count)
        complain("%s: %u of %u uploads have no sample that matches", task->shared->store, count - kept, count);
    sides->count[side] = kept;
    return kept ? ENDS_FINE : ENDS_USAGE;
}

enum exit_status diff_sides_open(const struct task *task, const struct word_list *base, const struct word_list *changed,
                                 const pfr_model_options *how, struct diff_sides *sides) {
    enum exit_status status = name_files(task, base, changed, sides);
    for (unsigned side = 0; side < 2 && status == ENDS_FINE; side++)
        status = open_side(task, sides, side, how);
    return status;
}

enum exit_status diff_sides_damage(const struct task *task, const struct diff_sides *sides) {
    enum exit_status status = ENDS_FINE;
    struct task one = *task;
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < sides->count[side]; i++) {
            struct diff_side_run *const run = &sides->opened[side][i];
            one.file = run->file;
            pfr_model_close(run->model); /* the reader is walked again */
            run->model = NULL;
            status = graver_of(status, complain_of_damage(&one, run->reader));
        }
    return status;
}

void diff_sides_close(struct diff_sides *sides) {
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < sides->count[side]; i++) {
            pfr_model_close(sides->opened[side][i].model);
            pfr_close(sides->opened[side][i].reader);
            free(sides->opened[side][i].file);
        }
        free(sides->opened[side]);
        free(sides->runs[side]);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_sides.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <perfray/store.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "perfray diff"
#define UPLOADS_MOST 64u /* most recordings of a side that is read from a store; each has a model in memory */

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

/* A directory that is a recording has a file `data`. */
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
    if (count < 0) {
        complain_as(PROGRAM, "%s: %s", folder, strerror(errno));
        return ENDS_IO;
    }
    free(entries);
    sides->empty_folder[side] = count ? NULL : folder;
    return status;
}

/* Adds the files of "A,B". If a file with the whole text as its name exists, adds only this file. */
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

/* The expression in an operand. NULL: the operand is the store itself, so the whole store is selected. */
static const char *expression_of(const struct task *task, const char *word) {
    return strcmp(word, task->shared->store) == 0 ? NULL : word;
}

static pfr_store *open_store(const struct task *task, pfr_error *err) {
    const pfr_store_options how = {.size = sizeof how, .limits = &task->shared->limits, .read_only = true};
    return pfr_store_open(task->shared->store, &how, err);
}

static enum exit_status say_store(const struct task *task, const pfr_error *err) {
    pfr_error own = *err;
    own.offset = PFR_NO_OFFSET; /* the offset is in the expression, not in a file */
    return complain_of(task->shared->store, &own, NULL);
}

/* Adds the uploads that the expression selects, as recordings. */
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
            if (parts > 1 && asprintf(&run->label, "%s #%" PRIu64, word, part + 1) < 0) {
                run->label = NULL;
                status = no_memory();
            }
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

static bool is_trace(const struct task *task) {
    return strcmp(task->files[0], DEFAULT_TRACE) == 0;
}

/* If no operand was typed, main has filled in the default file, or - if standard input is a pipe. */
static bool is_unnamed(const struct task *task) {
    return task->nr_files == 0 || (task->nr_files == 1 && (strcmp(task->files[0], DEFAULT_RECORDING) == 0 ||
                                                           is_trace(task) || strcmp(task->files[0], "-") == 0));
}

/* The recording that record or trace has renamed. */
static const char *older_file(const struct task *task) {
    return is_trace(task) ? DEFAULT_TRACE ".old" : DEFAULT_RECORDING ".old";
}

/* Adds the expressions of --where, which name the sides. Without --where, main has made the store the only operand. */
static enum exit_status add_expressions(const struct task *task, struct diff_sides *sides) {
    const size_t given = task->nr_files && task->files[0] == task->shared->store ? 0 : task->nr_files;
    if (given != 2) {
        complain_as(PROGRAM, "give --where twice: the base, then the new side");
        return ENDS_USAGE;
    }
    const enum exit_status status = add_word(task, sides, 0, task->files[0]);
    return status == ENDS_FINE ? add_word(task, sides, 1, task->files[1]) : status;
}

/* Adds the default base if there is only one operand, which names the new side. */
static enum exit_status add_default_base(const struct task *task, struct diff_sides *sides) {
    const char *const file = older_file(task);
    if (access(file, F_OK) == 0 || errno != ENOENT)
        return add_word(task, sides, 0, file);
    complain_as(PROGRAM, "BASE defaults to %s, which does not exist; name both sides: perfray diff BASE NEW", file);
    return ENDS_IO;
}

/* Operands name the sides that no option names. */
static enum exit_status add_operands(const struct task *task, struct diff_sides *sides) {
    const bool has_base = sides->count[0] > 0, has_new = sides->count[1] > 0;
    if (has_base && has_new && is_unnamed(task))
        return ENDS_FINE;
    const size_t wanted = 2 - (size_t)has_base - (size_t)has_new, given = task->nr_files;
    enum exit_status status = ENDS_FINE;
    if (given > wanted) {
        complain_as(PROGRAM,
                    "%zu operands, but a comparison has two sides; give several recordings of a side with --base A1,A2 "
                    "and --new B1,B2",
                    given);
        return ENDS_USAGE;
    }
    if (!has_base)
        status = given == 2 || has_new ? add_word(task, sides, 0, task->files[0]) : add_default_base(task, sides);
    if (!has_new && status == ENDS_FINE)
        status = add_word(task, sides, 1, task->files[given - 1]);
    return status;
}

static enum exit_status say_empty(const struct diff_sides *sides, bool is_base) {
    const char *const folder = sides->empty_folder[!is_base], *const side = is_base ? "base" : "new";
    if (folder)
        complain_as(PROGRAM, "the %s side has no recording: the directory %s is empty", side, folder);
    else
        complain_as(PROGRAM, "the %s side has no recording: its list is empty", side);
    return ENDS_USAGE;
}

static bool is_same_file(const char *x, const char *y) {
    struct stat a, b;
    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Warns if both sides are one file, as in perfray diff perf.data.old, whose base defaults to perf.data.old. */
static void warn_of_same(const struct diff_sides *sides) {
    const struct diff_side_run *const base = sides->opened[0], *const changed = sides->opened[1];
    if (sides->count[0] == 1 && sides->count[1] == 1 && !base->parts && is_same_file(base->file, changed->file))
        complain("%s: base and new are the same file", changed->file);
}

static enum exit_status name_files(const struct task *task, const struct word_list *base,
                                   const struct word_list *changed, struct diff_sides *sides) {
    if (task->shared->store && task->nr_files && (base->count || changed->count)) {
        complain_as(PROGRAM, "--base and --new name files: with --store give --where BASE --where NEW");
        return ENDS_USAGE;
    }
    enum exit_status status = add_words(task, sides, 0, base);
    if (status == ENDS_FINE)
        status = add_words(task, sides, 1, changed);
    if (status == ENDS_FINE && ((base->count && !sides->count[0]) || (changed->count && !sides->count[1])))
        return say_empty(sides, base->count && !sides->count[0]);
    if (status == ENDS_FINE)
        status = !task->shared->store            ? add_operands(task, sides)
                 : base->count || changed->count ? ENDS_FINE
                                                 : add_expressions(task, sides);
    if (status == ENDS_FINE && (!sides->count[0] || !sides->count[1]))
        return say_empty(sides, !sides->count[0]);
    if (status == ENDS_FINE)
        warn_of_same(sides);
    return status;
}

/* --- Messages of recordings that are loaded at the same time: stored, and printed in the order of the recordings. */

struct message {
    struct message *next;
    pfr_error hole;
    char *sentence; /* NULL: the message is `hole` */
};

struct messages {
    struct message *first, **end;
};

static struct message *add_message(void *context) {
    struct messages *const list = context;
    struct message *const added = calloc(1, sizeof *added);
    if (added) {
        *list->end = added;
        list->end = &added->next;
    }
    return added;
}

static void keep_hole(void *context, const pfr_error *hole) {
    struct message *const added = add_message(context);
    if (added)
        added->hole = *hole;
}

static void keep_note(void *context, const char *sentence) {
    struct message *const added = add_message(context);
    if (added)
        added->sentence = strdup(sentence);
}

static void print_messages(struct messages *list, char *file) {
    for (struct message *one = list->first, *next; one; one = next) {
        next = one->next;
        if (one->sentence)
            complain("%s: %s", file, one->sentence);
        else if (one->hole.status != PFR_OK)
            report_limit(file, &one->hole);
        free(one->sentence);
        free(one);
    }
}

/* --- Models. Two are loaded at the same time, because parts of loading use one thread. */

struct opening {
    struct diff_side_run *run;
    pfr_model_options how;
    struct messages messages;
    pfr_error err;
};

static void open_model(struct opening *one) {
    one->messages.end = &one->messages.first;
    one->err = (pfr_error){.offset = PFR_NO_OFFSET};
    one->how.hole = keep_hole;
    one->how.note = one->run->parts ? NULL : keep_note; /* from a store: the report's head already names slots */
    one->how.context = &one->messages;
    one->run->model = pfr_model_open(one->run->reader, &one->how, &one->err);
}

/* The models to open. Each thread takes the next model until none is left; `next` is shared by the threads. */
struct openings {
    struct opening *at;
    size_t count;
    atomic_size_t next;
};

static void *run_openings(void *context) {
    struct openings *const all = context;
    for (size_t i; (i = atomic_fetch_add(&all->next, 1)) < all->count;)
        open_model(&all->at[i]);
    return NULL;
}

static uint64_t size_of(const char *file) {
    struct stat st;
    return stat(file, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* If the files are of similar size, each thread loads with half of the jobs. If one file is much larger than the others
   together, all files are loaded with all jobs. */
static void share_jobs(struct openings *all, uint32_t jobs) {
    uint64_t largest = 0, others = 0;
    for (size_t i = 0; i < all->count; i++) {
        const uint64_t size = size_of(all->at[i].run->file);
        others += size < largest ? size : largest;
        largest = size > largest ? size : largest;
    }
    const bool is_even = others >= largest / 2;
    for (size_t i = 0; i < all->count; i++)
        all->at[i].how.jobs = is_even ? (jobs + 1) / 2 : jobs;
}

#define JOBS_MOST 4L

static uint32_t jobs_of(const pfr_model_options *how) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return how->jobs ? how->jobs : (uint32_t)(cpus < 1 ? 1 : cpus < JOBS_MOST ? cpus : JOBS_MOST);
}

static void open_models(struct openings *all, const pfr_model_options *how, bool at_once) {
    const uint32_t jobs = jobs_of(how);
    pthread_t other;
    bool has_other = false;
    if (at_once && jobs > 1 && all->count > 1) {
        share_jobs(all, jobs);
        has_other = pthread_create(&other, NULL, run_openings, all) == 0;
    }
    run_openings(all);
    if (has_other)
        pthread_join(other, NULL);
}

static enum exit_status finish(struct openings *all) {
    enum exit_status status = ENDS_FINE;
    for (size_t i = 0; i < all->count; i++) {
        struct opening *const one = &all->at[i];
        print_messages(&one->messages, one->run->file);
        if (!one->run->model && status == ENDS_FINE)
            status = complain_of(one->run->file, &one->err, NULL);
    }
    return status;
}

/* --- Both sides. */

/* Opens an upload. If no sample of the upload matches, sets *is_empty. */
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

static enum exit_status open_reader(const struct task *task, struct diff_side_run *run, bool *is_empty) {
    struct task one = *task;
    const pfr_open_options opening = {.size = sizeof opening, .spool = true};
    enum exit_status status;
    one.file = run->file;
    *is_empty = false;
    run->reader = run->parts ? open_upload(task, run, is_empty, &status) : open_recording(&one, &opening, &status);
    return run->reader || *is_empty ? ENDS_FINE : status;
}

/* Removes uploads without a matching sample. */
static enum exit_status open_side(const struct task *task, struct diff_sides *sides, unsigned side) {
    struct diff_side_run *const runs = sides->opened[side];
    const uint32_t count = sides->count[side];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_empty;
        const enum exit_status status = open_reader(task, &runs[i], &is_empty);
        if (status != ENDS_FINE)
            return status;
        const struct diff_side_run run = runs[i];
        runs[i] = (struct diff_side_run){.file = NULL};
        if (is_empty) {
            free(run.file);
            free(run.label);
        } else
            runs[kept++] = run;
    }
    if (kept < count)
        complain("%s: %u of %u uploads have no matching sample", task->shared->store, count - kept, count);
    sides->count[side] = kept;
    return kept ? ENDS_FINE : ENDS_USAGE;
}

static enum exit_status open_readers(const struct task *task, struct diff_sides *sides) {
    const enum exit_status status = open_side(task, sides, 0);
    return status == ENDS_FINE ? open_side(task, sides, 1) : status;
}

static void list_openings(const struct diff_sides *sides, const pfr_model_options *how, struct openings *all) {
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < sides->count[side]; i++)
            all->at[all->count++] = (struct opening){.run = &sides->opened[side][i], .how = *how};
}

static enum exit_status fill_runs(struct diff_sides *sides) {
    for (unsigned side = 0; side < 2; side++) {
        sides->runs[side] = calloc(sides->count[side], sizeof *sides->runs[side]);
        if (!sides->runs[side])
            return no_memory();
        for (uint32_t i = 0; i < sides->count[side]; i++) {
            const struct diff_side_run *const run = &sides->opened[side][i];
            const char *const name = run->label ? run->label : run->file;
            sides->runs[side][i] = (pfr_diff_run){.model = run->model, .reader = run->reader, .name = name};
        }
    }
    return ENDS_FINE;
}

enum exit_status diff_sides_open(const struct task *task, const struct word_list *base, const struct word_list *changed,
                                 const pfr_model_options *how, struct diff_sides *sides) {
    enum exit_status status = name_files(task, base, changed, sides);
    struct openings all = {.at = NULL};
    if (status != ENDS_FINE)
        return status;
    all.at = calloc((size_t)sides->count[0] + sides->count[1], sizeof *all.at);
    if (!all.at)
        return no_memory();
    status = open_readers(task, sides);
    if (status == ENDS_FINE) {
        list_openings(sides, how, &all);
        open_models(&all, how, !task->shared->store);
        status = finish(&all);
    }
    free(all.at);
    return status == ENDS_FINE ? fill_runs(sides) : status;
}

enum exit_status diff_sides_damage(const struct task *task, const struct diff_sides *sides) {
    enum exit_status status = ENDS_FINE;
    struct task one = *task;
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < sides->count[side]; i++) {
            struct diff_side_run *const run = &sides->opened[side][i];
            one.file = run->file;
            pfr_model_close(run->model); /* complain_of_damage may read the recording again */
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
            free(sides->opened[side][i].label);
        }
        free(sides->opened[side]);
        free(sides->runs[side]);
    }
}

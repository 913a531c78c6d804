/* SPDX-License-Identifier: Apache-2.0 */
/* perfray view: a recording as one HTML file. */
#include <perfray/view.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "caching.h"
#include "diff_sides.h"
#include "fetching.h"
#include "name_files.h"
#include "page_notes.h"
#include "selecting.h"

extern char **environ;

struct view_options {
    const char *output, *title, *diff, *debuginfod;
    uint64_t max_size;
    uint32_t jobs, max_stack;
    struct naming naming;
    bool empty, data, opens, no_command_line, redacts, inlined, lines, code, sources;
};

static const struct view_options view_defaults = {.naming = {.cache = true}};

#define PROGRAM "perfray view"
#define OF(member) offsetof(struct view_options, member)

static const struct opt view_opts[] = {
    HEADING("Output"),
    {"output", 'o', OPT_STRING, OF(output), "FILE",
     "write FILE, completely or not at all (default: FILE.html); - for stdout"},
    {"open", 0, OPT_FLAG, OF(opens), NULL, "open the page in the browser, with xdg-open(1)"},
    {"empty", 0, OPT_FLAG, OF(empty), NULL, "write a page without data, which opens files by drag and drop"},
    {"data", 0, OPT_FLAG, OF(data), NULL, "write only the data, for a page made with --empty"},
    {"max-size", 0, OPT_SIZE, OF(max_size), "SIZE", "maximum size of the data in the page (default 32M)"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT",
     "number of threads that load recordings (default: one per CPU, at most 4)"},
    HEADING("Contents"),
    {"diff", 0, OPT_STRING, OF(diff), "BASE", "add a panel that compares with recording BASE"},
    {"title", 0, OPT_STRING, OF(title), "TEXT", "title of the page (default: recorded command line)"},
    {"no-command-line", 0, OPT_FLAG, OF(no_command_line), NULL, "omit the recorded command line"},
    {"redact-paths", 0, OPT_FLAG, OF(redacts), NULL, "write names of objects without their directories"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 127; XRay traces 256)"},
    {"lines", 0, OPT_FLAG, OF(lines), NULL, "add source files and lines to the details; takes longer"},
    {"inline", 0, OPT_FLAG, OF(inlined), NULL, "show inlined functions as frames of their own; implies --lines"},
    {"code", 0, OPT_FLAG, OF(code), NULL, "add the instructions of hot functions, with their samples"},
    {"sources", 0, OPT_FLAG, OF(sources), NULL, "add source lines to the instructions, in plain text; implies --code"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"debuginfod", 0, OPT_ATTACHED, OF(debuginfod), "URLS",
     "fetch symbols and sources from these servers (default $DEBUGINFOD_URLS)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols from this vmlinux object"},
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct view_options),
    {"no-symbols", 0, OPT_FLAG, OF(naming.no_symbols), NULL, "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    {0},
};

/* --- The output file. */

/* The argument of -o, otherwise a file beside the recording; NULL: standard output. Returns false if a message was
   printed. */
static bool choose_path(const struct task *task, char *made, size_t room, const char **path) {
    const struct view_options *const o = task->options;
    const bool is_stream = strcmp(task->file, "-") == 0;
    *path = output_path(o->output);
    if (o->output)
        return is_other_file(task, PROGRAM, *path);
    if (is_stream || snprintf(made, room, "%s.%s", task->file, o->data ? "prv" : "html") >= (int)room) {
        complain_as(PROGRAM, "a stream has no file name from which to name the page; use -o FILE");
        return false;
    }
    *path = made;
    return true;
}

static bool is_for_terminal(const char *path) {
    if (path || !isatty(STDOUT_FILENO))
        return false;
    complain_as(PROGRAM, "refusing to write HTML to a terminal; use -o FILE");
    return true;
}

/* Does not wait for the browser. */
static void open_browser(const char *path) {
    char *const words[] = {(char *)(uintptr_t) "xdg-open", (char *)(uintptr_t)path, NULL};
    pid_t pid;
    const int why = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
    if (why)
        complain_as(PROGRAM, "--open: xdg-open: %s; open %s yourself", strerror(why), path);
}

/* --- The page. */

/* The readers of a page's files: a recording, a trace of the same run, and the recording that it is compared with. */
struct page_files {
    pfr_reader *reader, *beside, *base;
    struct diff_sides uploads; /* the recordings that are compared, if they are in a store */
    pfr_symbol_options naming;
    struct fetch fetch; /* --debuginfod */
};

static void view_hole(void *context, const pfr_error *hole) {
    report_limit((void *)(uintptr_t)((const struct page_notes *)context)->file, hole);
}

static pfr_model *open_model(const struct task *task, const pfr_symbol_options *naming, pfr_reader *reader,
                             pfr_reader *beside, struct page_notes *notes, pfr_error *err) {
    const struct view_options *const o = task->options;
    const pfr_model_options how = {.size = sizeof how,
                                   .jobs = o->jobs,
                                   .max_stack = o->max_stack,
                                   .functions = !o->inlined && !o->lines && !o->code && !o->sources,
                                   .lines = o->lines,
                                   .inlined = o->inlined,
                                   .naming = naming,
                                   .beside = beside,
                                   .hole = view_hole,
                                   .note = page_note,
                                   .context = notes};
    notes->file = task->file;
    return pfr_model_open(reader, &how, err);
}

static void say_note(void *task, const char *sentence) {
    complain("%s: %s", ((const struct task *)task)->file, sentence);
}

static pfr_status write_view(const struct task *task, struct page_files *f, const struct page_notes *notes,
                             const pfr_model *model, const pfr_model *baseline, const char *path, pfr_error *err) {
    const struct view_options *const o = task->options;
    const struct diff_sides *const uploads = &f->uploads;
    const pfr_view_options how = {.size = sizeof how,
                                  .path = path,
                                  .title = o->title,
                                  .subject = model ? task->file : NULL,
                                  .version = PERFRAY_VERSION,
                                  .baseline = baseline,
                                  .base_runs = uploads->runs[0],
                                  .base_count = uploads->count[0],
                                  .new_runs = uploads->runs[1],
                                  .new_count = uploads->count[1],
                                  .notes = notes->list,
                                  .note = say_note,
                                  .note_context = (void *)(uintptr_t)task,
                                  .max_size = o->max_size,
                                  .no_command_line = o->no_command_line,
                                  .redact_paths = o->redacts,
                                  .data_only = o->data,
                                  .code = o->code || o->sources,
                                  .sources = o->sources,
                                  .naming = &f->naming,
                                  .find_source = f->fetch.urls ? fetch_source : NULL,
                                  .source_context = &f->fetch};
    return pfr_view_write(model, &how, task->out, err);
}

static void say_where(const struct task *task, const char *path) {
    const struct view_options *const o = task->options;
    if (!path)
        return;
    pfr_output_text(task->out, path);
    pfr_output_text(task->out, "\n");
    if (o->opens)
        open_browser(path);
}

#define ONE_RECORDING                                                                                                  \
    "a page shows one recording (and the trace of the same run); compare two with --diff BASE; see perfray view -h"

static bool is_trace(const pfr_reader *reader) {
    return !reader || pfr_get_header(reader)->format != PFR_PERF_DATA;
}

static void note_no_code(const struct task *task, const struct page_files *f) {
    const struct view_options *const o = task->options;
    if (!o->code && !o->sources)
        return;
    if (task->shared->store)
        complain_as(PROGRAM,
                    "a store contains no addresses, so the page has no code; for code, give the recording itself");
    else if (is_trace(f->reader) && is_trace(f->beside))
        complain("%s: a trace contains no addresses, so the page has no code; for code, record samples of the same run "
                 "with perfray record -k monotonic, and give both files",
                 task->file);
}

/* Fetches files of all recordings. A trace has no build-ids: it is skipped if there is a recording, else refused. */
static pfr_status fetch_all(struct page_files *f, pfr_error *err) {
    pfr_reader *const readers[] = {f->reader, f->beside, f->base};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (!readers[i] || (f->beside && is_trace(readers[i])))
            continue;
        const pfr_status status = fetch_symbols(&f->fetch, readers[i], err);
        if (status < 0)
            return status;
    }
    f->naming.fetched = f->fetch.urls ? f->fetch.folder : NULL;
    return PFR_OK;
}

static pfr_status write_files(const struct task *task, struct page_files *f, const char *path, pfr_error *err) {
    struct page_notes notes = {.is_once = task->shared->store};
    struct task of_base = *task;
    of_base.file = ((const struct view_options *)task->options)->diff;
    const bool is_fetched = fetch_all(f, err) >= 0;
    pfr_model *const model = is_fetched ? open_model(task, &f->naming, f->reader, f->beside, &notes, err) : NULL;
    notes.is_baseline = true;
    pfr_model *const base = model && f->base ? open_model(&of_base, &f->naming, f->base, NULL, &notes, err) : NULL;
    const bool is_open = model && (base || !f->base);
    note_no_code(task, f);
    const pfr_status status = is_open ? write_view(task, f, &notes, model, base, path, err) : err->status;
    note_missing_sources(&f->fetch);
    pfr_model_close(base);
    pfr_model_close(model);
    return status;
}

static enum exit_status view_files(const struct task *task, struct page_files *f, const char *path) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = write_files(task, f, path, &err);
    if (status >= 0)
        say_where(task, path);
    return end_of_writing(task, PROGRAM, f->reader, status, &err);
}

/* If `path` is NULL there is no such file, and the result is true. */
static bool open_other(const struct task *task, const char *path, pfr_reader **reader, enum exit_status *status) {
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    struct task other = *task;
    other.file = path;
    if (path)
        *reader = open_recording(&other, &how, status);
    return !path || *reader;
}

static enum exit_status close_other(const struct task *task, const char *path, pfr_reader *reader,
                                    enum exit_status status) {
    struct task other = *task;
    other.file = path;
    if (reader)
        status = graver_of(status, complain_of_damage(&other, reader));
    pfr_close(reader);
    return status;
}

/* The uploads of both sides, which perfray diff compares. Does nothing if no store is compared. */
static bool open_uploads(const struct task *task, struct diff_sides *uploads, enum exit_status *status) {
    const struct view_options *const o = task->options;
    const struct word_list base = {.at = {o->diff}, .count = 1}, changed = {.at = {task->file}, .count = 1};
    const pfr_model_options how = {.size = sizeof how, .jobs = o->jobs, .functions = true};
    struct task sideless = *task;
    sideless.nr_files = 0; /* both sides are given explicitly */
    if (task->shared->store && o->diff)
        *status = diff_sides_open(&sideless, &base, &changed, &how, uploads);
    return *status == ENDS_FINE;
}

static bool are_two_recordings(const struct page_files *f) {
    const pfr_format first = pfr_get_header(f->reader)->format;
    return f->beside && first == PFR_PERF_DATA && pfr_get_header(f->beside)->format == first;
}

static enum exit_status view_opened(const struct task *task, struct page_files *f, const char *path) {
    if (!are_two_recordings(f))
        return view_files(task, f, path);
    complain_as(PROGRAM, ONE_RECORDING);
    return ENDS_USAGE;
}

static enum exit_status view_recording(const struct task *task, const char *path) {
    const struct view_options *const o = task->options;
    const char *const trace = task->nr_files > 1 ? task->files[1] : NULL;
    struct page_files f = {.naming = symbol_options_of(&o->naming)};
    enum exit_status status;
    f.fetch = (struct fetch){.urls = o->debuginfod, .naming = &f.naming, .who = PROGRAM};
    if (open_other(task, task->file, &f.reader, &status) && open_other(task, trace, &f.beside, &status) &&
        open_other(task, o->diff, &f.base, &status) && open_uploads(task, &f.uploads, &status))
        status = view_opened(task, &f, path);
    status = close_other(task, trace, f.beside, status);
    status = close_other(task, o->diff, f.base, status);
    diff_sides_close(&f.uploads);
    pfr_close(f.reader);
    return status;
}

static enum exit_status view_nothing(const struct task *task) {
    const struct view_options *const o = task->options;
    const char *const path = o->output ? output_path(o->output) : "viewer.html";
    struct page_files none = {.reader = NULL};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (is_for_terminal(path))
        return ENDS_USAGE;
    const struct page_notes notes = {0};
    const pfr_status status = write_view(task, &none, &notes, NULL, NULL, path, &err);
    if (status < 0)
        return complain_of(path ? path : "-", &err, NULL);
    say_where(task, path);
    return ENDS_FINE;
}

static enum exit_status view_run(const struct task *task) {
    const struct view_options *const o = task->options;
    char made[4096];
    const char *path;
    if (task->nr_files > 2) {
        complain_as(PROGRAM, ONE_RECORDING);
        return ENDS_USAGE;
    }
    if (o->empty)
        return view_nothing(task);
    if (o->diff && (task->nr_files > 1 || o->inlined || o->lines)) {
        complain_as(PROGRAM, "--diff compares two recordings by function: omit the trace, --lines and --inline; --code "
                             "compares the lines of each function");
        return ENDS_USAGE;
    }
    if (o->naming.no_symbols && (o->code || o->sources)) {
        complain_as(PROGRAM, "--code needs function names; omit --no-symbols");
        return ENDS_USAGE;
    }
    if (!name_files_fit(PROGRAM, &o->naming) || !choose_path(task, made, sizeof made, &path) || is_for_terminal(path))
        return ENDS_USAGE;
    return view_recording(task, path);
}

extern const struct command cmd_view;
const struct command cmd_view = {
    .name = "view",
    .about = "write one HTML file that shows a recording in any browser",
    .arguments = "[FILE [TRACE]]",
    .examples = "perfray view perf.data                  # writes perf.data.html\n"
                "perfray view --no-command-line --redact-paths -o page.html perf.data\n",
    .takes_all_files = true,
    .opts = view_opts,
    .defaults = &view_defaults,
    .size = sizeof(struct view_options),
    .prints_at_end = true,
    .passes = 3,
    .reads_store = true,
    .run = view_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* perfray export: a recording in the format of another tool. */
#include <perfray/export.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "help.h"
#include "selecting.h"

struct export_options {
    unsigned format; /* index of a word of FORMATS */
    const char *output;
    struct word_list settings;
    bool mark_kernel;
    struct selecting selecting;
};

/* AUTO, then the formats of pfr_export_format_at in their order. */
#define FORMATS                                                                                                        \
    "auto|folded|pprof|speedscope|chrome|perfetto|firefox|otlp|ctf|callgrind|csv|jsonl|parquet|dot|mermaid|list"
enum { AUTO, FIRST_FORMAT };

static const struct export_options export_defaults = {.selecting = {.naming.cache = true}};

static const struct opt export_opts[] = {
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, offsetof(struct export_options, format), FORMATS,
     "output format (default: by suffix of -o, else folded); list prints all"},
    {"output", 'o', OPT_STRING, offsetof(struct export_options, output), "FILE",
     "write FILE, completely or not at all; - for stdout (default)"},
    {"set", 0, OPT_WORDS, offsetof(struct export_options, settings), "NAME[=VALUE]",
     "option of the format; see FORMATS"},
    {"mark-kernel", 0, OPT_FLAG, offsetof(struct export_options, mark_kernel), NULL,
     "folded: append _[k] to functions of the kernel"},
    SELECTING_ROWS(struct export_options),
    {0},
};

#define PROGRAM "perfray export"

/* --- The format. */

/* The format that the option or the file's suffix names, otherwise the first format. NULL: list the formats. */
static const pfr_export_format *choose_format(const struct export_options *o) {
    const char *path = output_path(o->output);
    const pfr_export_format *by_suffix = path ? pfr_export_format_of(path) : NULL;
    if (o->format != AUTO)
        return pfr_export_format_at(o->format - FIRST_FORMAT);
    return by_suffix ? by_suffix : pfr_export_format_at(0);
}

static bool is_packed(const char *path) {
    const char *const suffix = strrchr(path, '.');
    return suffix && (strcmp(suffix, ".gz") == 0 || strcmp(suffix, ".zst") == 0);
}

/* Removes the suffix of a compressed file. */
static void unpack_name(char *name) {
    if (is_packed(name))
        *strrchr(name, '.') = '\0';
}

/* Refuses a suffix that belongs to no format, because the file's content would not match its name. */
static bool knows_suffix(const struct export_options *o) {
    const char *const path = output_path(o->output), *const slash = path ? strrchr(path, '/') : NULL;
    char name[256] = "";
    if (o->format != AUTO || !path || pfr_export_format_of(path))
        return true;
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : path);
    unpack_name(name);
    const char *const suffix = strrchr(name, '.');
    if (!suffix || suffix == name || strcmp(suffix, ".txt") == 0)
        return true;
    complain_as(PROGRAM, "no format has the suffix %s; perfray export --format=list lists them; or give --format",
                suffix);
    return false;
}

#define TEXT_COLUMN 14

/* On a terminal: three lines per format, which fit 80 columns. */
static void print_format(pfr_output *out, const pfr_export_format *f) {
    print_line(out, "%s (%s)\n  read by     ", f->name, f->suffix);
    print_wrapped(out, f->reader, TEXT_COLUMN, TEXT_COLUMN);
    pfr_output_text(out, "  cannot hold ");
    print_wrapped(out, f->losses, TEXT_COLUMN, TEXT_COLUMN);
}

static enum exit_status print_formats(const struct task *task) {
    const pfr_export_format *f;
    for (size_t i = 0; (f = pfr_export_format_at(i)); i++)
        if (isatty(STDOUT_FILENO))
            print_format(task->out, f);
        else
            print_line(task->out, "%s\t%s\t%s\t%s\n", f->name, f->suffix, f->reader, f->losses);
    return ENDS_FINE;
}

static bool fits_output(const pfr_export_format *format, const char *path) {
    if (format->folder && !path) {
        complain_as(PROGRAM, "%s is a directory of files: use -o DIR", format->name);
        return false;
    }
    if (format->folder && is_packed(path)) {
        complain_as(PROGRAM, "%s: this format is a directory and cannot be compressed; use -o DIR without .gz or .zst",
                    format->name);
        return false;
    }
    if (!format->binary || path || !isatty(STDOUT_FILENO))
        return true;
    complain_as(PROGRAM, "refusing to write %s to a terminal; use -o FILE", format->name);
    return false;
}

/* The names of the formats that can hold a recording and a trace. */
static const char *formats_of_both(char *text, size_t size) {
    const pfr_export_format *f;
    size_t used = 0;
    for (size_t i = 0; (f = pfr_export_format_at(i)) && used < size; i++)
        if (f->holds_both)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", f->name);
    return text;
}

static bool fits_files(const struct task *task, const pfr_export_format *format) {
    char others[160] = "";
    if (task->nr_files < 2 || (task->nr_files == 2 && format->holds_both))
        return true;
    if (format->holds_both)
        complain_as(PROGRAM, "%s can hold one recording, or a recording and a trace of the same run", format->name);
    else
        complain_as(PROGRAM, "%s can hold only one recording; these formats can also hold a trace of the same run: %s",
                    format->name, formats_of_both(others, sizeof others));
    return false;
}

static enum exit_status write_export(const struct task *task, const pfr_export_format *format, pfr_reader *reader,
                                     pfr_reader *beside) {
    const struct export_options *const options = task->options;
    const pfr_symbol_options naming = symbol_options_of(&options->selecting.naming);
    const pfr_selection of = selection_of(&options->selecting, task, &naming);
    const pfr_export_options how = {.size = sizeof how,
                                    .format = format->name,
                                    .of = &of,
                                    .path = output_path(options->output),
                                    .mark_kernel = options->mark_kernel,
                                    .settings = options->settings.at,
                                    .beside = beside};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_export(reader, &how, task->out, &err);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

static enum exit_status export_run(const struct task *task) {
    const struct export_options *const options = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    const pfr_export_format *const format = choose_format(options);
    if (!format)
        return print_formats(task);
    if (!fits_files(task, format) || !fits_output(format, output_path(options->output)) ||
        !is_other_file(task, PROGRAM, output_path(options->output)) || !knows_suffix(options) ||
        !selecting_fits(&options->selecting, PROGRAM))
        return ENDS_USAGE;
    struct task second = *task;
    pfr_reader *beside = NULL;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader && task->nr_files > 1) {
        second.file = task->files[1];
        beside = open_recording(&second, &how, &status);
    }
    if (reader && (beside || task->nr_files < 2))
        status = write_export(task, format, reader, beside);
    if (beside)
        status = graver_of(status, complain_of_damage(&second, beside));
    pfr_close(beside);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_export;
const struct command cmd_export = {
    .name = "export",
    .about = "write a recording in the format of another tool",
    .arguments = "[FILE [TRACE]]",
    .examples = "perfray export --format=folded perf.data >stacks.folded\n"
                "perfray export --format=pprof -o profile.pb.gz perf.data\n"
                "perfray export --format=list\n",
    .takes_all_files = true,
    .opts = export_opts,
    .defaults = &export_defaults,
    .size = sizeof(struct export_options),
    .prints_at_end = true,
    .passes = 2,
    .reads_store = true,
    .run = export_run,
};

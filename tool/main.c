/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program `perfray`: finds the command, parses its options, runs it on each file, closes standard output, and exits
 * with the gravest status (outcome.h).
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <perfray/sampling.h>
#include "debugging.h"
#include "elsewhere.h"
#include "help.h"
#include "nearest.h"
#include "progress.h"
#include "store_place.h"
#include "screen.h"

struct main_options {
    bool version;
    const char *completion;
};

static const struct opt main_opts[] = {
    {"version", 'V', OPT_FLAG, offsetof(struct main_options, version), NULL, "print the version"},
    {"help", 'h', OPT_HELP, 0, NULL, "print this help"},
    {"completion", 0, OPT_STRING, offsetof(struct main_options, completion), "SHELL", NULL},
    {0},
};

static char default_file[] = "perf.data", standard_input[] = "-";

/* The file to read if the user names no file: standard input if it is a pipe, as in perf. */
static char *unnamed_file(const struct command *command) {
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? standard_input
                                                                 : default_recording(command->reads_trace_first);
}

static enum exit_status run_file(const struct command *command, const struct task *task) {
    struct progress progress;
    const bool disturbs = isatty(STDOUT_FILENO) && !command->prints_at_end;
    progress_begin(&progress, task->file, command->passes, !disturbs);
    const enum exit_status status = command->run(task);
    progress_end(&progress);
    return status;
}

static enum exit_status run_files(const struct command *command, struct task task, const struct operands *files) {
    enum exit_status status = ENDS_FINE;
    task.files = files->at;
    task.nr_files = files->count;
    if (command->takes_all_files) {
        task.file = files->at[0];
        return run_file(command, &task);
    }
    for (size_t i = 0; i < files->count && !pfr_output_failed(task.out); i++) {
        task.file = files->at[i];
        status = graver_of(status, run_file(command, &task));
    }
    return status;
}

static enum exit_status print_help_of(const struct command *command) {
    struct screen screen;
    if (!screen_open(&screen, false, false))
        return ENDS_IO;
    print_help(screen.out, command);
    return screen_close(&screen);
}

static bool are_too_many(const struct command *command, const void *options, const struct operands *files) {
    char program[40];
    if (!command->takes_one_file || files->count < 2)
        return false;
    if (command->explains_files && command->explains_files(options, files))
        return true;
    snprintf(program, sizeof program, "perfray %s", command->name);
    complain_as(program, "one recording at a time, not '%s' and '%s'; see %s -h", files->at[0], files->at[1], program);
    return true;
}

static enum exit_status run_parsed(const struct command *command, const void *options,
                                   const struct shared_options *shared, const struct operands *files) {
    struct screen screen;
    if (are_too_many(command, options, files))
        return ENDS_USAGE;
    if (!screen_open(&screen, command->prints_at_end, shared->pager))
        return ENDS_IO;
    pfr_output_raw_names(screen.out, shared->raw_names);
    struct task task = {.options = options, .shared = shared, .has_company = files->count > 1, .out = screen.out};
    const enum exit_status status = run_files(command, task, files);
    return graver_of(status, screen_close(&screen));
}

/* Runs a command that reads no file. `typed` is the original argv. */
static enum exit_status run_lone(const struct command *command, char **argv, char **typed, void *options) {
    char program[64];
    struct screen screen;
    const struct opt_set sets[] = {{command->opts, options}, {lone_opts, NULL}};
    struct operands words;
    snprintf(program, sizeof program, "perfray %s", command->name);
    if (!options_parse(&(struct parse){program, sets, 2, command->runs_program, command->takes}, argv + 1, &words))
        return ENDS_USAGE;
    if (words.wants_help)
        return print_help_of(command);
    words.at[words.count] = NULL;
    if (!screen_open(&screen, false, false))
        return ENDS_IO;
    const struct task task = {.options = options, .out = screen.out, .words = words.at, .typed = typed};
    const enum exit_status status = command->run(&task);
    return graver_of(status, screen_close(&screen));
}

static enum exit_status copy_and_run(const struct command *command, char **argv, void *options) {
    size_t count = 0;
    while (argv[count])
        count++;
    char **const typed = calloc(count + 1, sizeof *typed);
    if (!typed) {
        complain("no memory for the command line");
        return ENDS_IO;
    }
    memcpy(typed, argv, count * sizeof *typed);
    const enum exit_status status = run_lone(command, argv, typed, options);
    free(typed);
    return status;
}

/* With a store, expressions replace files. Returns false if a message was printed. */
static bool take_store(const struct command *command, const char *program, struct shared_options *shared,
                       struct operands *files) {
    if (!shared->store && !shared->where.count)
        return true;
    shared->store = store_place(shared->store);
    if (!shared->store || files->count) {
        complain_as(program,
                    !shared->store ? "--where selects recordings of a store: give the store with --store"
                    : command->compares
                        ? "--store compares recordings of a store: use --where BASE --where NEW instead of files"
                        : "--store reads recordings of a store: use --where instead of FILE");
        return false;
    }
    const bool selects = shared->where.count > 0;
    const char **const words = selects ? shared->where.at : &shared->store;
    *files = (struct operands){.at = (char **)(uintptr_t)words, .count = selects ? shared->where.count : 1};
    return true;
}

/* argv[0] is the name of the command. */
static enum exit_status run_command(const struct command *command, char **argv, void *options) {
    char program[64];
    struct shared_options shared = {.pager = true, .limits = {.size = sizeof(pfr_limits)}};
    const struct opt_set sets[] = {{command->opts, options}, {store_opts_of(command), &shared}, {shared_opts, &shared}};
    char *default_files[] = {unnamed_file(command)};
    struct operands files;
    snprintf(program, sizeof program, "perfray %s", command->name);
    if (!options_parse(&(struct parse){program, sets, 3, false, command->takes}, argv + 1, &files))
        return ENDS_USAGE;
    if (files.wants_help)
        return print_help_of(command);
    if (!take_store(command, program, &shared, &files))
        return ENDS_USAGE;
    shared.is_unnamed = files.count == 0;
    if (shared.is_unnamed)
        files = (struct operands){.at = default_files, .count = 1};
    return run_parsed(command, options, &shared, &files);
}

static bool has_fit_privileges(const struct command *command) {
    if (command->opens_counters || pfr_drop_privileges())
        return true;
    complain("cannot drop privileges beyond those of the user");
    return false;
}

static enum exit_status begin_command(const struct command *command, char **argv) {
    if (!has_fit_privileges(command))
        return ENDS_PERMISSION;
    void *const options = calloc(1, command->size);
    if (!options) {
        complain("no memory for the options");
        return ENDS_IO;
    }
    if (command->defaults)
        memcpy(options, command->defaults, command->size);
    const enum exit_status status = (command->reads_no_file ? copy_and_run : run_command)(command, argv, options);
    free(options);
    return status;
}

static enum exit_status refuse_verb(const char *verb) {
    const char *const elsewhere = found_elsewhere(verb);
    if (elsewhere) {
        complain("no command '%s': %s", verb, elsewhere);
        return ENDS_USAGE;
    }
    struct nearest best = {.distance = UINT_MAX};
    for (size_t i = 0; commands[i]; i++)
        nearest_offer(&best, verb, commands[i]->name);
    const char *const meant = nearest_word(&best, verb);
    complain("no command '%s'%s%s%s; perfray help lists them", verb, meant ? " (did you mean " : "", meant ? meant : "",
             meant ? "?)" : "");
    return ENDS_USAGE;
}

/* `perfray evlist FILE` runs `perfray info --events FILE`. */
static enum exit_status run_as(const struct command *command, const char *option, char **argv) {
    static char name[] = "info";
    size_t count = 0;
    while (argv[count])
        count++;
    char **const words = calloc(count + 2, sizeof *words);
    char *const first = strdup(option);
    enum exit_status status = ENDS_IO;
    if (words && first) {
        words[0] = name;
        words[1] = first;
        memcpy(words + 2, argv + 1, (count - 1) * sizeof *words);
        status = begin_command(command, words);
    } else {
        complain("no memory for the command line");
    }
    free(words);
    free(first);
    return status;
}

/* Whether perf.data in the current directory is another file than before, or was changed. */
static bool is_new_recording(const struct stat *before, bool was_there) {
    struct stat now;
    return stat(default_file, &now) == 0 &&
           (!was_there || now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Runs the command in a child process, because a command closes standard output at its end. Ctrl-C ends only the
   recording, which is then shown. */
static enum exit_status run_apart(const struct command *command, char **argv) {
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0)
        _exit((int)begin_command(command, argv));
    if (pid < 0) {
        complain("cannot start a process: %s", strerror(errno));
        return ENDS_IO;
    }
    signal(SIGINT, SIG_IGN);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    signal(SIGINT, SIG_DFL);
    return WIFEXITED(status) ? (enum exit_status)WEXITSTATUS(status) : ENDS_IO;
}

/* `perfray offcpu OPTIONS -- COMMAND` records COMMAND into perf.data, then runs `perfray offcpu OPTIONS`. */
static enum exit_status record_and_run(const struct command *command, char **argv, char **dashes) {
    static char name[] = "record", output[] = "--output", file[] = "perf.data";
    struct stat before;
    const bool was_there = stat(default_file, &before) == 0;
    size_t count = 0;
    while (dashes[count])
        count++;
    char **const words = calloc(count + 5, sizeof *words);
    char *const option = strdup(command->record_option);
    enum exit_status status = ENDS_IO;
    if (words && option) {
        words[0] = name;
        words[1] = option;
        words[2] = output;
        words[3] = file;
        memcpy(words + 4, dashes, count * sizeof *words);
        status = run_apart(find_command("record"), words);
        *dashes = NULL;
        if (is_new_recording(&before, was_there))
            status = graver_of(status, begin_command(command, argv));
    } else {
        complain("no memory for the command line");
    }
    free(words);
    free(option);
    return status;
}

static char **find_dashes(char **argv) {
    while (*argv && strcmp(*argv, "--") != 0)
        argv++;
    return *argv && argv[1] ? argv : NULL;
}

static enum exit_status run_verb(char **argv) {
    const struct command *const command = find_command(argv[0]);
    const char *const option = option_of_other_name(argv[0]);
    if (option)
        return run_as(find_command("info"), option, argv);
    char **const dashes = command && command->record_option ? find_dashes(argv) : NULL;
    if (dashes)
        return record_and_run(command, argv, dashes);
    return command ? begin_command(command, argv) : refuse_verb(argv[0]);
}

static enum exit_status print_about(const struct main_options *options) {
    struct screen screen;
    bool is_known = true;
    if (!screen_open(&screen, false, false))
        return ENDS_IO;
    if (options->version)
        print_line(screen.out, "perfray %s\n", PERFRAY_VERSION);
    else if (options->completion)
        is_known = print_completion(screen.out, options->completion, main_opts);
    else
        print_overview(screen.out, main_opts);
    if (!is_known)
        complain("completion is available for bash, not for '%s'", options->completion);
    return graver_of(is_known ? ENDS_FINE : ENDS_USAGE, screen_close(&screen));
}

/* `perfray help VERB` */
static enum exit_status run_help(const struct operands *words) {
    if (words->count < 2)
        return print_about(&(struct main_options){0});
    const struct command *const command = find_command(words->at[1]);
    return command ? print_help_of(command) : refuse_verb(words->at[1]);
}

static enum exit_status run(char **argv) {
    struct main_options options = {0};
    struct operands words;
    const struct opt_set set = {main_opts, &options};
    if (!options_parse(&(struct parse){"perfray", &set, 1, true, NULL}, argv, &words))
        return ENDS_USAGE;
    if (words.wants_help || options.version || options.completion)
        return print_about(&options);
    if (words.count == 0) {
        complain("no command is given; see perfray help");
        return ENDS_USAGE;
    }
    return strcmp(words.at[0], "help") == 0 ? run_help(&words) : run_verb(words.at);
}

int main(int argc, char **argv) {
    hold_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* reaching the limit of file sizes (ulimit -f) is an error, like a full disk */
    return apply_debug_variables() ? (int)run(argc > 0 ? argv + 1 : argv) : (int)ENDS_USAGE;
}

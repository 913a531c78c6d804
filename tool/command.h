/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_COMMAND_H
#define PERFRAY_TOOL_COMMAND_H
/*
 * A command: a row in the list in commands.c. A new command needs cmd_<name>.c with its option rows and its run
 * function, a line in commands.c and in meson.build, docs/man/perfray-<name>.1.scd, and cases in tests/cli/<name>/.
 *
 * main parses the options, calls `run` once per file, and then flushes and closes standard output.
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include "options.h"
#include "outcome.h"

/* Options of every command that reads a recording. */
struct shared_options {
    bool raw_names;
    bool pager;
    pfr_limits limits;
    const char *store;      /* NULL: recordings are files */
    struct word_list where; /* selects recordings of the store, instead of files */
    bool is_unnamed;        /* no file was given: task.file is the default file */
};
extern const struct opt shared_opts[], lone_opts[], store_opts[];

/* One file to process. */
struct task {
    const void *options; /* the command's own struct */
    const struct shared_options *shared;
    const char *file; /* "-": standard input */
    bool has_company; /* several files are printed: print the file's name as a title */
    char **files;     /* all files, for commands with takes_all_files */
    size_t nr_files;
    pfr_output *out;
    /* for commands with reads_no_file */
    char **words; /* operands, NULL-terminated */
    char **typed; /* the complete command line from the command's name on, NULL-terminated */
};

struct command {
    const char *name;
    const char *about;     /* one line for -h and the list of commands */
    const char *arguments; /* "[FILE...]" */
    const char *note;      /* a line of -h after the options; NULL: nothing */
    const char *examples;  /* the last lines of -h: two or three shell commands, each with a newline */
    const struct opt *opts;
    size_t size;          /* size of the options struct */
    const void *defaults; /* NULL: all zero */
    unsigned passes;      /* expected number of passes over a file, for the progress line; 0: once */
    bool prints_at_end;   /* prints only after reading everything, so a progress line does not disturb */
    bool takes_one_file;  /* refuses several files */
    /* With takes_one_file: prints why two files were found; returns false if it printed nothing. May be NULL. */
    bool (*explains_files)(const void *options, const struct operands *files);
    bool takes_all_files;      /* run is called once, with all files in task.files */
    bool reads_no_file;        /* run is called once, with words; of shared_opts only -h exists */
    bool runs_program;         /* everything after the first operand belongs to a program */
    const char *record_option; /* option of record with which -- PROGRAM is recorded first; NULL: not supported */
    bool reads_store;          /* has store_opts */
    bool compares;             /* with reads_store: two expressions select the two sides of a comparison */
    bool reads_trace_first;    /* without FILE, perfray.xray comes before perf.data */
    bool opens_counters;       /* can use privileges beyond the user's */
    bool (*takes)(const struct opt *row, const char *word); /* see struct parse */
    enum exit_status (*run)(const struct task *task);
};

/* The shared options available in addition to the command's own. */
const struct opt *shared_opts_of(const struct command *command);
/* store_opts; an empty list for commands that read only files. */
const struct opt *store_opts_of(const struct command *command);

/* NULL-terminated. */
extern const struct command *const commands[];

const struct command *find_command(const char *name);

/* Opens the task's file with these options of pfr_open and the limits of the command line. On failure prints the
 * reason, sets *status and returns NULL. */
pfr_reader *open_recording(const struct task *task, const pfr_open_options *options, enum exit_status *status);

#define DEFAULT_RECORDING "perf.data"
#define DEFAULT_TRACE "perfray.xray"

/* Returns the file to read if the user names none: perf.data, or perfray.xray if the current directory has only that.
 * With is_trace_first, perfray.xray is preferred. If neither file exists: perf.data. */
char *default_recording(bool is_trace_first);

/* Raises the limit of open files to its maximum: a folder of recordings has one file per CPU, all open at the same
 * time. */
void raise_file_limit(void);

/* Prints why the task's file could not be opened. */
enum exit_status complain_of_opening(const struct task *task, const pfr_error *err);

/* The time when the file was last written, in seconds since 1970; 0 for streams. */
int64_t capture_time(const char *file);

/* Reports the parts of the recording that could not be used. May read the recording again, so call it last. */
enum exit_status complain_of_damage(const struct task *task, pfr_reader *reader);

/* Hole callback for printers whose damage is reported by complain_of_damage: reports only holes caused by limits.
 * `file` is the file's name. */
void report_limit(void *file, const pfr_error *hole);

/* Hole callback for printers that report each unreadable range; `context` is a struct damage. */
struct damage {
    const char *file;
    uint64_t places, bytes;
};
void report_damage(void *context, const pfr_error *hole);
enum exit_status complain_of_reported_damage(const struct task *task, const struct damage *damage, pfr_reader *reader);

/* Prints "FILE:" if several files are printed. */
void print_title(const struct task *task);

#endif

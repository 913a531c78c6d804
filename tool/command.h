/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_COMMAND_H
#define PERFRAY_TOOL_COMMAND_H
/*
 * A command: a row in the list of commands.c. For a new one: cmd_<name>.c with its rows and its run function, a line in
 * commands.c and in meson.build, docs/man/perfray-<name>.1.scd, cases in tests/cli/<name>/.
 *
 * main reads the options, then calls `run` once for each file named; standard output is flushed and closed afterwards.
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include "options.h"
#include "outcome.h"

/* What every command that reads a recording understands. */
struct shared_options {
    bool raw_names;
    bool pager;
    pfr_limits limits;
    const char *store;      /* NULL: recordings are files */
    struct word_list where; /* what of it, in the place of files */
};
extern const struct opt shared_opts[], lone_opts[], store_opts[];

/* One file to work on. */
struct task {
    const void *options; /* the command's own struct */
    const struct shared_options *shared;
    const char *file; /* "-": standard input */
    bool has_company; /* other files are printed too: say whose output this is */
    char **files;     /* all that were named, of a command that takes them at once */
    size_t nr_files;
    pfr_output *out;
    /* of a command that reads no file: */
    char **words; /* operands; ends with NULL */
    char **typed; /* all that was typed, the verb first; ends with NULL */
};

struct command {
    const char *name;
    const char *about;     /* one line for -h and the list of commands */
    const char *arguments; /* "[FILE...]" */
    const struct opt *opts;
    size_t size;               /* of the options struct */
    const void *defaults;      /* NULL: all zero */
    unsigned passes;           /* times that a file is read, as far as is known before; 0: once */
    bool prints_at_end;        /* nothing is printed before all is read: a progress line does not disturb */
    bool takes_one_file;       /* more are refused */
    bool takes_all_files;      /* run is called once, with all of them in task.files */
    bool reads_no_file;        /* run is called once, with words; no option of shared_opts but -h is there */
    bool runs_program;         /* what follows the first operand belongs to a program */
    const char *record_option; /* -- PROGRAM is recorded with this option of record first; NULL: is not */
    bool reads_store;          /* store_opts are there, too */
    bool opens_counters;       /* privileges beyond the user's are of use to it */
    bool (*takes)(const struct opt *row, const char *word); /* as of struct parse */
    enum exit_status (*run)(const struct task *task);
};

/* The options that stand beside a command's own. */
const struct opt *shared_opts_of(const struct command *command);
/* store_opts; of commands that read files only an empty list. */
const struct opt *store_opts_of(const struct command *command);

/* Ends with NULL. */
extern const struct command *const commands[];

const struct command *find_command(const char *name);

/* Opens the task's file, options as of pfr_open (the limits are the command line's); on failure says why, sets *status
 * and returns NULL. */
pfr_reader *open_recording(const struct task *task, const pfr_open_options *options, enum exit_status *status);

/* As many open files as may be: a folder has one for each cpu, and each is open at the same time. */
void raise_file_limit(void);

/* Says why the task's file could not be opened. */
enum exit_status complain_of_opening(const struct task *task, const pfr_error *err);

/* When the file was last written, seconds since 1970; 0 for streams, which have no such time. */
int64_t capture_time(const char *file);

/* Says what of the recording could not be used, as far as it was read. Walks it again: call it last. */
enum exit_status complain_of_damage(const struct task *task, pfr_reader *reader);

/* For printers whose holes complain_of_damage tells: of what they tell, this says what a limit took. `file` is its
 * name.
 */
void limit_told(void *file, const pfr_error *hole);

/* The same for a printer that tells each place: hand it damage_told and a struct damage. */
struct damage {
    const char *file;
    uint64_t places, bytes;
};
void damage_told(void *context, const pfr_error *hole);
enum exit_status complain_of_told_damage(const struct task *task, const struct damage *damage, pfr_reader *reader);

/* "FILE:" above the output where several files are printed. */
void print_title(const struct task *task);

#endif

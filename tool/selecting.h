/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SELECTING_H
#define PERFRAY_TOOL_SELECTING_H
/* Options shared by export, flame and graph: selection of samples, and symbol lookup. A command includes the rows in
 * its list; its options struct has a member `selecting`. */
#include <perfray/selection.h>
#include "caching.h"
#include "name_files.h"

struct selecting { /* naming.cache must be true initially */
    struct naming naming;
    const char *event, *cpus, *pids, *tids, *comms, *time;
    uint32_t max_stack, jobs;
    unsigned weight; /* 0: not given, 1: samples, 2: periods */
    bool stitched;
};

#define SELECTING(type, member) offsetof(type, selecting.member)
#define SELECTING_ROWS(type) SELECTING_ROWS_WITH(type, 'e')
/* `letter_of_event`: the letter of the option --event; 0: no letter. */
#define SELECTING_ROWS_WITH(type, letter_of_event)                                                                     \
    HEADING("Selecting samples"), {"event",    letter_of_event,                                                        \
                                   OPT_STRING, SELECTING(type, event),                                                 \
                                   "EVENT",    "only samples of this event (default: all); offcpu-time: count waits"}, \
        {"cpu", 'C', OPT_STRING, SELECTING(type, cpus), "CPUS", "only samples on these CPUs: 0,2-3"},                  \
        {"pid", 0, OPT_STRING, SELECTING(type, pids), "PIDS", "only samples of these processes: 7,9-12"},              \
        {"tid", 0, OPT_STRING, SELECTING(type, tids), "TIDS", "only samples of these threads: 7,9-12"},                \
        {"comms",    'c',                                                                                              \
         OPT_STRING, SELECTING(type, comms),                                                                           \
         "NAMES",    "only samples of threads with these names, comma-separated"},                                     \
        {"comm", 0, OPT_STRING, SELECTING(type, comms), "NAMES", NULL},                                                \
        {"time",     0,                                                                                                \
         OPT_STRING, SELECTING(type, time),                                                                            \
         "A-B",      "only samples between A and B: seconds, 10%-20%, 10%/2, or dates"},                               \
        HEADING("Weights and call chains"),                                                                            \
        {"weight",                                                                                                     \
         0,                                                                                                            \
         OPT_CHOICE,                                                                                                   \
         SELECTING(type, weight),                                                                                      \
         "auto|samples|period",                                                                                        \
         "weight of a stack: samples (or calls), or sum of periods (or times)"},                                       \
        {"max-stack", 0,                                                                                               \
         OPT_COUNT,   SELECTING(type, max_stack),                                                                      \
         "COUNT",     "maximum call-chain depth (default 127; XRay traces 256)"},                                      \
        {"stitch-lbr", 0,                                                                                              \
         OPT_FLAG,     SELECTING(type, stitched),                                                                      \
         NULL,         "extend LBR stacks with frames from earlier samples"},                                          \
        {"jobs", 'j', OPT_NUMBER, SELECTING(type, jobs), "COUNT", "number of threads (default 1)"},                    \
        HEADING("Symbols"),                                                                                            \
        {"symfs", 0, OPT_STRING, SELECTING(type, naming.symfs), "DIR", "look up objects below DIR (default /)"},       \
        {"debug-dir", 0,                                                                                               \
         OPT_STRING,  SELECTING(type, naming.debug_dir),                                                               \
         "DIR",       "directory of separate debug files (default /usr/lib/debug)"},                                   \
        {"kallsyms", 0,                                                                                                \
         OPT_STRING, SELECTING(type, naming.kallsyms),                                                                 \
         "FILE",     "kernel symbol file (default: running kernel if it is the recorded one)"},                        \
        {"instr-map", 'm',                                                                                             \
         OPT_WORDS,   SELECTING(type, naming.instr_maps),                                                              \
         "FILE",      "object or map that names the functions of an XRay trace"},                                      \
        CACHE_ROW_AT(SELECTING(type, naming.cache)),                                                                   \
        {"no-symbols", 0,                                                                                              \
         OPT_FLAG,     SELECTING(type, naming.no_symbols),                                                             \
         NULL,         "do not open objects; print addresses instead of names"},                                       \
        {"no-demangle", 0,                                                                                             \
         OPT_FLAG,      SELECTING(type, naming.mangled),                                                               \
         NULL,          "print mangled names (same as --demangle=no)"},                                                \
    {                                                                                                                  \
        "demangle", 0, OPT_ATTACHED, SELECTING(type, naming.demangle), "HOW",                                          \
            "demangling: simple (no parameters or template arguments), full, or no"                                    \
    }

/* `task` and `naming` must outlive the result. Holes and notes are printed on standard error with the file's name. */
pfr_selection selection_of(const struct selecting *options, const struct task *task, const pfr_symbol_options *naming);

/* Checks that files named by options exist and are of the right type; prints a message if not. */
bool selecting_fits(const struct selecting *options, const char *program);

/* The argument of -o; NULL for standard output. */
const char *output_path(const char *option);

/* Returns false, with a message, if the output is the recording itself. */
bool is_other_file(const struct task *task, const char *program, const char *path);

/* Final step of a command that writes a file: reports errors and damage. */
enum exit_status end_of_writing(const struct task *task, const char *program, pfr_reader *reader, pfr_status status,
                                const pfr_error *err);

#endif

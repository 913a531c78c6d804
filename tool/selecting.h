/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_SELECTING_H
#define PERFRAY_TOOL_SELECTING_H
/* Options of the verbs that export and flame share: which samples are counted, and what their addresses are called. The
   rows go into the verb's own list, where the struct has a member `selecting`. */
#include <perfray/selection.h>
#include "caching.h"
#include "name_files.h"

struct selecting { /* naming.cache is true at first */
    struct naming naming;
    const char *event, *cpus, *pids, *tids, *comms, *time;
    uint32_t max_stack, jobs;
    unsigned weight; /* 0: not said, 1: samples, 2: periods */
    bool stitched;
};

#define SELECTING(type, member) offsetof(type, selecting.member)
#define SELECTING_ROWS(type)                                                                                           \
    {"event", 'e', OPT_STRING, SELECTING(type, event), "EVENT", "count samples of this event alone"},                  \
        {"weight",                                                                                                     \
         0,                                                                                                            \
         OPT_CHOICE,                                                                                                   \
         SELECTING(type, weight),                                                                                      \
         "auto|samples|period",                                                                                        \
         "what a stack counts: its samples or calls, or their periods or times added up"},                             \
        {"cpu", 'C', OPT_STRING, SELECTING(type, cpus), "CPUS", "count samples of these cpus: 0,2-3"},                 \
        {"pid", 0, OPT_STRING, SELECTING(type, pids), "PIDS", "count samples of these processes"},                     \
        {"tid", 0, OPT_STRING, SELECTING(type, tids), "TIDS", "count samples of these threads"},                       \
        {"comms", 'c', OPT_STRING, SELECTING(type, comms), "NAMES", "count samples of threads with these names"},      \
        {"comm", 0, OPT_STRING, SELECTING(type, comms), "NAMES", NULL},                                                \
        {"time",     0,                                                                                                \
         OPT_STRING, SELECTING(type, time),                                                                            \
         "A-B",      "count samples from second A to second B; 10%-20% or 10%/2 of the recording; dates"},             \
        {"max-stack", 0,                                                                                               \
         OPT_COUNT,   SELECTING(type, max_stack),                                                                      \
         "COUNT",     "take as much of a call chain; 127 without the option, 256 of a trace"},                         \
        {"stitch-lbr", 0,                                                                                              \
         OPT_FLAG,     SELECTING(type, stitched),                                                                      \
         NULL,         "let stacks of branches (LBR) go on with what samples before had"},                             \
        {"jobs", 'j', OPT_NUMBER, SELECTING(type, jobs), "COUNT", "count with as many threads; one without it"},       \
        {"instr-map", 'm',                                                                                             \
         OPT_WORDS,   SELECTING(type, naming.instr_maps),                                                              \
         "FILE",      "name functions of a trace by this object or map; several: the program first"},                  \
        CACHE_ROW_AT(SELECTING(type, naming.cache)),                                                                   \
        {"symfs", 0, OPT_STRING, SELECTING(type, naming.symfs), "DIR", "look for objects below this folder"},          \
        {"debug-dir", 0,                                                                                               \
         OPT_STRING,  SELECTING(type, naming.debug_dir),                                                               \
         "DIR",       "look for what was taken out of objects here, not in /usr/lib/debug"},                           \
        {"kallsyms", 0, OPT_STRING, SELECTING(type, naming.kallsyms), "FILE", "names of the kernel's functions"},      \
        {"no-symbols", 0,                                                                                              \
         OPT_FLAG,     SELECTING(type, naming.no_symbols),                                                             \
         NULL,         "open no object: functions have no names"},                                                     \
        {"no-demangle", 0,                                                                                             \
         OPT_FLAG,      SELECTING(type, naming.mangled),                                                               \
         NULL,          "print mangled names (same as --demangle=no)"},                                                \
    {                                                                                                                  \
        "demangle", 0, OPT_ATTACHED, SELECTING(type, naming.demangle), "HOW",                                          \
            "print names of functions simple (without parameters), full, or no"                                        \
    }

/* `task` and `naming` must outlive it: what is told goes to standard error, with the file's name. */
pfr_selection selection_of(const struct selecting *options, const struct task *task, const pfr_symbol_options *naming);

/* Whether the files that options name are there and what they should be; says so if not. */
bool selecting_fits(const struct selecting *options, const char *program);

/* -o: NULL for standard output. */
const char *output_path(const char *option);

/* Whether the output may be written there: false, and said, where it is the recording itself. */
bool is_other_file(const struct task *task, const char *program, const char *path);

/* The end of such a verb: complains as needed. */
enum exit_status end_of_writing(const struct task *task, const char *program, pfr_reader *reader, pfr_status status,
                                const pfr_error *err);

#endif

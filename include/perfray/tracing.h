/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TRACING_H
#define PERFRAY_TRACING_H
/*
 * A program under the flight recorder (libperfray-rt, perfray/runtime.h), from outside of it.
 *
 *     const char *program[] = {"./prog", "argument", NULL};
 *     pfr_tracing_options how = {.size = sizeof how, .output = "prog.xray", .runtime = "/usr/lib/libperfray-rt.so.0"};
 *     pfr_tracing_result result;
 *     pfr_status st = pfr_tracing_run(&how, program, &result, &err);
 */
#include <perfray/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of a program can be recorded, as far as its symbols and sections say. */
typedef struct pfr_tracing_hooks {
    bool is_elf;
    bool calls;        /* -finstrument-functions */
    bool sleds;        /* -fxray-instrument */
    bool has_runtime;  /* the recorder is linked into it */
    bool is_dynamic;   /* one can be preloaded */
    bool has_symbols;  /* some: what is not among them is not there */
    bool other_rights; /* set-user-ID or set-group-ID of somebody else: it takes nothing from the environment */
} pfr_tracing_hooks;

/* Looks at a program's file. PFR_ERR_IO: it cannot be read. */
pfr_status pfr_tracing_look(const char *path, pfr_tracing_hooks *hooks, pfr_error *err);

typedef struct pfr_tracing_options {
    size_t size;               /* sizeof(pfr_tracing_options) */
    const char *output;        /* the trace; what was there under its name goes */
    const char *runtime;       /* the recorder's library, preloaded where it is not in the program; NULL: none is */
    bool force;                /* run also what does not seem to have hooks: its libraries may */
    bool keep_last;            /* when there is no more room; else the first is kept, and recording ends */
    const char *room, *buffer; /* "64M"; NULL: the recorder's own */
    const char *threshold;     /* "5us": shorter calls are not kept; NULL: all are */
    uint32_t depth;            /* calls within more others are not recorded; 0: all are */
    /* Functions by pattern (* and ?), each list ends with NULL, or is NULL. Names are those of symbols, or plain. */
    const char *const *filters;  /* these and what they call, no others */
    const char *const *notrace;  /* not these, nor what they call */
    const char *const *includes; /* these alone */
    const char *const *excludes; /* not these */
} pfr_tracing_options;

typedef struct pfr_tracing_result {
    int status;         /* of the program, as wait(2) tells it */
    bool recorded;      /* there is a trace */
    bool is_full;       /* there was no more room: it ends before the program did */
    uint64_t functions; /* that were called */
    uint64_t records;   /* about as many enters, exits and events are in the trace; 0: none */
    bool is_open; /* processes that the program left running have it, and what they call from now on is in no trace */
    /* enters and exits in signal handlers inside the recorder or of more threads than buffers; events too large */
    uint64_t lost;
} pfr_tracing_result;

/*
 * Runs the program (words ends with NULL; looked for in PATH) and waits for its end, then makes of the mapping that it
 * left a plain trace; a large one stays where it is, and is cut. PFR_ERR_USAGE: no hooks in it, or options that make no
 * sense; PFR_ERR_IO: it cannot be run, or what it left cannot be made smaller: then it lies there as it is, and can be
 * read.
 */
pfr_status pfr_tracing_run(const pfr_tracing_options *options, const char *const *words, pfr_tracing_result *result,
                           pfr_error *err);

/* A function of a program, as its symbol table calls it; `plain`: without arguments, as space::type::function, where it
 * is mangled, else "". Both are gone when this returns. */
typedef void pfr_tracing_name(void *context, const char *name, const char *plain);

/*
 * Shows all that the program itself has (looked for in PATH), for who asks why a pattern fits none; `see` is called
 * from within. PFR_ERR_IO: there is no such program, it cannot be read, or has no table of names; PFR_ERR_MEMORY.
 */
pfr_status pfr_tracing_names(const char *program, pfr_tracing_name *see, void *context, pfr_error *err);

/* Whether a pattern as in pfr_tracing_options fits. */
bool pfr_tracing_fits(const char *pattern, const char *name);

/* Makes of what a recorder left (of a program that ended) a plain trace under the same name. A trace that is one
 * already stays as it is. `result` may be NULL. */
pfr_status pfr_tracing_finish(const char *path, pfr_tracing_result *result, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

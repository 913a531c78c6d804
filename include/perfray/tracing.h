/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TRACING_H
#define PERFRAY_TRACING_H
/*
 * Run a program under the flight recorder (libperfray-rt, runtime.h) and get an XRay trace of its calls. This is the
 * library side of `perfray trace`.
 *
 * Use it to trace programs that were compiled with -finstrument-functions (gcc, clang) or -fxray-instrument (clang). A
 * program that wants to start and stop recording itself uses runtime.h instead. sampling.h needs no special build.
 *
 * The trace is complete in its file at every moment, so a program that crashes or is killed loses nothing. When the
 * program has ended, the file is reduced to its used part.
 *
 * pfr_tracing_run() changes the dispositions of SIGINT and SIGQUIT of the calling process while it waits, and calls
 * fork(). Call it from one thread at a time. The other functions are thread-safe.
 *
 * Example:
 *
 *     const char *program[] = {"./prog", "argument", NULL};
 *     pfr_tracing_options how = {.size = sizeof how, .output = "prog.xray", .runtime = "/usr/lib/libperfray-rt.so.0"};
 *     pfr_tracing_result result;
 *     pfr_status status = pfr_tracing_run(&how, program, &result, &err);
 */
#include <perfray/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a program can be traced, according to its symbols and sections. */
typedef struct pfr_tracing_hooks {
    /* The file is an ELF object. If not, everything else except other_rights is false. */
    bool is_elf;
    /* It calls the hooks of -finstrument-functions. */
    bool calls;
    /* It has the sleds of -fxray-instrument. */
    bool sleds;
    /* It is linked with the recorder. */
    bool has_runtime;
    /* It is dynamically linked, so the recorder can be preloaded. */
    bool is_dynamic;
    /* It has symbols. In a stripped static program nothing can be known about `calls` and `has_runtime`. */
    bool has_symbols;
    /* It is set-user-ID or set-group-ID of another user or group, so it ignores PERFRAY_RT and LD_PRELOAD. */
    bool other_rights;
} pfr_tracing_hooks;

/*
 * pfr_tracing_look - find out how the program in the file `path` can be traced. The program is not run, and PATH is not
 * searched.
 *
 * Returns PFR_OK, also for a file that is not ELF; PFR_ERR_IO if the file cannot be opened or its tables cannot be
 * read.
 */
pfr_status pfr_tracing_look(const char *path, pfr_tracing_hooks *hooks, pfr_error *err);

/*
 * Options of pfr_tracing_run(). All members except `size` and `output` may be 0.
 *
 * Patterns are globs (* and ?). They match the name in the symbol table, or for C++ and Rust the demangled name without
 * arguments, "space::type::function". Each list of patterns ends with NULL; a NULL list means no restriction.
 */
typedef struct pfr_tracing_options {
    /* sizeof(pfr_tracing_options) */
    size_t size;
    /* File for the trace, mode 0600. An existing regular file is removed. Anything else of this name is PFR_ERR_USAGE,
       and so is a path with "%". */
    const char *output;
    /* Path of libperfray-rt, which is preloaded if the program is not linked with it. NULL: do not preload. */
    const char *runtime;
    /* Run the program even if it has no hooks: its libraries, or programs that it executes, may have them. */
    bool force;
    /* Keep the last calls when the space is used up, as a ring buffer. Default: keep the first, and end recording. */
    bool keep_last;
    /* Space for the trace and for one buffer of a thread: a number with k, M or G, such as "64M". NULL: the defaults of
       the recorder, see perfray-rt(7). */
    const char *room, *buffer;
    /* Drop calls shorter than this: a number with ns, us, ms or s (default us), such as "5us". NULL: keep all. */
    const char *threshold;
    /* Record only calls with fewer than this many recorded callers. 0: all. */
    uint32_t depth;
    /* Record only functions that match, and everything they call. */
    const char *const *filters;
    /* Do not record functions that match, nor anything they call. */
    const char *const *notrace;
    /* Record only functions that match. */
    const char *const *includes;
    /* Do not record functions that match. */
    const char *const *excludes;
} pfr_tracing_options;

/* The caller provides the struct; all members are set. */
typedef struct pfr_tracing_result {
    /* Status of the program, as waitpid(2) returns it. */
    int status;
    /* A trace was written. */
    bool recorded;
    /* The space was used up: recording ended before the program. */
    bool is_full;
    /* Number of functions that were called. */
    uint64_t functions;
    /* Approximate number of entries, exits and events in the trace. */
    uint64_t records;
    /* Processes that the program left running still have the trace open. The trace does not contain their later
       calls. */
    bool is_open;
    /* Entries, exits and events that were dropped; see pfr_get_trace_loss() in trace.h for the reasons. Calls after the
       space was used up are not included. */
    uint64_t lost;
} pfr_tracing_result;

/*
 * pfr_tracing_run - run a program, wait for its end, and reduce the trace to its used part.
 *
 * `words` is the program, searched for in PATH, and its arguments; the list ends with NULL. The program inherits
 * standard input, output and error. SIGINT and SIGQUIT are ignored while it runs: the terminal sends them to the
 * program, too.
 *
 * Returns PFR_OK if the program ran; result->status has its status and result->recorded is set if there is a trace.
 * PFR_ERR_USAGE if the program cannot be traced (unless `force` is set) or an option is invalid; the program was not
 * run. PFR_ERR_IO if the program cannot be run, the file cannot be created, or the trace cannot be reduced; in the last
 * case the unreduced trace remains and can be read.
 */
pfr_status pfr_tracing_run(const pfr_tracing_options *options, const char *const *words, pfr_tracing_result *result,
                           pfr_error *err);

/*
 * Callback of pfr_tracing_names(). `name` is the name in the symbol table. `plain` is the demangled name without
 * arguments, or "" if `name` is not mangled. Both strings are valid during the call.
 */
typedef void pfr_tracing_name(void *context, const char *name, const char *plain);

/*
 * pfr_tracing_names - list the functions of a program, as the patterns of pfr_tracing_options see them. Use it to
 * explain why a pattern matches nothing.
 *
 * `program` is searched for in PATH. `see` is called once for each function in its symbol table, in table order.
 * Functions of shared libraries are not listed.
 *
 * Returns PFR_OK; PFR_ERR_IO if there is no such program, or it cannot be read or has no symbol table; PFR_ERR_MEMORY.
 */
pfr_status pfr_tracing_names(const char *program, pfr_tracing_name *see, void *context, pfr_error *err);

/* pfr_tracing_fits - whether `name` matches the glob `pattern`, by the same rules as the recorder. */
bool pfr_tracing_fits(const char *pattern, const char *name);

/*
 * pfr_tracing_finish - reduce the file that a recorder left to its used part, under the same name. The recorded program
 * must have ended. pfr_tracing_run() does this itself; call pfr_tracing_finish() for a trace that was recorded with
 * PERFRAY_RT.
 *
 * A large file is cut in place, a smaller one is replaced by a copy. If the trace is reduced already, it and *result
 * are left unchanged. `result` may be NULL.
 *
 * Returns PFR_OK, or:
 * - PFR_ERR_IO if the file cannot be read or written, and then it is unchanged
 * - PFR_ERR_FORMAT if it is not a regular file
 * - PFR_ERR_MEMORY
 */
pfr_status pfr_tracing_finish(const char *path, pfr_tracing_result *result, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_FETCHING_H
#define PERFRAY_TOOL_FETCHING_H
/* The options --debuginfod and --demangle, for commands that print names of addresses. */
#include <perfray/debuginfod.h>
#include <perfray/symbol_options.h>

struct fetch {
    const char *urls;                 /* NULL: the option was not given; nothing is fetched */
    const pfr_symbol_options *naming; /* files found with these options are not fetched */
    const char *who;                  /* program name for messages */
    char folder[PFR_DEBUGINFOD_ROOM];
    uint64_t until;   /* deadline for source files: seconds of the monotonic clock; 0: none was requested yet */
    uint32_t missing; /* source files that were on no server, or did not arrive in time */
};

/* Fetches missing files and reports that on standard error. Returns what pfr_debuginfod_fetch returns. */
pfr_status fetch_symbols(struct fetch *fetch, pfr_reader *reader, pfr_error *err);

/* pfr_annotate_options.find_source with a struct fetch: all source files together take at most 90 seconds. */
bool fetch_source(void *fetch, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                  size_t room);
/* Prints how many source files are missing; nothing if all were found. */
void note_missing_sources(const struct fetch *fetch);

#define DEMANGLE_NO "no"
#define DEMANGLE_FULL "full"

/* Whether `demangle`, the argument of --demangle (NULL: not given), is this word. */
bool wants_demangled(const char *demangle, const char *word);
/* How to show C++ template arguments: "simple" omits them. Without the option, they are folded on a terminal, but not
   if names are filtered, because filters match names as printed. */
pfr_templates templates_of(const char *demangle, bool filters_names);
/* Whether the argument of --demangle is known; if not, prints a message. */
bool knows_demangle(const char *demangle, const char *who);

#endif

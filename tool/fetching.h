/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_FETCHING_H
#define PERFRAY_TOOL_FETCHING_H
/* The options --debuginfod and --demangle, of commands that name addresses. */
#include <perfray/debuginfod.h>
#include <perfray/symbol_options.h>

struct fetch {
    const char *urls;                 /* NULL: the option was not given, and nothing is done */
    const pfr_symbol_options *naming; /* what it finds is not fetched */
    const char *who;                  /* is talking */
    char folder[PFR_DEBUGINFOD_ROOM];
    uint64_t until;   /* seconds of the monotonic clock; 0: no source file was requested yet */
    uint32_t missing; /* source files that no server has */
};

/* Fetches what is missing, and says so on stderr. As pfr_debuginfod_fetch. */
pfr_status fetch_symbols(struct fetch *fetch, pfr_reader *reader, pfr_error *err);

/* pfr_annotate_options.find_source with a struct fetch: all source files together take at most 90 seconds. */
bool fetch_source(void *fetch, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                  size_t room);
/* How many source files no server has. */
void note_missing_sources(const struct fetch *fetch);

#define DEMANGLE_NO "no"
#define DEMANGLE_FULL "full"

/* Whether --demangle, NULL where it was not given, has this word. */
bool wants_demangled(const char *demangle, const char *word);
/* Template arguments of C++: "simple" omits them; without the option a terminal shows them folded, unless names are
   filtered, since filters match names as they are printed. */
pfr_templates templates_of(const char *demangle, bool filters_names);
/* Whether it has one that is known; says so if not. */
bool knows_demangle(const char *demangle, const char *who);

#endif

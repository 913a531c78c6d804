/* SPDX-License-Identifier: Apache-2.0 */
/* See fetching.h. */
#include "fetching.h"

#include "outcome.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOURCE_SECONDS 90u

static void note_fetched(void *fetch, const char *sentence) {
    complain_as(((const struct fetch *)fetch)->who, "%s", sentence);
}

pfr_status fetch_symbols(struct fetch *fetch, pfr_reader *reader, pfr_error *err) {
    const pfr_debuginfod_options how = {
        .size = sizeof how, .urls = fetch->urls, .naming = fetch->naming, .note = note_fetched, .context = fetch};
    return fetch->urls ? pfr_debuginfod_fetch(reader, &how, fetch->folder, err) : PFR_OK;
}

static uint64_t seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

bool fetch_source(void *context, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                  size_t room) {
    struct fetch *const fetch = context;
    pfr_error err;
    const uint64_t now = seconds_now();
    fetch->until = fetch->until ? fetch->until : now + SOURCE_SECONDS;
    const pfr_debuginfod_options how = {.size = sizeof how,
                                        .urls = fetch->urls,
                                        .seconds_most = (uint32_t)(fetch->until > now ? fetch->until - now : 0)};
    const bool is_found =
        how.seconds_most && pfr_debuginfod_source(&how, build_id, build_id_size, path, found, room, &err) == PFR_OK;
    fetch->missing += !is_found;
    return is_found;
}

void note_missing_sources(const struct fetch *fetch) {
    if (fetch->missing)
        complain_as(fetch->who, "debuginfod: %u source files were on no server, or did not arrive in time",
                    fetch->missing);
}

bool wants_demangled(const char *demangle, const char *word) {
    return demangle && strcmp(demangle, word) == 0;
}

pfr_templates templates_of(const char *demangle, bool filters_names) {
    if (wants_demangled(demangle, "simple"))
        return PFR_TEMPLATES_OMIT;
    return !demangle && !filters_names && isatty(STDOUT_FILENO) ? PFR_TEMPLATES_FOLD : PFR_TEMPLATES_KEEP;
}

bool knows_demangle(const char *demangle, const char *who) {
    if (!demangle || !*demangle || wants_demangled(demangle, "simple") || wants_demangled(demangle, DEMANGLE_FULL) ||
        wants_demangled(demangle, DEMANGLE_NO))
        return true;
    complain_as(who, "--demangle is simple, full or no, not %s; see %s -h", demangle, who);
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* See fetching.h. */
#include "fetching.h"

#include "outcome.h"

#include <string.h>
#include <unistd.h>

static void note_fetched(void *fetch, const char *sentence) {
    complain_as(((const struct fetch *)fetch)->who, "%s", sentence);
}

pfr_status fetch_symbols(struct fetch *fetch, pfr_reader *reader, pfr_error *err) {
    const pfr_debuginfod_options how = {
        .size = sizeof how, .urls = fetch->urls, .naming = fetch->naming, .note = note_fetched, .context = fetch};
    return fetch->urls ? pfr_debuginfod_fetch(reader, &how, fetch->folder, err) : PFR_OK;
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

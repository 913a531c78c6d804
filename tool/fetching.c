/* SPDX-License-Identifier: Apache-2.0 */
/* See fetching.h. */
#include "fetching.h"

#include "outcome.h"

static void note_fetched(void *fetch, const char *sentence) {
    complain_as(((const struct fetch *)fetch)->who, "%s", sentence);
}

pfr_status fetch_symbols(struct fetch *fetch, pfr_reader *reader, pfr_error *err) {
    const pfr_debuginfod_options how = {.size = sizeof how,
                                        .urls = fetch->urls,
                                        .symfs = fetch->symfs,
                                        .debug_dir = fetch->debug_dir,
                                        .note = note_fetched,
                                        .context = fetch};
    return fetch->urls ? pfr_debuginfod_fetch(reader, &how, fetch->folder, err) : PFR_OK;
}

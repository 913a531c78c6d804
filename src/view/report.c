/* SPDX-License-Identifier: Apache-2.0 */
/* The report's sort keys and its three steps: see report_parts.h. */
#include "view/report_parts.h"

#include "base/fail.h"
#include "file/recording.h"

#include <string.h>

const struct report_column report_columns[REPORT_KEYS] = {
    [KEY_COMM] = {"comm", "Command"}, [KEY_DSO] = {"dso", "Shared Object"}, [KEY_SYM] = {"sym", "Symbol"},
    [KEY_PID] = {"pid", "Pid"},       [KEY_TID] = {"tid", "Tid"},
};

static bool find_key(const char *name, size_t length, enum report_key *key) {
    for (unsigned i = 0; i < REPORT_KEYS; i++) {
        if (strlen(report_columns[i].name) == length && strncmp(report_columns[i].name, name, length) == 0)
            return *key = (enum report_key)i, true;
    }
    if (length == 6 && strncmp(name, "symbol", 6) == 0)
        return *key = KEY_SYM, true;
    return false;
}

static pfr_status parse_sort(struct report *r, pfr_error *err) {
    const char *at = r->options->sort ? r->options->sort : "comm,dso,sym";
    while (*at) {
        const size_t length = strcspn(at, ",");
        enum report_key key;
        if (!find_key(at, length, &key))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort",
                            "unknown sort key %.*s; known are comm, dso, sym, pid, tid", (int)length, at);
        if (!r->wants[key])
            r->sort[r->nr_sort++] = key;
        r->wants[key] = true;
        at += length + (at[length] == ',');
    }
    return r->nr_sort ? PFR_OK : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort", "no sort key is named");
}

static pfr_status run(struct report *r, pfr_output *out, pfr_error *err) {
    PFR_TRY(state_build(&r->state, r->reader, r->memory, err));
    r->nr_events = pfr_event_count(r->reader);
    r->totals = mem_zeroed(r->memory, (size_t)r->nr_events + 1, sizeof *r->totals);
    if (!r->totals)
        return mem_fail(r->memory, err, "report");
    PFR_TRY(pfr_rewind(r->reader, err));
    PFR_TRY(report_count(r, err));
    PFR_TRY(report_rows(r, err));
    PFR_TRY(features_unread(r->reader, err));
    report_write(r, out);
    return r->lossy ? PFR_HOLE : PFR_OK;
}

pfr_status pfr_report_print(pfr_reader *reader, const pfr_report_options *options, pfr_output *out, pfr_error *err) {
    struct report r = {.options = options, .reader = reader, .memory = &reader->memory};
    PFR_TRY(parse_sort(&r, err));
    tally_init(&r.leaves, r.memory);
    tally_init(&r.rows, r.memory);
    const pfr_status s = run(&r, out, err);
    mem_free(r.memory, r.order, r.rows.keys.count, sizeof *r.order);
    mem_free(r.memory, r.totals, (size_t)r.nr_events + 1, sizeof *r.totals);
    tally_free(&r.rows);
    tally_free(&r.leaves);
    state_free(&r.state);
    return s;
}

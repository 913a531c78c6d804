/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DIFF_PERF_H
#define PFR_VIEW_DIFF_PERF_H
/* The entries of perf diff's table, in its order. */
#include "view/diff/diff_view.h"

enum perf_compute { PERF_DELTA_ABS, PERF_DELTA, PERF_RATIO, PERF_WDIFF };
enum perf_key { PERF_COMM, PERF_DSO, PERF_SYMBOL, PERF_PID };
enum perf_column_kind { PERF_BASELINE, PERF_BASE_PERIOD, PERF_COMPUTED, PERF_FORMULA, PERF_PERIOD };

#define PERF_KEYS_MOST 4u

struct perf_entry {
    const char *texts[PERF_KEYS_MOST]; /* by key; a symbol is "" for unnamed addresses */
    uint64_t address, period[2];
    double computed;
    bool has[2], is_unnamed;
    char level;
};

struct perf_table {
    struct memory *memory;
    struct intern_table texts;
    struct perf_entry *entries; /* indexed by the ids of `texts` while samples are read; sorted afterwards */
    size_t count, room;
    uint64_t total[2];
    enum perf_compute compute;
    int64_t weights[2];
    enum perf_key keys[PERF_KEYS_MOST];
    unsigned nr_keys, widths[PERF_KEYS_MOST];
    const char *separator;
    bool by_baseline, has_unnamed;
};

/* Makes the table of one event. `events` has the event's id on each side; 0: that side does not have the event. Call
   perf_table_free() afterwards, also on failure. Errors: USAGE, MEMORY, LIMIT, and those of reading samples. */
pfr_status perf_table_make(struct perf_table *table, const struct diff_print *print, const uint32_t events[2],
                           pfr_error *err);
void perf_table_free(struct perf_table *table);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PARTS_H
#define PFR_VIEW_REPORT_PARTS_H
/*
 * A report in three steps, one file each: leaves counted (report_count.c), leaves named and joined to rows
 * (report_rows.c), rows printed (report_print.c). report.c runs them.
 */
#include "base/intern.h"
#include "model/state.h"

#include <perfray/report.h>

enum report_key { KEY_COMM, KEY_DSO, KEY_SYM, KEY_PID, KEY_TID, REPORT_KEYS };

struct report_column {
    const char *name;    /* as the user types it */
    const char *heading; /* as perf prints it */
};

extern const struct report_column report_columns[REPORT_KEYS];

/* What samples of equal key have in common; members that no sort key asks for are 0. */
struct leaf {
    uint32_t event, comm, object, pid, tid, reserved;
    uint64_t offset;
};

struct count {
    uint64_t weight, samples;
};

/* Leaves or rows: keys in an intern table, counts by id. */
struct tally {
    struct intern_table keys;
    struct count *counts;
    size_t room;
};

/* A row: for each sort key the id of its text in state->names. */
struct row {
    uint32_t event;
    uint32_t text[REPORT_KEYS];
};

struct report {
    const pfr_report_options *options;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct state state;
    enum report_key sort[REPORT_KEYS];
    unsigned nr_sort;
    bool wants[REPORT_KEYS];
    struct tally leaves, rows;
    struct count *totals; /* by event */
    uint32_t nr_events;
    uint32_t *order;   /* rows, heaviest first */
    bool lossy;        /* holes were met */
    uint64_t too_deep; /* samples of processes with more ancestors than the limit depth lets be asked */
};

void tally_init(struct tally *t, struct memory *memory);
void tally_free(struct tally *t);
pfr_status tally_add(struct tally *t, const void *key, size_t size, struct count more, pfr_error *err);

pfr_status report_count(struct report *r, pfr_error *err);
pfr_status report_rows(struct report *r, pfr_error *err);
void report_write(struct report *r, pfr_output *out);

#endif

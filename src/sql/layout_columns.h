/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_LAYOUT_COLUMNS_H
#define PFR_SQL_LAYOUT_COLUMNS_H
/*
 * The columns of each layout, from its fields (wire/layout.h): one for each field that a dump shows, in order. A layout
 * in place (SUB) is expanded, its columns are called PART_FIELD; arrays are one column of JSON. Fields that are shown
 * only when they are not 0 (reserved ones) are hidden columns.
 */
#include "base/memory/arena.h"
#include "wire/layout.h"

struct layout_column {
    const char *name, *type;
    bool hidden;
};

/* Keys are the fields of all layouts in the order of the tables, as the dump numbers them (dump_form.h). */
struct layout_columns {
    uint16_t *start; /* by key: its first column, counted from that of its layout */
    bool *expanded;  /* by key: a SUB */
    unsigned nr_keys;
    uint16_t count[LAYOUTS];                /* columns of a layout */
    struct layout_column *columns[LAYOUTS]; /* NULL: of a layout that is no record */
};

/* Of all layouts, in the arena. */
pfr_status layout_columns_make(struct layout_columns *to, struct arena *arena, pfr_error *err);

#endif

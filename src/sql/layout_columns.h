/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SQL_LAYOUT_COLUMNS_H
#define PFR_SQL_LAYOUT_COLUMNS_H
/*
 * The columns of each layout, made from its fields (wire/layout.h): one column for each field that a dump shows, in
 * order. A layout that is a field of another one (SUB) is expanded to columns named PART_FIELD; an array is one column
 * of JSON. Reserved fields, which a dump shows only if they are not 0, are hidden columns.
 */
#include "base/memory/arena.h"
#include "wire/layout.h"

struct layout_column {
    const char *name, *type;
    bool hidden;
};

/* Keys are numbers of fields, counted over all layouts in the order of the tables, as in the dump (dump_form.h). */
struct layout_columns {
    uint16_t *start; /* by key: first column of the field, relative to the first column of its layout */
    bool *expanded;  /* by key: the field is a SUB */
    unsigned nr_keys;
    uint16_t count[LAYOUTS];                /* number of columns, by layout */
    struct layout_column *columns[LAYOUTS]; /* by layout; NULL: the layout is not a record */
};

/* Makes the columns of all layouts, in the arena. */
pfr_status layout_columns_make(struct layout_columns *to, struct arena *arena, pfr_error *err);

#endif

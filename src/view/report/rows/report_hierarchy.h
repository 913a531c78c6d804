/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_HIERARCHY_H
#define PFR_VIEW_REPORT_HIERARCHY_H
/* Interface of report_hierarchy.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* A group of lines that have the same values in the first `level` + 1 sort keys. */
struct hierarchy_node {
    uint32_t level, line; /* line: any line of the group */
    uint64_t heaviest;    /* the largest weight among its children */
};

struct hierarchy {
    struct hierarchy_node *nodes;
    struct row *rows;             /* sums of each node: `members` per node */
    struct row_overhead *whole;   /* with --latency, the undivided weights of `rows`; else NULL */
    uint32_t *paths;              /* the nodes of each line, from the outermost: `levels` per line */
    uint32_t *order;              /* all lines in display order */
    unsigned column[FIELDS_MOST]; /* the column of each level */
    unsigned levels;              /* one per sort key */
    uint32_t count, members, nr_nodes;
    size_t nodes_room, rows_room, whole_room;
    struct intern_table groups; /* (parent, value) -> node */
};

/* Refuses options that contradict options->hierarchy. */
pfr_status hierarchy_check(const struct report *r, pfr_error *err);

/* Groups the lines, which must be all lines of the table, and leaves only those above options->percent_limit in
   `lines`, in the order of the hierarchy. On errors, hierarchy_free must be called as well. */
pfr_status hierarchy_make(struct hierarchy *h, struct report *r, struct lines *lines, pfr_error *err);
void hierarchy_free(struct hierarchy *h, struct report *r, const struct lines *lines);

/* Whether the weight of a node (its first row) reaches options->percent_limit. */
bool hierarchy_shows_row(const struct report *r, const struct row *row);

static inline struct row *hierarchy_rows(const struct hierarchy *h, uint32_t node) {
    return &h->rows[(size_t)node * h->members];
}

static inline uint32_t hierarchy_node_of(const struct hierarchy *h, uint32_t line, unsigned level) {
    return h->paths[(size_t)line * h->levels + level];
}

#endif

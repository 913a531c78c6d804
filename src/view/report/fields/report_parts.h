/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PARTS_H
#define PFR_VIEW_REPORT_PARTS_H
/*
 * A report is made of a profile in steps, a file each:
 *
 *     report.c             what is asked for, what the profile must hold for it, the steps
 *     report_fields.c      the table of fields: sort keys and columns, and how words of -s and -F become lists of them
 *     report_cells.c       what a field says of a place in a group: an identity, an order, a text
 *     report_source.c      the same for lines of source files
 *     report_memory.c      the same for fields of memory accesses and of branches
 *     report_cache_lines.c and for lines of the cache
 *     report_tracepoint.c       fields that tracepoints have
 *     report_call_graph_option.c       the words of -g
 *     report_filter.c      which samples are rows: -c, -d, -S, --pid, --tid
 *     report_call_trees.c      the profile's nodes, with what is filtered, weighed anew or hung under other roots (-p)
 *     report_path_segments.c       nodes that follow each other without a fork, taken together
 *     report_traversal.c        which row each node belongs to, and how much it is with all below it
 *     report_tree_roots.c     the nodes of rows that have call trees
 *     report_sums.c        the same where the profile tells what frames weigh
 *     report_rows.c        rows: cells and weights
 *     report_lines.c       rows of one event, or of a group of events side by side, in order
 *     report_order.c       the same without comparing lines, where that can be
 *     report_ties.c        where equal lines of one thread are ordered by their chains
 *     report_tree.c        the call tree of one row, report_tree_begin.c: where its chains begin
 *     report_tree_print.c  and its text,
 *     report_tree_parallel.c  which several threads make,
 *     report_tree_data.c   or its data
 *     report_table_lines.c a line of the table,
 *     report_table_parallel.c which several threads measure and write
 *     report_text_cache.c       what columns show, kept while it is shown again
 *     report_print.c, report_csv.c, report_json.c, report_bars.c
 *
 * The functions of each file are declared in the header of its name; what several share is here.
 */
#include "base/tables/intern.h"
#include "base/text/public_output.h"
#include "model/profile/result/running_threads.h"
#include "model/profile/result/profile.h"
#include "view/report/fields/number_lists.h"
#include "query/sample_filter.h"

#include <perfray/report.h>
#include <regex.h>

struct report;
struct row;

#define FIELDS_MOST 64u
#define NO_ROW UINT32_MAX
#define NO_PARENT UINT32_MAX

/* --- fields --- */

/* Where a field is asked: a frame of a group. NODE_APART is set on the frame of a sampled address, which perf calls by
   its place in the object where it has no name; elsewhere by the address itself. */
struct cell_key {
    const struct profile_group *group;
    uint32_t frame;  /* NO_FRAME: the rows have none */
    uint32_t parent; /* text of the function that -p found; NO_PARENT: none */
};

enum field_needs {
    NEEDS_FRAMES = 1,
    NEEDS_PARENT = 2,
    NEEDS_ADDRESSES = 4,
    NEEDS_TOPOLOGY = 8,
    NEEDS_MAPS = 16,
    NEEDS_LINES = 32,
    NEEDS_APART = 64 /* addresses as each process had them */
};

/* Of each row: a sort key has `identity`, a column of weights has `number`. */
struct report_field {
    const char *name, *other_name; /* as the user types it; NULL: no other */
    const char *heading;           /* as perf prints it */
    uint32_t keys;                 /* PROFILE_BITs */
    unsigned needs;
    bool right;      /* the column is aligned to the right */
    bool is_number;  /* JSON and CSV give a bare number */
    bool in_percent; /* a column of shares */
    bool of_row;     /* what is printed is more than what it says */
    bool of_level;   /* the level of the row is printed, too */
    bool of_memory;  /* only in reports of memory accesses, as those with keys of them */
    bool
        breaks_ties; /* of equal rows that with the longer chains comes first: what calls stands above what is called */
    uint64_t (*identity)(struct report *r, const struct cell_key *spot); /* rows differ where this differs */
    int (*collate)(const struct report *r, uint64_t a, uint64_t b);      /* NULL: as numbers */
    int (*order)(const struct report *r, uint64_t a, uint64_t b);        /* of rows of equal weight; NULL: collate */
    int (*strict)(const struct report *r, uint64_t a, uint64_t b); /* collate, where what `order` tells apart does not
                                                                      matter; NULL: itself */
    /* What has the smaller number stands before by `order`, by `strict`; of equal ones nothing is said. NULL: no such
     */
    uint64_t (*order_coarse)(const struct report *r, uint64_t id);
    uint64_t (*strict_coarse)(const struct report *r, uint64_t id);
    void (*print)(const struct report *r, uint64_t id, const struct row *row, pfr_output *to);
    void (*number)(const struct report *r, const struct row *row, pfr_output *to); /* a column of weights */
    uint64_t (*rank)(const struct row *row); /* what orders rows by it, most first */
};

/* report_tracepoint.c: fields of tracepoints, which the recording names */
#define TRACE_NAME_ROOM 128u
#define TRACE_FIELDS_ASKED 64u
struct report_trace_field {
    struct report_field field; /* first: what is asked for it is found from this */
    char name[TRACE_NAME_ROOM];
};

/* --- call trees --- */

enum chain_mode { CHAIN_NONE, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_how {
    enum chain_mode mode;
    enum chain_value value;
    bool by_address;
    bool caller, caller_said; /* from the outermost frame */
    double least;             /* percent, below which branches are left out */
    uint32_t most;            /* entries of one level; 0: all */
};

/* --- rows --- */

struct row {
    uint32_t event;
    uint32_t depth; /* of the longest chain */
    char level;     /* the least of its frames: '.', 'k', ... */
    uint32_t frame; /* of that level; with a filter by symbol the least of those */
    struct profile_weight self, total;
    uint64_t system, user; /* of self, by cpumode */
};

/* Rows by their cells. */
struct report_rows {
    struct intern_table cells; /* event and identities -> number */
    struct row *at;
    size_t room;
};

struct row_cells {
    uint64_t event;
    uint64_t of[FIELDS_MOST];
};

/* A line of the report: a row for each event of a group, NO_ROW where it has none. */
struct lines {
    uint32_t *rows;   /* `members` of them a line */
    uint32_t *order;  /* lines */
    uint32_t *places; /* of a line among all, by its cells */
    uint32_t count, members;
    uint32_t leader;     /* event */
    uint32_t shown;      /* of `order`, from the first on */
    size_t room, orders; /* lines there is room for */
};

/* One cell out of cells as they are kept. */
static inline uint64_t row_cell(const uint8_t *cells, unsigned key) {
    uint64_t value;
    memcpy(&value, cells + offsetof(struct row_cells, of) + key * sizeof value, sizeof value);
    return value;
}

/* --- nodes --- */

struct call_trees_root {
    const struct profile_group *group;
    uint32_t node, parent; /* text of -p */
};

/* The profile's own arrays, or others made of them. */
struct call_trees {
    struct profile_node *nodes;
    struct node_weights self;
    struct call_trees_root *roots; /* by number in nodes[].frame of a root */
    uint32_t nr_nodes, nr_roots;
    size_t nodes_room, roots_room;
    bool own_nodes, own_self; /* else they are the profile's */
};

#define NO_LIMB UINT32_MAX
#define LIMBS_MOST (1u << 30)

/* Nodes with numbers that follow each other, each the only child of the one before. Only the last may have samples of
   its own, so that all weigh the same with all below them. */
struct path_segment {
    uint32_t node; /* the first */
    uint32_t length : 30;
    uint32_t has_samples : 1;  /* of its own */
    uint32_t is_apart : 1;     /* NODE_APART: one node */
    uint32_t parent;           /* the limb that it hangs on, at the last node; NO_LIMB: one node, which is a root */
    uint32_t size;             /* how many limbs it is with all below, which stand behind it */
    struct profile_weight sum; /* with all below; without --children of the last node alone */
};

struct path_segments {
    struct path_segment *at; /* those of one root stand together, each before those below it */
    uint32_t count;
    uint32_t *root; /* by root of the forest */
};

static inline uint32_t path_segment_last(const struct path_segment *path_segment) {
    return path_segment->node + path_segment->length - 1;
}

/* A frame in a root, and its row. */
struct root_frame {
    uint32_t frame, row;
};

/* A node of a row. */
struct member {
    uint32_t node;
    uint32_t path_segment : 30;
    uint32_t has_samples : 1; /* of its own */
    uint32_t is_inner : 1;    /* it is called, if not at once, by another one of the row */
};

struct root_frames {
    struct root_frame *at;
    uint32_t count;
};

struct row_note {
    uint32_t root;      /* the first that has the row, plus 1; 0: it is in none */
    uint32_t members;   /* nodes that trees begin at */
    bool distributions; /* over several roots */
};

struct traversal {
    struct root_frames *frames; /* by root; only with trees */
    struct row_note *notes;     /* by row */
    size_t notes_room;
    struct member *members; /* of rows that have trees; of one row those of a limb behind those of the limb before */
    uint32_t *begin;        /* by row: members[begin[row]] up to members[begin[row + 1]] */
    uint32_t nr_rows;       /* in `begin` */
};

/* --- one call tree --- */

/* A frame of the tree, with all below it. Twigs of one parent stand together, heaviest first. */
struct subtree {
    uint32_t frame;
    uint32_t parent;                  /* NO_NODE: twigs[0], which is no frame but all chains together */
    uint32_t first, count;            /* those below that are heavy enough */
    uint32_t all;                     /* how many there are */
    uint32_t items, nr_items;         /* nodes that it stands for, while the tree grows */
    struct profile_weight own, total; /* of chains that end here; with all below */
};

struct tree_item {
    uint32_t node, path_segment;
    uint32_t around; /* another item that it is called by, while innermost nodes are looked for */
    bool whole;      /* see report_tree.c */
    struct profile_weight weight;
};

/* What the samples of the row weigh that are at a limb or below it. */
struct tree_mark {
    uint32_t path_segment;
    struct profile_weight weight;
};

struct tree_items {
    struct tree_item *at;
    size_t count, room;
};

/* One level of a printed tree. */
struct tree_level {
    uint32_t at, end, printed; /* twigs */
    uint64_t total, rest;      /* what shares are of; what no twig of this level has taken */
    uint64_t rest_samples;
    bool pipe; /* the line on the left goes on */
};

/* What is kept from one tree to the next. */
struct report_tree {
    struct subtree *subtrees;
    struct tree_items level, next, gathered;
    uint32_t *slot_of, *stamp_of; /* by frame */
    uint32_t *ends;               /* twigs where chains end, and a chain */
    struct tree_level *levels;
    uint32_t *mark_of; /* by limb: its number in `marks`, plus 1; 0: it has none, as all between two trees */
    struct tree_mark *marks;
    size_t count, room, ends_room, levels_room, nr_marks, marks_room;
    uint32_t stamp;
};

/* --- the whole --- */

enum report_mode { REPORT_SAMPLES, REPORT_BRANCHES, REPORT_MEMORY };

/* report_cache_lines.c: lines that were met, and a frame in each */
struct cache_lines {
    struct intern_table keys;
    uint32_t *frames;
    size_t room;
};

/* report_maps.c: the largest map of a piece of an object; places are what frames have as `address`. */
struct report_map {
    uint64_t object, from, last, size;
};

struct report_group {
    uint32_t leader, members; /* events, one after the other */
    bool named;
    char name[128];
};

/* The words of -s and -F, as rows of the table of fields. */
struct chosen_fields {
    const struct report_field *sort[FIELDS_MOST];    /* by what rows differ, and in what order they stand */
    const struct report_field *keys[FIELDS_MOST];    /* those of `sort` that are no weights */
    const struct report_field *columns[FIELDS_MOST]; /* what is printed */
    unsigned nr_sort, nr_keys, nr_columns;
    const struct report_field *asked; /* whose identity is at hand */
};

/* Fields of tracepoints, which the table does not have. */
struct tracepoint_fields {
    struct report_trace_field asked[TRACE_FIELDS_ASKED];
    struct profile_trace_field request[TRACE_FIELDS_ASKED];
    uint32_t count;
};

/* By event. */
struct event_sums {
    struct profile_weight *totals; /* what percentages are of, */
    struct profile_weight *all;    /* and those of call trees: with what filters leave out, */
    struct profile_weight *before; /* and the least share of those: before --symbol-filter */
};

/* Bytes of call trees (limit trees). */
struct tree_budget {
    uint64_t text, left; /* that may be written, and still may be */
    uint64_t cut;        /* call trees that are cut there */
};

/* -p and -x */
struct pattern_of_names {
    regex_t pattern;
    bool made;
};

struct parent_filter {
    regex_t pattern;
    bool made;   /* the pattern is */
    bool wanted; /* the profile has chains, and a key or -x asks */
    bool only;   /* -x */
};

/* report_maps.c */
struct mapped_objects {
    struct intern_table names; /* objects that there were */
    struct report_map *pieces; /* by object and address; room for as many as `names` */
    size_t count;
};

struct report {
    const pfr_report_options *options;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct profile *profile;
    const struct profile_measure *measure;
    enum report_mode mode;
    bool children, has_chains;
    bool tracepoints; /* nothing else was recorded */
    bool relative;    /* percentages are of what the filters keep */
    struct tree_budget budget;
    bool limited; /* the profile met limits, or misses records */
    struct parent_filter parents;
    struct pattern_of_names ignored; /* functions whose callees are counted as themselves */
    bool skips_first;                /* chains do not repeat the symbol of the row */
    bool asks_trees;                 /* CSV and JSON have them */
    bool row_trees;                  /* rows that are heavy enough have one */
    struct chain_how chain;
    struct sample_filter filter; /* of rows */
    bool filters_rows;           /* it asks for something */
    struct chosen_fields chosen;
    struct tracepoint_fields tracepoint;
    struct call_trees call_trees;
    struct path_segments path_segments;
    struct traversal walk;
    struct report_rows rows;
    uint64_t lines_shown;            /* of all tables */
    bool has_counts;                 /* counts were printed instead of rows */
    struct number_lists event_rows;  /* by the event whose table it is; not made where there is one table */
    struct number_lists event_roots; /* of `forest`; made when asked for */
    struct report_tree tree;
    uint32_t *symbol_of; /* by frame, then by frame of a sampled address: see report_rows.c */
    struct event_sums sums;
    int32_t *socket_of; /* by cpu */
    uint32_t nr_cpus, nr_groups;
    struct report_group *groups; /* events side by side */
    size_t groups_room;
    struct sample_filter kept;      /* the others are in no total */
    struct ranges switched;         /* of time, sorted: see report_switch.h */
    struct running_threads running; /* made for --latency and the key parallelism */
    struct cache_lines cache_lines;
    struct mapped_objects mapped;
    pfr_output cell;  /* one cell's text */
    char release[65]; /* of feature OSRELEASE; "": not told */
};

/* Bytes of call trees were written. */
static inline void tree_text_take(struct report *r, uint64_t length) {
    r->budget.left -= length < r->budget.left ? length : r->budget.left;
}

#endif

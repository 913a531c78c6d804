/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_PARTS_H
#define PFR_VIEW_REPORT_PARTS_H
/*
 * A report is made from a profile in steps, one file per step:
 *
 *     report.c                    options, requirements on the profile, the order of the steps
 *     report_fields.c             table of fields (sort keys and columns); parses -s and -F into lists of them
 *     report_cells.c              identity, order and text of each field
 *     report_source.c             fields of source lines
 *     report_memory.c             fields of memory accesses and of branches
 *     report_cache_lines.c        fields of cache lines
 *     report_tracepoint.c         fields of tracepoints
 *     report_call_graph_option.c  parses -g
 *     report_filter.c             selects the samples that become rows: -c, -d, -S, --pid, --tid
 *     report_call_trees.c         the profile's call trees, filtered, reweighted or regrouped under other roots (-p)
 *     report_path_segments.c      merges chains of nodes without a branch into path segments
 *     report_traversal.c          assigns nodes to rows and sums their weights, self and inclusive
 *     report_tree_roots.c         lists the nodes of rows that have call trees
 *     report_sums.c               fills rows from sums that the profile already has
 *     report_rows.c               rows: cells and weights
 *     report_overheads.c          with --latency: the second weight of rows
 *     report_lines.c              sorted rows of one event, or of a group of events side by side
 *     report_order.c              sorts lines by ranks instead of comparisons where possible
 *     report_ties.c               orders equal lines of one thread by the length of their chains
 *     report_hierarchy.c          sorts lines into a tree of their keys, for --hierarchy
 *     report_tree.c               call tree of one row; report_tree_begin.c finds where its chains begin
 *     report_tree_print.c         text of a call tree
 *     report_tree_parallel.c      prints call trees on several threads
 *     report_tree_data.c          call trees for CSV and JSON
 *     report_table_lines.c        one line of the table
 *     report_table_parallel.c     measures and writes lines on several threads
 *     report_text_cache.c         caches the texts of cells that repeat
 *     report_hierarchy_print.c    text of the tree of --hierarchy
 *     report_print.c, report_csv.c, report_json.c, report_bars.c: one per output format
 *
 * Functions are declared in the header with the name of their source file, except those in report_cells.h (fields),
 * report_table.h and report_tree_growth.h. Types shared by several files are declared here.
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

/* The place that a field describes: a frame in a group. The bit NODE_APART marks the frame of a sampled address. perf
   identifies a frame without a name by its offset in the object if the bit is set, but by its address if the frame is
   from a callchain. */
struct cell_key {
    const struct profile_group *group;
    uint32_t frame;  /* NO_FRAME if the rows have no frames */
    uint32_t parent; /* name of the function matched by -p (number of its text), or NO_PARENT */
};

enum field_needs {
    NEEDS_FRAMES = 1,
    NEEDS_PARENT = 2,
    NEEDS_ADDRESSES = 4,
    NEEDS_TOPOLOGY = 8,
    NEEDS_MAPS = 16,
    NEEDS_LINES = 32,
    NEEDS_APART = 64 /* distinguish addresses by process */
};

/* One field. Sort keys set `identity`, columns of weights set `number`. */
struct report_field {
    const char *name, *other_name; /* as typed by the user; other_name may be NULL */
    const char *heading;           /* column heading, as perf prints it */
    uint32_t keys;                 /* PROFILE_BITs */
    unsigned needs;
    bool right;       /* the column is aligned to the right */
    bool is_number;   /* printed without quotes in JSON and CSV */
    bool in_percent;  /* the column contains percentages */
    bool of_latency;  /* a weight of --latency */
    bool of_row;      /* the text depends on the row, not only on the identity */
    bool of_level;    /* the text starts with the row's level */
    bool of_memory;   /* valid only with --mem-mode, although `keys` contains no key of memory accesses */
    bool breaks_ties; /* among equal rows of one thread, callers come before callees: see report_ties.c */
    uint64_t (*identity)(struct report *r, const struct cell_key *spot); /* a number for the value of the field; each
                                                                            distinct combination of values is a row */
    int (*collate)(const struct report *r, uint64_t a, uint64_t b);      /* NULL: compares numbers */
    int (*order)(const struct report *r, uint64_t a, uint64_t b);        /* sorts rows of equal weight; NULL: collate */
    int (*strict)(const struct report *r, uint64_t a,
                  uint64_t b); /* replaces `collate` where a strict weak order is needed; NULL: `collate` is one */
    /* Coarse sort keys for `order` and `strict`: a value with a smaller key sorts first; values with equal keys must be
       compared by `order` or `strict`. NULL: all keys are equal. */
    uint64_t (*order_coarse)(const struct report *r, uint64_t id);
    uint64_t (*strict_coarse)(const struct report *r, uint64_t id);
    void (*print)(const struct report *r, uint64_t id, const struct row *row, pfr_output *to);
    void (*number)(const struct report *r, const struct row *row,
                   pfr_output *to);                                  /* writes the value of a column of weights */
    uint64_t (*rank)(const struct report *r, const struct row *row); /* key for sorting rows, descending */
};

/* report_tracepoint.c: fields of tracepoints, named by the recording */
#define TRACE_NAME_ROOM 128u
#define TRACE_FIELDS_ASKED 64u
struct report_tracepoint_field {
    struct report_field field; /* must be first: a pointer to it is converted back to this struct */
    char name[TRACE_NAME_ROOM];
};

/* --- call trees --- */

enum chain_mode { CHAIN_NONE, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_how {
    enum chain_mode mode;
    enum chain_value value;
    bool by_address;
    bool caller, caller_said; /* caller: trees begin at the outermost frame; caller_said: -g gives the order */
    double least;             /* minimum percentage of a branch */
    uint32_t most;            /* maximum number of branches at one level; 0: unlimited */
};

/* --- rows --- */

struct row {
    uint32_t event;
    uint32_t depth; /* length of its longest chain: see report_traversal.c */
    char level;     /* the smallest character among the levels of its frames: '.', 'k', ... */
    uint32_t frame; /* a frame of that level; with --symbol-filter, the first such frame in the order of symbols */
    struct profile_weight self, total;
    uint64_t system, user; /* parts of self.weight, by CPU mode */
};

/* Rows, deduplicated by their cells. */
struct report_rows {
    struct intern_table cells; /* event and identities -> number */
    struct row *at;
    size_t room;
};

struct row_cells {
    uint64_t event;
    uint64_t of[FIELDS_MOST];
};

/* A line of the report: one row per event of a group; NO_ROW if an event has no row. */
struct lines {
    uint32_t *rows;   /* `members` entries per line */
    uint32_t *order;  /* line numbers in display order */
    uint32_t *places; /* rank of each line by its cells */
    uint32_t count, members;
    uint32_t leader;     /* number of its first event */
    uint32_t shown;      /* the first `shown` entries of `order` are shown */
    size_t room, orders; /* room: lines that `rows` has room for; orders: entries of `order` and `places` */
};

/* Reads one cell of a row from its interned form, which may be unaligned. */
static inline uint64_t row_cell(const uint8_t *cells, unsigned key) {
    uint64_t value;
    memcpy(&value, cells + offsetof(struct row_cells, of) + key * sizeof value, sizeof value);
    return value;
}

/* --- nodes --- */

struct call_trees_root {
    const struct profile_group *group;
    uint32_t node, parent; /* parent: as in struct cell_key */
};

/* The profile's own arrays, or modified copies of them. */
struct call_trees {
    struct profile_node *nodes;
    struct node_weights self;
    struct call_trees_root *roots; /* indexed by nodes[].frame of a root node */
    uint32_t nr_nodes, nr_roots;
    size_t nodes_room, roots_room;
    bool own_nodes, own_self; /* false: the arrays belong to the profile */
};

#define NO_PATH_SEGMENT UINT32_MAX
#define PATH_SEGMENTS_MOST (1u << 30)

/* A path segment: nodes with consecutive numbers, each the only child of the node before it. Only the last node may
 * have samples of its own, so all nodes of a segment have the same inclusive weight. */
struct path_segment {
    uint32_t node; /* first node */
    uint32_t length : 30;
    uint32_t has_samples : 1; /* the last node has samples of its own */
    uint32_t is_apart : 1;    /* the segment is a single node whose frame has NODE_APART */
    uint32_t parent; /* the segment whose last node is the parent; NO_PATH_SEGMENT for a root, which is a single node */
    uint32_t size;   /* number of segments in the subtree, including this one; the others follow it in the array */
    struct profile_weight sum; /* inclusive weight; without --children, the self weight of the last node */
};

struct path_segments {
    struct path_segment *at; /* the segments of one root are contiguous, each before its descendants */
    uint32_t count;
    uint32_t *root; /* first segment of each root */
};

static inline uint32_t path_segment_last(const struct path_segment *path_segment) {
    return path_segment->node + path_segment->length - 1;
}

/* A frame that occurs in the call tree of a root, and its row. */
struct root_frame {
    uint32_t frame, row;
};

/* A node that belongs to a row. */
struct member {
    uint32_t node;
    uint32_t path_segment : 30;
    uint32_t has_samples : 1; /* the node has samples of its own */
    uint32_t is_inner : 1;    /* one of its ancestors is a node of the same row */
};

struct root_frames {
    struct root_frame *at;
    uint32_t count;
};

struct row_note {
    uint32_t root;      /* first root that contains the row, plus 1; 0: no root does */
    uint32_t members;   /* number of nodes where the row's call tree begins */
    bool distributions; /* several roots contain the row */
};

struct traversal {
    struct root_frames *frames; /* by root; allocated only if trees are printed */
    struct row_note *notes;     /* by row */
    size_t notes_room;
    struct member *members; /* nodes of the rows that have trees; within a row, descendants follow their ancestors */
    uint32_t *begin;        /* row N has members[begin[N]] to members[begin[N + 1] - 1] */
    uint32_t nr_rows;       /* rows covered by `begin` */
};

/* With --latency, weights of rows are divided by the number of running threads; these are the undivided weights. */
struct row_overhead {
    uint64_t self, total, system, user;
};

struct overheads {
    struct row_overhead *at; /* by row; NULL: the weights of rows are undivided */
    uint32_t count;
    uint64_t *totals; /* by event: denominators of percentages */
    /* While a hierarchy is printed: its rows, which are not in the array of rows, and their undivided weights. */
    const struct row *nodes;
    const struct row_overhead *of_nodes;
    size_t nr_nodes;
};

/* --- one call tree --- */

/* A node of the printed tree: a frame with everything below it. Children of one parent are contiguous, heaviest
 * first. */
struct subtree {
    uint32_t frame;
    uint32_t parent;                  /* NO_NODE for subtrees[0], which has no frame and represents all chains */
    uint32_t first, count;            /* children above the minimum share */
    uint32_t all;                     /* number of children, including those below the minimum share */
    uint32_t items, nr_items;         /* index and number of its tree_items; valid while the tree grows */
    struct profile_weight own, total; /* own: chains that end here; total: inclusive */
};

/* A node of the call trees that is merged into a subtree. */
struct tree_item {
    uint32_t node, path_segment;
    uint32_t around; /* index of the nearest ancestor among the items (report_tree_begin.c) */
    bool whole;      /* see report_tree.c */
    struct profile_weight weight;
};

/* Weight of the row's samples at or below a path segment. */
struct tree_mark {
    uint32_t path_segment;
    struct profile_weight weight;
};

struct tree_items {
    struct tree_item *at;
    size_t count, room;
};

/* One level of a tree while it is printed. */
struct tree_level {
    uint32_t at, end, printed; /* the next subtree, the end of the level, the number of printed subtrees */
    uint64_t total, rest;      /* total: denominator of percentages; rest: weight not yet printed at this level */
    uint64_t rest_samples;
    bool pipe; /* draw the vertical line of this level */
};

/* Buffers reused from one tree to the next. */
struct report_tree {
    struct subtree *subtrees;
    struct tree_items level, next, gathered;
    uint32_t *slot_of, *stamp_of; /* by frame; slot_of is valid where stamp_of equals `stamp` */
    uint32_t *ends;               /* subtrees where chains end, and the frames of one chain */
    struct tree_level *levels;
    uint32_t *mark_of; /* by path segment: index in `marks` plus 1; 0: no mark (all are 0 between trees) */
    struct tree_mark *marks;
    size_t count, room, ends_room, levels_room, nr_marks, marks_room;
    uint32_t stamp;
};

/* --- the report --- */

enum report_mode { REPORT_SAMPLES, REPORT_BRANCHES, REPORT_MEMORY };

/* report_cache_lines.c: cache lines seen so far, each with the frame of its lowest accessed address. */
struct cache_lines {
    struct intern_table keys;
    uint32_t *frames;
    size_t room;
};

/* A piece of an object and the size of the largest map that covers it (report_maps.c). Addresses are in the units of
   profile_frame.address. */
struct report_map {
    uint64_t object, from, last, size;
};

struct report_group {
    uint32_t leader, members; /* events leader to leader + members - 1 */
    bool named;
    char name[128];
};

/* The words of -s and -F as entries of the table of fields. */
struct chosen_fields {
    const struct report_field *sort[FIELDS_MOST];    /* fields by which rows are grouped and sorted */
    const struct report_field *keys[FIELDS_MOST];    /* entries of `sort` that are not weights */
    const struct report_field *columns[FIELDS_MOST]; /* printed columns */
    unsigned nr_sort, nr_keys, nr_columns;
    const struct report_field *asked; /* the field whose identity is being computed */
};

/* Requested fields of tracepoints; the table of fields does not contain them. */
struct tracepoint_fields {
    struct report_tracepoint_field asked[TRACE_FIELDS_ASKED];
    struct profile_tracepoint_field request[TRACE_FIELDS_ASKED];
    uint32_t count;
};

/* Totals, indexed by event. */
struct event_sums {
    struct profile_weight *totals; /* denominators of percentages */
    struct profile_weight *all;    /* denominators in call trees, which include filtered samples */
    struct profile_weight *before; /* base of minimum shares: the totals before --symbol-filter */
};

/* Output limit for call trees in bytes (--limit trees=BYTES). */
struct tree_budget {
    uint64_t text, left; /* text: the limit; left: the remaining bytes */
    uint64_t cut;        /* number of call trees cut at the limit */
};

/* --ignore-callees */
struct pattern_of_names {
    regex_t pattern;
    bool made;
};

/* -p and -x */
struct parent_filter {
    regex_t pattern;
    bool made;   /* `pattern` is compiled */
    bool wanted; /* the profile has chains, and a key or -x needs the parent */
    bool only;   /* -x */
};

/* report_maps.c */
struct mapped_objects {
    struct intern_table names; /* (object, place, size) of every map, without duplicates */
    struct report_map *pieces; /* sorted by object and address, not overlapping; allocated for `names.count` pieces */
    size_t count;
};

/* Which samples and rows count. */
struct report_filters {
    struct parent_filter parents;
    struct pattern_of_names ignored; /* --ignore-callees: callees count as these functions */
    struct sample_filter rows;       /* selects rows */
    bool has_rows;                   /* `rows` has a condition */
    struct sample_filter kept;       /* selects samples; all others count in no total */
    struct ranges switched;          /* time ranges, sorted; see report_switch.h */
};

/* Call trees below rows. */
struct report_trees {
    struct tree_budget budget;
    bool skips_first; /* chains omit the symbol of their row */
    bool is_asked;    /* CSV and JSON include call trees */
    bool of_rows;     /* rows above the minimum share get a tree */
    struct call_trees calls;
    struct path_segments path_segments;
    struct traversal walk;
    struct report_tree whole;
};

/* Rows by event, and events shown side by side. */
struct report_events {
    struct number_lists rows;  /* rows, by event whose table contains them; not made for a single table */
    struct number_lists roots; /* roots, by event; made on first use */
    struct event_sums sums;
    uint32_t nr_groups;
    struct report_group *groups;
    size_t groups_room;
};

struct report {
    const pfr_report_options *options;
    pfr_reader *reader;
    struct memory *memory; /* belongs to the reader */
    struct profile *profile;
    const struct profile_measure *measure;
    enum report_mode mode;
    bool children, has_chains;
    bool tracepoints; /* all events of the recording are tracepoints */
    bool relative;    /* percentages are relative to samples that pass the filters */
    bool limited;     /* the profile hit limits or misses records */
    struct report_filters filters;
    struct chain_how chain;
    struct chosen_fields chosen;
    struct tracepoint_fields tracepoint;
    struct report_trees trees;
    struct report_rows rows;
    uint64_t lines_shown; /* number of lines in all printed tables */
    bool has_counts;      /* counter values were printed instead of rows */
    struct report_events events;
    uint32_t *symbol_of; /* symbol numbers: first by frame, then by frame of a sampled address; see report_rows.c */
    int32_t *socket_of;  /* socket of each CPU */
    uint32_t nr_cpus;
    struct running_threads running; /* made for --latency and the key parallelism */
    struct overheads overheads;
    struct cache_lines cache_lines;
    struct mapped_objects mapped;
    pfr_output cell; /* scratch buffer for the text of one cell */
};

/* Deducts written bytes from the budget of call trees. */
static inline void tree_text_take(struct report *r, uint64_t length) {
    r->trees.budget.left -= length < r->trees.budget.left ? length : r->trees.budget.left;
}

#endif

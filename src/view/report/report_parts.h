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
 *     report_tree.c        the call tree of one row
 *     report_tree_print.c  and its text,
 *     report_tree_parallel.c  which several threads make,
 *     report_tree_data.c   or its data
 *     report_table_lines.c a line of the table,
 *     report_table_parallel.c which several threads measure and write
 *     report_text_cache.c       what columns show, kept while it is shown again
 *     report_print.c, report_csv.c, report_json.c, report_bars.c
 */
#include "base/tables/intern.h"
#include "base/text/public_output.h"
#include "model/profile/profile.h"
#include "view/report/number_lists.h"
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

/* Ends with a field without a name. */
extern const struct report_field report_fields[];

/* The lists of r by the words of -s and -F, or those of its mode. USAGE: a word is not known. */
pfr_status report_fields_read(struct report *r, pfr_error *err);
/* What the profile must hold for them. */
uint32_t report_keys_needed(const struct report *r, unsigned *needs);

/* report_tracepoint.c: fields of tracepoints, which the recording names */
#define TRACE_NAME_ROOM 128u
#define TRACE_FIELDS_ASKED 64u
struct report_trace_field {
    struct report_field field; /* first: what is asked for it is found from this */
    char name[TRACE_NAME_ROOM];
};
typedef void report_add_field(void *context, const struct report_field *field);
/* Adds the fields that a word means. *known false: it means none. */
pfr_status report_trace_word(struct report *r, const char *word, size_t length, report_add_field *add, void *context,
                             bool *known, pfr_error *err);

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

/* "graph,0.5,caller,function,percent" in any order. USAGE: a word is none of these. */
pfr_status report_chain_read(const char *text, struct chain_how *how, pfr_error *err);

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
struct rows {
    struct intern_table cells; /* event and identities -> number */
    struct row *at;
    size_t room;
};

struct row_cells {
    uint64_t event;
    uint64_t of[FIELDS_MOST];
};

/* After the load, before rows: symbol_number. */
pfr_status rows_number_symbols(struct report *r, pfr_error *err);
/* The row of a spot, made when it is new. */
pfr_status rows_find(struct report *r, const struct cell_key *spot, uint32_t *row, pfr_error *err);
void rows_cells(const struct report *r, uint32_t row, struct row_cells *cells);
void rows_free(struct report *r);

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

/* Before the first lines: which rows are of which event. */
pfr_status lines_prepare(struct report *r, pfr_error *err);
/* Rows of `members` events from `leader` on, in order; those below options->percent_limit are left out. */
pfr_status lines_make(struct report *r, uint32_t leader, uint32_t members, struct lines *lines, pfr_error *err);
void lines_free(struct report *r, struct lines *lines);
/* report_order.c: `shown` lines by their cells, and by what the report is sorted by from the field with number `from`
   on: all fields, or none, or all but the first, which is a weight. `cells` has the order by cells alone then; NULL:
   nobody asks. Only where that can be. */
bool lines_can_be_ranked(const struct report *r);
pfr_status lines_rank(const struct report *r, struct lines *lines, unsigned from, uint32_t *cells, pfr_error *err);
/* The key that tells threads apart; nr_keys: there is none. */
unsigned lines_thread_key(const struct report *r);
/* report_ties.c: the same where the first field has equal threads decide. */
pfr_status lines_sort_tied(const struct report *r, struct lines *lines, pfr_error *err);
/* report_line.c: the first row of a line; there is one. */
uint32_t line_first_row(const struct lines *lines, uint32_t line);
/* One cell out of cells as they are kept. */
static inline uint64_t row_cell(const uint8_t *cells, unsigned key) {
    uint64_t value;
    memcpy(&value, cells + offsetof(struct row_cells, of) + key * sizeof value, sizeof value);
    return value;
}
/* What a key of the report says of a line. */
uint64_t line_cell(const struct report *r, const struct lines *lines, uint32_t line, unsigned key);
/* The row of a line that an event has; an empty one where it has none. */
const struct row *line_row(const struct report *r, const struct lines *lines, uint32_t line, uint32_t member);
/* A line that will be looked at soon is fetched from memory. */
void line_fetch(const struct report *r, const struct lines *lines, uint32_t line);
/* The cells of a line: those of its first row. */
void line_cells(const struct report *r, const struct lines *lines, uint32_t line, struct row_cells *cells);

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

/* Whether samples of the group and frame are rows. */
bool filter_keeps(const struct report *r, const struct profile_group *group, uint32_t frame);
/* --symbol-filter looks at what a row is called; percentages may be of such rows. */
bool filter_keeps_row(const struct report *r, const struct row *row);
void filter_totals(struct report *r);
pfr_status filter_choose(struct report *r, pfr_error *err);
/* -C and --time, asked of samples as they are counted. */
pfr_status filter_choose_samples(struct report *r, pfr_error *err);
void filter_free(struct report *r);
uint32_t filter_keys_needed(const struct report *r, bool *frames);

pfr_status call_trees_make(struct report *r, pfr_error *err);
void call_trees_free(struct report *r);

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

pfr_status path_segments_make(struct report *r, pfr_error *err);
/* Sums of all limbs of a root. */
void path_segments_sum_up(struct report *r, uint32_t root);
/* Of the samples that were taken at its last node. */
struct profile_weight path_segment_self(const struct report *r, uint32_t path_segment);
/* Nodes that will be looked at soon are fetched from memory. */
void path_segment_fetch(const struct report *r, uint32_t path_segment);
void path_segments_free(struct report *r);

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

pfr_status walk_make(struct report *r, pfr_error *err);
/* report_sums.c: adds the profile's sums to the rows. */
pfr_status walk_sums(struct report *r, pfr_error *err);
/* Whether all that tells rows of frames apart is known when frames are made: then profile_request.likeness is this. */
bool sums_can_be(const struct report *r);
unsigned sums_likeness(void *context, const struct profile *p, uint32_t frame, uint64_t *words);
/* Samples that were taken in this frame. */
void row_add_self(const struct report *r, struct row *row, uint32_t frame, const struct profile_weight *self);
void walk_free(struct report *r);
/* report_tree_roots.c: whether a row is heavy enough for a tree, and the nodes of those that are. */
bool row_has_tree(const struct report *r, uint32_t row);
pfr_status walk_list_members(struct report *r, pfr_error *err);
void members_free(struct report *r);

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

/* Twigs of the row that weigh at least so much. */
pfr_status tree_make(struct report *r, struct report_tree *tree, uint32_t row, uint64_t least, pfr_error *err);
/* All that an event's samples show, callers first, in r->tree. */
pfr_status tree_make_all(struct report *r, uint32_t event, uint64_t least, pfr_error *err);
void tree_free(const struct report *r, struct report_tree *tree);
/* The lines below a row. */
/* Ends early once it has written more than `most` bytes. */
pfr_status tree_print(struct report *r, struct report_tree *tree, uint32_t row, uint64_t most, pfr_output *to,
                      pfr_error *err);

/* --- the whole --- */

enum report_mode { REPORT_SAMPLES, REPORT_BRANCHES, REPORT_MEMORY };

/* report_cache_lines.c: lines that were met, and a frame in each */
struct cache_lines {
    struct intern_table keys;
    uint32_t *frames;
    size_t room;
};
void cache_lines_free(struct report *r);

/* report_maps.c: the largest map of a piece of an object; places are what frames have as `address`. */
struct report_map {
    uint64_t object, from, last, size;
};

/* Before rows are made with NEEDS_MAPS. */
pfr_status report_learn_maps(struct report *r, pfr_error *err);
void report_free_maps(struct report *r);

struct report_group {
    uint32_t leader, members; /* events, one after the other */
    bool named;
    char name[128];
};

struct report {
    const pfr_report_options *options;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct profile *profile;
    const struct profile_measure *measure;
    enum report_mode mode;
    bool children, has_chains;
    bool tracepoints;                   /* nothing else was recorded */
    bool relative;                      /* percentages are of what the filters keep */
    uint64_t tree_text, tree_text_left; /* bytes of call trees that may be written, and still may be (limit trees) */
    bool limited;                       /* the profile met limits, or misses records */
    uint64_t trees_cut;                 /* call trees that are cut there */
    regex_t parent;                     /* of -p */
    bool parent_made, has_parent, only_parent;
    bool skips_first; /* chains do not repeat the symbol of the row */
    bool asks_trees;  /* CSV and JSON have them */
    bool row_trees;   /* rows that are heavy enough have one */
    struct chain_how chain;
    struct sample_filter filter;                     /* of rows */
    bool filters_rows;                               /* it asks for something */
    const struct report_field *sort[FIELDS_MOST];    /* by what rows differ, and in what order they stand */
    const struct report_field *keys[FIELDS_MOST];    /* those of `sort` that are no weights */
    const struct report_field *columns[FIELDS_MOST]; /* what is printed */
    unsigned nr_sort, nr_keys, nr_columns;
    const struct report_field *asked; /* whose identity is at hand */
    struct report_trace_field trace[TRACE_FIELDS_ASKED];
    struct profile_trace_field trace_request[TRACE_FIELDS_ASKED];
    uint32_t nr_trace;
    struct call_trees call_trees;
    struct path_segments path_segments;
    struct traversal walk;
    struct rows rows;
    struct number_lists event_rows;  /* by the event whose table it is; not made where there is one table */
    struct number_lists event_roots; /* of `forest`; made when asked for */
    struct report_tree tree;
    uint32_t *symbol_of;           /* by frame, then by frame of a sampled address: see report_rows.c */
    struct profile_weight *totals; /* by event: what percentages are of, */
    struct profile_weight *all;    /* and those of call trees: with what filters leave out, */
    struct profile_weight *before; /* and the least share of those: before --symbol-filter */
    int32_t *socket_of;            /* by cpu */
    uint32_t nr_cpus, nr_groups;
    struct report_group *groups; /* events side by side */
    size_t groups_room;
    struct sample_filter kept; /* the others are in no total */
    struct cache_lines cache_lines;
    struct intern_table maps;      /* report_maps.c: that there were */
    struct report_map *map_pieces; /* by object and address; room for as many as `maps` */
    size_t nr_map_pieces;
    pfr_output cell;  /* one cell's text */
    char release[65]; /* of feature OSRELEASE; "": not told */
};

/* Bytes of call trees were written. */
static inline void tree_text_take(struct report *r, uint64_t length) {
    r->tree_text_left -= length < r->tree_text_left ? length : r->tree_text_left;
}

const struct profile_frame *report_frame(const struct report *r, uint32_t frame);
/* Threads for so many tasks that one would take so long for, if each needs so much memory. */
unsigned report_jobs(const struct report *r, uint64_t likely_ns, size_t tasks, size_t bytes);
double report_percent(const struct report *r, uint32_t event, uint64_t weight);

pfr_status report_write(struct report *r, pfr_output *out, pfr_error *err);

#endif

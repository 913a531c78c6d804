/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_DIFF_H
#define PFR_VIEW_ANNOTATE_DIFF_H
/*
 * Compares the lines of a function in two recordings (--diff):
 *
 *     annotate_diff.c        selects functions and runs the steps
 *     annotate_pairs.c       pairs the files of both sides and their lines
 *     annotate_diff_text.c, annotate_diff_data.c   print the result
 */
#include "base/tables/hashmap.h"
#include "view/annotate/annotate_lines.h"
#include "view/annotate/line_match.h"

enum diff_recording { IN_BASE, IN_NEW, IN_BOTH };

/* How the corresponding line of the other side was found. */
enum line_matched { MATCHED_NOT, MATCHED_BUILD, MATCHED_TEXT, MATCHED_NUMBER, MATCHED_KINDS };
extern const char *const line_matched_names[MATCHED_KINDS];

struct diff_line {
    const char *file[IN_BOTH]; /* NULL if unknown */
    const char *inlined;       /* as in listed_line */
    uint32_t line[IN_BOTH];    /* 0: the line is not in this side's text */
    uint32_t after;            /* position in the new text: the number of the line itself, or of the line before it */
    uint8_t matched;           /* enum line_matched */
    struct annotate_sum self[IN_BOTH];
    uint64_t total[IN_BOTH];
};

/* Two files that are versions of each other. */
struct file_pair {
    const char *file[IN_BOTH];
    enum line_matched how;
    struct line_match match; /* valid if `how` is MATCHED_TEXT; owned by the cache */
};

/* The line matches of all pairs of files so far: several functions can have lines of the same file, but each pair of
   files is matched only once. */
struct match_cache {
    struct memory *memory;
    struct intern_table names, keys; /* names: of files; keys: pairs of files -> index in `at` */
    struct cached_match *at;         /* defined in annotate_pairs.c */
    size_t count, room, lines;       /* lines: total lines of all matches */
    uint64_t made;
};

struct line_diff {
    struct annotate *sides[IN_BOTH];
    struct match_cache *cache; /* shared by the functions of a comparison */
    uint64_t all[IN_BOTH];     /* total weight of the recording's samples */
    const char *function;
    struct annotate_sum self[IN_BOTH];
    struct diff_line *at; /* sorted by file and position in the new text */
    size_t count, room;
    struct file_pair *pairs;
    size_t nr_pairs, pairs_room;
    struct intern_table names;       /* file names of both sides */
    struct u64_map pair_of[IN_BOTH]; /* number of a file name (INTERN_NONE: unknown) -> index in `pairs` */
    bool has_one_build;
};

/* Whether the symbols' objects have the same build-id: their line numbers then mean the same lines. */
bool line_diff_has_one_build(const struct line_diff *diff, const uint32_t symbols[IN_BOTH]);

/* --- annotate_pairs.c */

void match_cache_init(struct match_cache *cache, struct memory *memory);
void match_cache_free(struct match_cache *cache);
void line_pairs_init(struct line_diff *diff);
/* Errors: MEMORY, LIMIT. line_pairs_free must be called after every outcome. */
pfr_status line_pairs_make(struct line_diff *diff, const struct line_rows rows[IN_BOTH], pfr_error *err);
void line_pairs_free(struct line_diff *diff);
/* Returns the line of the comparison to which a row of `side` belongs, with the weights of this side only. */
struct diff_line line_pairs_place(const struct line_diff *diff, const struct listed_line *row,
                                  enum diff_recording side);

/* --- Printing. */

/* Returns the text of a line: from the new side if the line exists there, else from the base. */
const char *diff_line_source(struct line_diff *diff, const struct diff_line *line);
double diff_share(uint64_t weight, uint64_t all);
void diff_text(struct line_diff *diff);
void diff_csv_head(struct annotate *a);
void diff_csv(struct line_diff *diff);
void diff_json(struct line_diff *diff);

/* Prints the chosen functions of two recordings. END: no selected function has samples in either recording. */
pfr_status annotate_diff(struct annotate *base, struct annotate *changed, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_CODE_H
#define PFR_EXPORT_PAGE_CODE_H
/*
 * Instructions of the hottest functions in a page (perfray view --code). Each instruction has its samples in the whole
 * recording, and the source lines that it was compiled from (--sources). The instructions take at most a quarter of the
 * page's size; functions that do not fit are counted.
 *
 * A page that compares two recordings has the code of both sides. It is read from the model of each side, because the
 * combined model has no addresses. Instructions of different builds are not comparable, but source lines are:
 * page_code_pair finds the newer line of each line of the baseline, as `perfray annotate --diff` does.
 */
#include "export/page/page_pair.h"
#include "export/page/page_tables.h"

#include <perfray/view.h>

/* One recording of the page. */
struct page_code_side {
    const pfr_model *model;  /* NULL: there is no such side */
    const uint32_t *symbols; /* by symbol id of `model`: id in the model of the page's tables; NULL: the same id */
    uint32_t first_event;    /* number of the model's first event in the page */
};

struct page_code_func {
    uint32_t func, rows; /* function of the page; number of its instructions */
    uint32_t why;        /* text that explains why only addresses with samples are known; 0: the code is known */
    uint32_t symbol;     /* id in the model of its side */
    size_t from;         /* its first instruction */
    uint8_t side;        /* enum page_side */
    uint8_t matched;     /* enum line_matched: how its lines were paired; if in several ways, the least certain one */
    bool same_addresses; /* both sides are one build, so that equal addresses are the same instruction */
};

struct page_insn {
    uint64_t address;
    uint32_t text, file, line; /* id of the text; number of the file; 0: not known */
    uint32_t target;           /* for a jump inside the function: index of its target row in the function + 1 */
    uint8_t kind;              /* enum insn_kind */
    uint8_t inlined;
};

struct page_hit {
    uint32_t row, event; /* row among the rows of all functions; event numbered as in the samples */
    uint64_t samples, weight;
};

/* The text of a source line. Two builds may be made from different versions of a file, so each side
 * has a text of its own. */
struct page_source {
    uint32_t file, line, text;
    uint8_t side;    /* enum page_side */
    bool is_certain; /* the text is the version of the side's build; otherwise it is the file at the recorded path */
};

/* A line of the baseline whose newer line has another number or file. */
struct page_line_pair {
    uint32_t func;
    uint32_t file[PAGE_SIDES], line[PAGE_SIDES]; /* line[PAGE_NEWER] 0: the line is gone */
};

struct page_code {
    struct memory *memory;
    struct intern_table paths; /* recorded paths of source files; the number of a file is 1 + the number of its path */
    uint32_t *files;           /* texts that name the files in the page */
    size_t nr_files, files_room;
    struct page_line_pair *pairs;
    size_t nr_pairs, pairs_room;
    struct page_code_func *funcs;
    struct page_insn *insns;
    struct page_hit *hits;
    struct page_source *sources;
    size_t nr_funcs, nr_insns, nr_hits, nr_sources, funcs_room, insns_room, hits_room, sources_room;
    uint64_t left_out; /* functions that did not fit */
    bool with_sources; /* source lines were requested */
};

/* The models must have addresses (opened without `functions`). Reads nothing if o->code is not set. Errors: MEMORY,
   LIMIT. */
pfr_status page_code_read(struct page_code *code, struct page_tables *tables,
                          const struct page_code_side sides[PAGE_SIDES], const pfr_view_options *o, uint64_t most,
                          struct memory *memory, pfr_error *err);
void page_code_free(struct page_code *code);

/* --- page_code_pairs.c */

struct annotate;

/* Pairs the lines of each function that has code on both sides. `reading`: the handle of each side with which its code
   was read. Errors: MEMORY, LIMIT. */
pfr_status page_code_pair(struct page_code *code, struct page_tables *tables,
                          struct annotate *const reading[PAGE_SIDES], pfr_error *err);
/* The number of a file. Redacted names of different files may be equal, so names are not keys. */
pfr_status page_code_file(struct page_code *code, struct page_tables *tables, const char *path, uint32_t *number,
                          pfr_error *err);

#endif

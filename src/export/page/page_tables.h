/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_TABLES_H
#define PFR_EXPORT_PAGE_TABLES_H
/*
 * Tables of a page (perfray view), made from a model: texts, functions, and one tree of stacks.
 * Functions are numbered by weight, the heaviest first, so that the most frequent numbers are
 * small. Node 0 is the root; the other nodes are numbered from 1, parents before their children.
 * All unnamed addresses of an object are one function.
 */
#include <perfray/model.h>

#include "base/io/output.h"
#include "base/tables/intern.h"

/* Kind of a function, as numbered in web/data.js. */
enum page_kind {
    PAGE_PROGRAM,
    PAGE_LIBRARY,
    PAGE_KERNEL,
    PAGE_JIT,
    PAGE_TRACED,
    PAGE_UNNAMED,
};

struct page_func {
    uint32_t name, object; /* id of a text; object id in the model */
    uint8_t kind;
    uint64_t self;    /* weight of the samples of event 1 */
    uint64_t address; /* address of its first symbol */
    uint32_t file;    /* id of a text: source file; 0: not known */
    uint32_t line;    /* smallest line of a frame in that file; 0: not known */
};

struct page_node {
    uint32_t parent, func;
    uint32_t line; /* line of its first frame; 0: not known */
    uint8_t inlined;
};

struct page_tables {
    const pfr_model *model;
    struct memory *memory;
    struct intern_table texts; /* id 0 is "" */
    struct page_func *funcs;
    uint32_t *func_of_symbol; /* by symbol id */
    struct page_node *nodes;
    uint32_t *node_of_stack; /* by stack id */
    uint64_t *self;          /* by stack id: weight of event 1 */
    uint32_t nr_funcs, nr_nodes, nr_symbols, nr_stacks;
    uint32_t rest_func; /* the function "[rare stacks]", for reducing pages that are too large */
    size_t funcs_room, nodes_room;
    uint64_t total, unnamed; /* weight of event 1, and of its samples whose innermost function has no name */
    bool redacts;            /* paths of objects, sources and cgroups are reduced to their last component */
};

/* Errors: MEMORY, LIMIT, and errors of reading samples. page_tables_free must always be called afterwards. */
pfr_status page_tables_make(struct page_tables *tables, const pfr_model *model, bool redacts, struct memory *memory,
                            pfr_error *err);
void page_tables_free(struct page_tables *tables);

/* Returns the last component of a path if the page must not contain directories (--redact-paths); else the whole path.
 * The text is part of `path`. */
const char *page_path(const struct page_tables *tables, const char *path);

/* Returns the id of a text; adds the text if it is new. */
pfr_status page_text(struct page_tables *tables, const char *text, uint32_t *id, pfr_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_TABLES_H
#define PFR_EXPORT_PAGE_TABLES_H
/*
 * The tables of a page (perfray view): functions, objects, threads and one tree of stacks, out of a model. Functions
 * are numbered by weight, the heaviest first, so that the numbers that occur most are small; nodes are numbered parents
 * first, from 1. Addresses without a name are one function of their object.
 */
#include <perfray/model.h>

#include "base/io/output.h"
#include "base/tables/intern.h"

/* What a function is, as web/data.js numbers it. */
enum page_kind {
    PAGE_PROGRAM,
    PAGE_LIBRARY,
    PAGE_KERNEL,
    PAGE_JIT,
    PAGE_TRACED,
    PAGE_UNNAMED,
};

struct page_func {
    uint32_t name, object; /* a text; an object id of the model */
    uint8_t kind;
    uint64_t self;    /* over the samples of event 1 */
    uint64_t address; /* of the first symbol that is this function */
    uint32_t file;    /* text: source file; 0: not known */
    uint32_t line;    /* the first line of it that a frame is at; 0: not known */
};

struct page_node {
    uint32_t parent, func;
    uint32_t line; /* of its first frame; 0: not known */
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
    uint64_t *self;          /* by stack id, of event 1 */
    uint32_t nr_funcs, nr_nodes, nr_symbols, nr_stacks;
    uint32_t rest_func; /* the function "[rare stacks]" of pages that are too large */
    size_t funcs_room, nodes_room;
    uint64_t total, unnamed; /* weight of event 1, and of its samples whose innermost function has no name */
    bool redacts;            /* paths of objects are their last parts */
};

/* Errors: MEMORY, LIMIT, and what reading samples gives. page_tables_free must follow in every case. */
pfr_status page_tables_make(struct page_tables *tables, const pfr_model *model, bool redacts, struct memory *memory,
                            pfr_error *err);
void page_tables_free(struct page_tables *tables);

/* The id of a text. */
pfr_status page_text(struct page_tables *tables, const char *text, uint32_t *id, pfr_error *err);

#endif

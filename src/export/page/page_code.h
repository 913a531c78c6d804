/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_CODE_H
#define PFR_EXPORT_PAGE_CODE_H
/*
 * Instructions of the hottest functions in a page (perfray view --code). Each instruction has its samples in the whole
 * recording, and the source lines that it was compiled from (--sources). The instructions take at most a quarter of the
 * page's size; functions that do not fit are counted.
 */
#include "export/page/page_tables.h"

#include <perfray/view.h>

struct page_code_func {
    uint32_t func, rows; /* function of the page; number of its instructions */
    uint32_t why;        /* text that explains why only addresses with samples are known; 0: the code is known */
};

struct page_insn {
    uint64_t address;
    uint32_t text, file, line; /* ids of texts; 0: not known */
    uint32_t target;           /* for a jump inside the function: index of its target row in the function + 1 */
    uint8_t kind;              /* enum insn_kind */
    uint8_t inlined;
};

struct page_hit {
    uint32_t row, event; /* row among the rows of all functions; event numbered as in the samples */
    uint64_t samples, weight;
};

struct page_source {
    uint32_t file, line, text;
};

struct page_code {
    struct memory *memory;
    struct page_code_func *funcs;
    struct page_insn *insns;
    struct page_hit *hits;
    struct page_source *sources;
    size_t nr_funcs, nr_insns, nr_hits, nr_sources, funcs_room, insns_room, hits_room, sources_room;
    uint64_t left_out; /* functions that did not fit */
};

/* The model must have addresses (opened without `functions`). Reads nothing if o->code is not set. Errors: MEMORY,
   LIMIT. */
pfr_status page_code_read(struct page_code *code, struct page_tables *tables, const pfr_view_options *o, uint64_t most,
                          struct memory *memory, pfr_error *err);
void page_code_free(struct page_code *code);

#endif

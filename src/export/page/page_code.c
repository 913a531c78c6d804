/* SPDX-License-Identifier: Apache-2.0 */
/* Code of hot functions in a page: see page_code.h. */
#include "export/page/page_code.h"

#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "model/names/naming.h"
#include "model/open/model_parts.h"
#include "view/annotate/annotate_choose.h"
#include "view/annotate/annotate_counts.h"
#include "view/annotate/annotate_rows.h"
#include "view/annotate/annotate_source.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MOST 200u
#define BYTES_OF_INSN 16u /* approximate bytes of base64 per instruction, with its texts */

struct code_reading {
    struct page_code *code;
    struct page_tables *tables;
    struct annotate *a;
    const struct page_code_side *side;
    uint8_t number; /* of the side */
    const pfr_view_options *options;
    struct u64_map known; /* source lines of the side that are already in the page */
    size_t rows_most;
    pfr_error *err;
};

static void *grow(struct page_code *c, void *at, size_t count, size_t *room, size_t size) {
    return count < *room ? at : mem_grow(c->memory, at, count, room, 256, size);
}

/* --- Rows. */

static uint32_t row_of_target(const struct function_rows *rows, const struct annotate_row *row) {
    size_t low = 0, high = rows->count;
    if (row->kind != INSN_JUMP || !row->target)
        return 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (function_row(rows, middle)->address < row->target)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->count && function_row(rows, low)->address == row->target ? (uint32_t)low + 1 : 0;
}

static pfr_status add_hits(const struct code_reading *r, const struct annotate_row *row) {
    struct page_code *c = r->code;
    for (uint32_t i = 0; i < r->a->nr_events; i++) {
        if (!row->sums[i].samples)
            continue;
        void *more = grow(c, c->hits, c->nr_hits, &c->hits_room, sizeof *c->hits);
        if (!more)
            return mem_fail(c->memory, r->err, "code");
        c->hits = more;
        c->hits[c->nr_hits++] = (struct page_hit){.row = (uint32_t)c->nr_insns,
                                                  .event = r->a->events[i] - 1 + r->side->first_event,
                                                  .samples = row->sums[i].samples,
                                                  .weight = row->sums[i].weight};
    }
    return PFR_OK;
}

static pfr_status add_row(const struct code_reading *r, const struct function_rows *rows,
                          const struct annotate_row *row) {
    struct page_code *c = r->code;
    struct page_insn insn = {.address = row->address,
                             .line = row->line,
                             .target = row_of_target(rows, row),
                             .kind = row->kind,
                             .inlined = row->is_inlined};
    PFR_TRY(page_text(r->tables, row->text, &insn.text, r->err));
    if (row->file)
        PFR_TRY(page_code_file(c, r->tables, row->file, &insn.file, r->err));
    void *more = grow(c, c->insns, c->nr_insns, &c->insns_room, sizeof *c->insns);
    if (!more)
        return mem_fail(c->memory, r->err, "code");
    c->insns = more;
    PFR_TRY(add_hits(r, row));
    c->insns[c->nr_insns++] = insn;
    return PFR_OK;
}

/* --- Source lines, file after file, so that each is read once. */

static int by_line(const void *left, const void *right) {
    const struct annotate_row *const *x = left, *const *y = right;
    const int file = strcmp((*x)->file, (*y)->file);
    return file ? file : ((*x)->line > (*y)->line) - ((*x)->line < (*y)->line);
}

static pfr_status add_source(struct code_reading *r, const struct annotate_row *row) {
    struct page_code *c = r->code;
    struct page_source line = {.line = row->line, .side = r->number};
    bool is_new;
    PFR_TRY(page_code_file(c, r->tables, row->file, &line.file, r->err));
    if (!u64_map_at(&r->known, (uint64_t)line.file << 32 | line.line, 0, &is_new))
        return mem_fail(c->memory, r->err, "code");
    const char *text = is_new ? source_line(r->a, row->file, row->line) : NULL;
    if (!text)
        return PFR_OK;
    line.is_certain = source_is_copy(r->a, row->file);
    PFR_TRY(page_text(r->tables, text, &line.text, r->err));
    void *more = grow(c, c->sources, c->nr_sources, &c->sources_room, sizeof *c->sources);
    if (!more)
        return mem_fail(c->memory, r->err, "code");
    c->sources = more;
    c->sources[c->nr_sources++] = line;
    return PFR_OK;
}

static pfr_status add_sources(struct code_reading *r, const struct function_rows *rows) {
    const struct annotate_row **order = mem_alloc(r->code->memory, rows->count, sizeof *order);
    size_t count = 0;
    pfr_status st = order ? PFR_OK : mem_fail(r->code->memory, r->err, "code");
    for (size_t i = 0; st == PFR_OK && i < rows->count; i++)
        if (function_row(rows, i)->file && function_row(rows, i)->line)
            order[count++] = function_row(rows, i);
    if (count)
        qsort(order, count, sizeof *order, by_line);
    for (size_t i = 0; st == PFR_OK && i < count; i++)
        if (!i || by_line(&order[i - 1], &order[i]) != 0)
            st = add_source(r, order[i]);
    mem_free(r->code->memory, order, rows->count, sizeof *order);
    return st;
}

/* --- Functions. */

static pfr_status add_function(struct code_reading *r, uint32_t symbol, const struct function_rows *rows) {
    struct page_code *c = r->code;
    const uint32_t in_tables = r->side->symbols ? r->side->symbols[symbol] : symbol;
    struct page_code_func func = {.func = r->tables->func_of_symbol[in_tables],
                                  .rows = (uint32_t)rows->count,
                                  .symbol = symbol,
                                  .from = c->nr_insns,
                                  .side = r->number};
    if (rows->why != SYMBOL_FOUND)
        PFR_TRY(page_text(r->tables, function_rows_why(r->a, rows), &func.why, r->err));
    void *more = grow(c, c->funcs, c->nr_funcs, &c->funcs_room, sizeof *c->funcs);
    if (!more)
        return mem_fail(c->memory, r->err, "code");
    c->funcs = more;
    c->funcs[c->nr_funcs++] = func;
    for (size_t i = 0; i < rows->count; i++)
        PFR_TRY(add_row(r, rows, function_row(rows, i)));
    return r->options->sources ? add_sources(r, rows) : PFR_OK;
}

static pfr_status read_function(struct code_reading *r, struct disasm *disasm, uint32_t symbol) {
    struct function_rows rows;
    pfr_status st = function_rows_make(r->a, disasm, symbol, &rows, r->err);
    if (st == PFR_OK && r->code->nr_insns + rows.count > r->rows_most)
        r->code->left_out++;
    else if (st == PFR_OK)
        st = add_function(r, symbol, &rows);
    function_rows_free(r->a, &rows);
    return st;
}

static pfr_status read_chosen(struct code_reading *r) {
    struct disasm disasm;
    pfr_status st = annotate_count(r->a, r->err);
    if (st == PFR_OK)
        st = annotate_choose(r->a, r->err);
    disasm_begin(&disasm, DISASM_NONE, false);
    for (uint32_t i = 0; st == PFR_OK && i < r->a->printed; i++)
        st = read_function(r, &disasm, r->a->chosen[i].symbol);
    disasm_end(&disasm);
    if (st == PFR_OK)
        r->code->left_out += r->a->nr_chosen - r->a->printed;
    return st < 0 ? st : PFR_OK;
}

/* Neither a stored recording nor a trace has addresses. */
static bool has_addresses(const struct page_code_side *side) {
    return side->model && side->model->reader && !side->model->reader->trace;
}

/* Reads both sides before pairing, since pairing needs the source files of both. */
static pfr_status read_sides(struct code_reading *r, struct annotate a[PAGE_SIDES],
                             const struct page_code_side sides[PAGE_SIDES], size_t rows_most) {
    struct annotate *const reading[PAGE_SIDES] = {&a[PAGE_NEWER], &a[PAGE_BASELINE]};
    const unsigned nr_sides = sides[PAGE_BASELINE].model ? 2 : 1;
    for (uint8_t side = 0; side < nr_sides; side++) {
        r->a = &a[side];
        r->side = &sides[side];
        r->number = side;
        r->rows_most = rows_most / nr_sides * (side + 1u);
        u64_map_init(&r->known, r->code->memory);
        const pfr_status st = has_addresses(r->side) ? read_chosen(r) : PFR_OK;
        u64_map_free(&r->known);
        PFR_TRY(st);
    }
    return nr_sides == 2 ? page_code_pair(r->code, r->tables, reading, r->err) : PFR_OK;
}

pfr_status page_code_read(struct page_code *code, struct page_tables *tables,
                          const struct page_code_side sides[PAGE_SIDES], const pfr_view_options *o, uint64_t most,
                          struct memory *memory, pfr_error *err) {
    const pfr_annotate_options how = {
        .size = sizeof how, .top = FUNCTIONS_MOST, .find_source = o->find_source, .source_context = o->source_context};
    struct annotate a[PAGE_SIDES];
    struct code_reading r = {.code = code, .tables = tables, .options = o, .err = err};
    *code = (struct page_code){.memory = memory, .with_sources = o->sources};
    intern_init(&code->paths, memory);
    if (!o->code)
        return PFR_OK;
    for (unsigned side = 0; side < PAGE_SIDES; side++)
        a[side] = (struct annotate){.options = &how,
                                    .naming = naming_of(o->naming),
                                    .reader = sides[side].model ? sides[side].model->reader : NULL,
                                    .memory = memory,
                                    .model = (pfr_model *)(uintptr_t)sides[side].model};
    const pfr_status st = read_sides(&r, a, sides, most / 4 / BYTES_OF_INSN);
    for (unsigned side = 0; side < PAGE_SIDES; side++)
        annotate_release(&a[side]);
    return st;
}

void page_code_free(struct page_code *c) {
    if (!c->memory)
        return;
    mem_free(c->memory, c->funcs, c->funcs_room, sizeof *c->funcs);
    mem_free(c->memory, c->insns, c->insns_room, sizeof *c->insns);
    mem_free(c->memory, c->hits, c->hits_room, sizeof *c->hits);
    mem_free(c->memory, c->sources, c->sources_room, sizeof *c->sources);
    mem_free(c->memory, c->pairs, c->pairs_room, sizeof *c->pairs);
    mem_free(c->memory, c->files, c->files_room, sizeof *c->files);
    intern_free(&c->paths);
}

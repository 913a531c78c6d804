/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the source lines of two recordings for the code of a page: see page_code.h. */
#include "export/page/page_code.h"

#include "view/annotate/annotate_diff.h"
#include "view/annotate/annotate_source.h"

#include <string.h>

struct pairing {
    struct page_code *code;
    struct page_tables *tables;
    struct annotate *const *reading;
    struct u64_map seen; /* lines already listed for the current function and side: file and line */
    struct match_cache matches;
    pfr_error *err;
};

pfr_status page_code_file(struct page_code *code, struct page_tables *tables, const char *path, uint32_t *number,
                          pfr_error *err) {
    uint32_t id;
    PFR_TRY(intern_put(&code->paths, path, strlen(path), &id, err));
    *number = id + 1;
    if (id < code->nr_files)
        return PFR_OK;
    void *more = mem_grow(code->memory, code->files, code->nr_files, &code->files_room, 16, sizeof *code->files);
    if (!more)
        return mem_fail(code->memory, err, "code");
    code->files = more;
    return page_text(tables, page_path(tables, path), &code->files[code->nr_files++], err);
}

/* --- The lines of a function. */

static pfr_status list_line(struct pairing *p, struct line_rows *rows, const struct page_insn *insn) {
    struct page_code *c = p->code;
    bool is_new;
    if (!insn->file || !insn->line)
        return PFR_OK;
    if (!u64_map_at(&p->seen, (uint64_t)insn->file << 32 | insn->line, 0, &is_new))
        return mem_fail(c->memory, p->err, "code");
    if (!is_new)
        return PFR_OK;
    void *more = mem_grow(c->memory, rows->at, rows->count, &rows->room, 64, sizeof *rows->at);
    if (!more)
        return mem_fail(c->memory, p->err, "code");
    rows->at = more;
    rows->at[rows->count++] = (struct listed_line){.file = intern_chars(&c->paths, insn->file - 1), .line = insn->line};
    return PFR_OK;
}

/* Lists the lines of all listings of the function on one side; a compiler may have made several clones of it. */
static pfr_status list_lines(struct pairing *p, uint32_t func, uint8_t side, struct line_rows *rows) {
    const struct page_code *c = p->code;
    pfr_status st = PFR_OK;
    *rows = (struct line_rows){.at = NULL};
    u64_map_init(&p->seen, c->memory);
    for (size_t i = 0; i < c->nr_funcs; i++)
        for (size_t k = 0; c->funcs[i].func == func && c->funcs[i].side == side && k < c->funcs[i].rows; k++)
            if (st == PFR_OK)
                st = list_line(p, rows, &c->insns[c->funcs[i].from + k]);
    u64_map_free(&p->seen);
    return st;
}

/* --- Pairs. */

static pfr_status add_pair(struct pairing *p, uint32_t func, const struct diff_line *line) {
    struct page_code *c = p->code;
    struct page_line_pair pair = {.func = func, .line = {line->line[IN_NEW], line->line[IN_BASE]}};
    PFR_TRY(page_code_file(c, p->tables, line->file[IN_NEW], &pair.file[PAGE_NEWER], p->err));
    PFR_TRY(page_code_file(c, p->tables, line->file[IN_BASE], &pair.file[PAGE_BASELINE], p->err));
    if (pair.line[PAGE_NEWER] == pair.line[PAGE_BASELINE] && pair.file[PAGE_NEWER] == pair.file[PAGE_BASELINE])
        return PFR_OK;
    void *more = mem_grow(c->memory, c->pairs, c->nr_pairs, &c->pairs_room, 256, sizeof *c->pairs);
    if (!more)
        return mem_fail(c->memory, p->err, "code");
    c->pairs = more;
    c->pairs[c->nr_pairs++] = pair;
    return PFR_OK;
}

/* `matched` becomes the least certain way in which a line was paired: the largest value, because
   enum line_matched is in order of decreasing certainty after MATCHED_NOT. */
static pfr_status add_pairs(struct pairing *p, const struct line_diff *diff, uint32_t func,
                            const struct line_rows *rows, uint8_t *matched) {
    *matched = diff->has_one_build ? MATCHED_BUILD : MATCHED_TEXT;
    for (size_t i = 0; i < rows->count; i++) {
        const struct diff_line line = line_pairs_place(diff, &rows->at[i], IN_BASE);
        *matched = line.matched > *matched ? line.matched : *matched;
        PFR_TRY(add_pair(p, func, &line));
    }
    return PFR_OK;
}

static void set_matched(struct page_code *c, uint32_t func, uint8_t matched, bool same_addresses) {
    for (size_t i = 0; i < c->nr_funcs; i++)
        if (c->funcs[i].func == func) {
            c->funcs[i].matched = matched;
            c->funcs[i].same_addresses = same_addresses;
        }
}

static const pfr_model_object *object_of(const struct annotate *a, uint32_t symbol) {
    return pfr_model_get_object(a->model, pfr_model_get_symbol(a->model, symbol)->object);
}

/* Pairs the lines of a function. Equal addresses are the same instruction only in object files,
   whose addresses belong to the build; addresses of kernels and of JIT-compiled code belong to one
   run. */
static pfr_status pair_function(struct pairing *p, const struct page_code_func *newer,
                                const struct page_code_func *baseline) {
    struct annotate *const *a = p->reading;
    struct line_diff diff = {.sides = {[IN_BASE] = a[PAGE_BASELINE], [IN_NEW] = a[PAGE_NEWER]}, .cache = &p->matches};
    struct line_rows rows[IN_BOTH] = {{.at = NULL}};
    const uint32_t symbols[IN_BOTH] = {[IN_BASE] = baseline->symbol, [IN_NEW] = newer->symbol};
    uint8_t matched = MATCHED_NOT;
    line_pairs_init(&diff);
    diff.has_one_build = line_diff_has_one_build(&diff, symbols);
    for (unsigned side = 0; side < IN_BOTH; side++)
        source_files_of(diff.sides[side], object_of(diff.sides[side], symbols[side]));
    pfr_status st = list_lines(p, newer->func, PAGE_BASELINE, &rows[IN_BASE]);
    if (st == PFR_OK)
        st = list_lines(p, newer->func, PAGE_NEWER, &rows[IN_NEW]);
    if (st == PFR_OK)
        st = line_pairs_make(&diff, rows, p->err);
    if (st == PFR_OK)
        st = add_pairs(p, &diff, newer->func, &rows[IN_BASE], &matched);
    set_matched(p->code, newer->func, matched,
                diff.has_one_build && object_of(a[PAGE_NEWER], newer->symbol)->kind == PFR_OBJECT_FILE);
    line_pairs_free(&diff);
    for (unsigned side = 0; side < IN_BOTH; side++)
        mem_free(p->code->memory, rows[side].at, rows[side].room, sizeof *rows[side].at);
    return st;
}

/* The first listing of the function on a side; NULL: there is none. */
static const struct page_code_func *listing_of(const struct page_code *c, uint32_t func, enum page_side side) {
    for (size_t i = 0; i < c->nr_funcs; i++)
        if (c->funcs[i].func == func && c->funcs[i].side == side)
            return &c->funcs[i];
    return NULL;
}

pfr_status page_code_pair(struct page_code *code, struct page_tables *tables,
                          struct annotate *const reading[PAGE_SIDES], pfr_error *err) {
    struct pairing p = {.code = code, .tables = tables, .reading = reading, .err = err};
    pfr_status st = PFR_OK;
    match_cache_init(&p.matches, code->memory);
    for (size_t i = 0; i < code->nr_funcs && st == PFR_OK; i++) {
        const struct page_code_func *newer = &code->funcs[i];
        const struct page_code_func *baseline = listing_of(code, newer->func, PAGE_BASELINE);
        if (baseline && newer == listing_of(code, newer->func, PAGE_NEWER))
            st = pair_function(&p, newer, baseline);
    }
    match_cache_free(&p.matches);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source function by line: the cost of its code, wherever the compiler put the code. A sample in a function that was
 * inlined counts at the line of the inlined call. See annotate_parts.h.
 */
#include "view/annotate/annotate_lines.h"

#include "view/annotate/annotate_code.h"
#include "view/annotate/annotate_source.h"

#include <stdlib.h>
#include <string.h>

uint32_t line_innermost(const struct annotate *a, uint32_t stack) {
    const pfr_stack *stacks = pfr_model_stacks(a->model);
    const uint32_t parent = stacks[stack].parent;
    const pfr_model_frame *own = pfr_model_get_frame(a->model, stacks[stack].frame);
    const pfr_model_frame *outer = parent ? pfr_model_get_frame(a->model, stacks[parent].frame) : NULL;
    return outer && outer->inlined && outer->address == own->address ? parent : stack;
}

struct lines_walk {
    struct annotate *a;
    struct line_rows *lines;
    const pfr_stack *stacks;
    uint8_t *is_ours;       /* by symbol: 1 if the symbol belongs to the source function ("ours") */
    uint64_t *totals;       /* total weights by stack */
    uint32_t object;        /* object of the chosen symbol */
    struct code_file *file; /* file of that object, for samples without callchains */
    struct symbol_texts *texts;
    pfr_error *err;
};

static const pfr_model_frame *frame_of(const struct lines_walk *w, uint32_t stack) {
    return pfr_model_get_frame(w->a->model, w->stacks[stack].frame);
}

static pfr_status add(const struct lines_walk *w, const struct listed_line *row) {
    struct line_rows *lines = w->lines;
    if (lines->count == lines->room) {
        void *more = mem_grow(w->a->memory, lines->at, lines->count, &lines->room, 256, sizeof *lines->at);
        if (!more)
            return mem_fail(w->a->memory, w->err, "annotate");
        lines->at = more;
    }
    lines->at[lines->count++] = *row;
    return PFR_OK;
}

/* Without a callchain, a sample has only one frame, even if its address is in an inlined function. Returns the
   outermost function that was inlined at the address. */
static const char *inlined_there(const struct lines_walk *w, const pfr_model_frame *frame) {
    struct source_frames found;
    uint64_t address, left;
    if (frame->object != w->object || !w->file->named.lines ||
        !code_file_address(w->file, frame->address, &address, &left) ||
        debug_lines_find(w->file->named.lines, address, &found) != SYMBOL_FOUND || found.count < 2)
        return NULL;
    const char *name = found.at[found.count - 2].function;
    const struct symbol_text *text = name ? symbol_text_of(w->texts, name, false, 0) : NULL;
    return text ? text->text : NULL;
}

/* Adds the self weight of a stack to a row of the source function, if the stack's innermost frame is in that function
 * or was inlined into it. */
static pfr_status add_self(const struct lines_walk *w, uint32_t stack) {
    const struct annotate_sum own = w->a->line_sums[stack];
    const char *inlined = NULL, *without_chain = NULL;
    for (uint32_t at = line_innermost(w->a, stack); at && own.samples; at = w->stacks[at].parent) {
        const pfr_model_frame *frame = frame_of(w, at);
        if (w->is_ours[w->stacks[at].symbol]) {
            w->lines->self += own.weight;
            w->lines->samples += own.samples;
            if (at == stack && !frame->inlined)
                inlined = without_chain = inlined_there(w, frame);
            struct listed_line row = {
                .file = frame->file, .line = frame->line, .self = own.weight, .samples = own.samples};
            PFR_TRY(add(w, &row));
            row.inlined = inlined;
            row.total = inlined == without_chain ? own.weight : 0;
            return inlined ? add(w, &row) : PFR_OK;
        }
        if (!frame->inlined)
            break;
        inlined = annotate_symbol_name(pfr_model_get_symbol(w->a->model, w->stacks[at].symbol));
    }
    return PFR_OK;
}

/* Whether the source function has an outer frame in this stack, at the same line (line NULL: at any line). The stack is
   then not added to the row again, so that it counts once, even with recursion. */
static bool is_within(const struct lines_walk *w, uint32_t stack, const pfr_model_frame *line) {
    for (uint32_t at = w->stacks[stack].parent; at; at = w->stacks[at].parent) {
        if (!w->is_ours[w->stacks[at].symbol])
            continue;
        const pfr_model_frame *frame = frame_of(w, at);
        if (!line || (frame->line == line->line && frame->file == line->file))
            return true;
    }
    return false;
}

static pfr_status add_total(const struct lines_walk *w, uint32_t stack) {
    const pfr_model_frame *frame = frame_of(w, stack);
    if (!w->is_ours[w->stacks[stack].symbol] || !w->totals[stack])
        return PFR_OK;
    if (!is_within(w, stack, NULL))
        w->lines->total += w->totals[stack];
    return is_within(w, stack, frame)
               ? PFR_OK
               : add(w, &(struct listed_line){.file = frame->file, .line = frame->line, .total = w->totals[stack]});
}

static bool has_same_name(const struct lines_walk *w, uint32_t x, uint32_t y) {
    return strcmp(annotate_symbol_name(pfr_model_get_symbol(w->a->model, w->stacks[x].symbol)),
                  annotate_symbol_name(pfr_model_get_symbol(w->a->model, w->stacks[y].symbol))) == 0;
}

/* Whether the same function is also inlined at the same line in an outer frame. */
static bool is_inlined_within(const struct lines_walk *w, uint32_t stack) {
    const pfr_model_frame *line = frame_of(w, w->stacks[stack].parent);
    uint32_t inner = w->stacks[stack].parent;
    for (uint32_t at = w->stacks[inner].parent; at; inner = at, at = w->stacks[at].parent) {
        const pfr_model_frame *frame = frame_of(w, at);
        if (w->is_ours[w->stacks[at].symbol] && frame->line == line->line && frame->file == line->file &&
            frame_of(w, inner)->inlined && has_same_name(w, inner, stack))
            return true;
    }
    return false;
}

/* Adds the total of a function that is inlined at a line of the source function. */
static pfr_status add_inlined_total(const struct lines_walk *w, uint32_t stack) {
    const uint32_t parent = w->stacks[stack].parent;
    if (!w->totals[stack] || !parent || !frame_of(w, stack)->inlined || !w->is_ours[w->stacks[parent].symbol] ||
        w->is_ours[w->stacks[stack].symbol] || is_inlined_within(w, stack))
        return PFR_OK;
    const pfr_model_frame *line = frame_of(w, parent);
    const char *name = annotate_symbol_name(pfr_model_get_symbol(w->a->model, w->stacks[stack].symbol));
    return add(
        w, &(struct listed_line){.file = line->file, .inlined = name, .line = line->line, .total = w->totals[stack]});
}

static int compare_texts(const char *x, const char *y) {
    return x == y ? 0 : !x ? -1 : !y ? 1 : strcmp(x, y);
}

static int compare_rows(const void *left, const void *right) {
    const struct listed_line *x = left, *y = right;
    const int file = compare_texts(x->file, y->file);
    if (file)
        return file;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : compare_texts(x->inlined, y->inlined);
}

static void join(struct line_rows *lines) {
    size_t kept = 0;
    if (!lines->count)
        return;
    qsort(lines->at, lines->count, sizeof *lines->at, compare_rows);
    for (size_t i = 1; i < lines->count; i++) {
        if (compare_rows(&lines->at[kept], &lines->at[i]) != 0) {
            lines->at[++kept] = lines->at[i];
            continue;
        }
        lines->at[kept].self += lines->at[i].self;
        lines->at[kept].samples += lines->at[i].samples;
        lines->at[kept].total += lines->at[i].total;
    }
    lines->count = kept + 1;
}

static pfr_status walk(const struct lines_walk *w, const char *name) {
    const pfr_model *model = w->a->model;
    const uint32_t stacks = pfr_model_count(model, PFR_TABLE_STACK);
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_SYMBOL); id++)
        w->is_ours[id] = strcmp(annotate_symbol_name(pfr_model_get_symbol(model, id)), name) == 0;
    for (uint32_t id = 0; id <= stacks; id++)
        w->totals[id] = w->a->line_sums[id].weight;
    for (uint32_t id = stacks; id > 0; id--)
        w->totals[w->stacks[id].parent] += w->totals[id];
    for (uint32_t id = 1; id <= stacks; id++) {
        PFR_TRY(add_self(w, id));
        PFR_TRY(add_total(w, id));
        PFR_TRY(add_inlined_total(w, id));
    }
    join(w->lines);
    return PFR_OK;
}

static pfr_status walk_with_lines(struct lines_walk *w, uint32_t symbol) {
    struct code_file file;
    struct annotate *a = w->a;
    w->object = pfr_model_get_symbol(a->model, symbol)->object;
    w->file = &file;
    source_files_of(a, pfr_model_get_object(a->model, w->object));
    code_file_open(a, pfr_model_get_object(a->model, w->object), &file);
    const pfr_status st = walk(w, w->lines->function);
    code_file_close(&file);
    return st;
}

pfr_status line_rows_make(struct annotate *a, uint32_t symbol, struct line_rows *lines, pfr_error *err) {
    const size_t stacks = (size_t)pfr_model_count(a->model, PFR_TABLE_STACK) + 1;
    const size_t symbols = (size_t)pfr_model_count(a->model, PFR_TABLE_SYMBOL) + 1;
    *lines = (struct line_rows){.function = annotate_symbol_name(pfr_model_get_symbol(a->model, symbol))};
    symbol_texts_init(&lines->texts, a->memory);
    struct lines_walk w = {
        .a = a, .lines = lines, .stacks = pfr_model_stacks(a->model), .texts = &lines->texts, .err = err};
    w.is_ours = mem_zeroed(a->memory, symbols, 1);
    w.totals = mem_alloc(a->memory, stacks, sizeof *w.totals);
    const pfr_status st = w.is_ours && w.totals ? walk_with_lines(&w, symbol) : mem_fail(a->memory, err, "annotate");
    mem_free(a->memory, w.is_ours, w.is_ours ? symbols : 0, 1);
    mem_free(a->memory, w.totals, w.totals ? stacks : 0, sizeof *w.totals);
    return st;
}

void line_rows_free(struct annotate *a, struct line_rows *lines) {
    mem_free(a->memory, lines->at, lines->room, sizeof *lines->at);
    symbol_texts_free(&lines->texts);
}

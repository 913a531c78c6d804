/* SPDX-License-Identifier: Apache-2.0 */
/* Compares functions of two recordings line by line: see annotate_diff.h. */
#include "view/annotate/annotate_diff.h"

#include "view/annotate/annotate_json.h"

#include <math.h>
#include <stdlib.h>

/* --- Rows of both sides. */

static int compare_texts(const char *x, const char *y) {
    return x == y ? 0 : !x ? -1 : !y ? 1 : strcmp(x, y);
}

static int compare_numbers(uint32_t x, uint32_t y) {
    return (x > y) - (x < y);
}

/* A removed line is placed before a new line at the same position. */
static int compare_places(const void *left, const void *right) {
    const struct diff_line *x = left, *y = right;
    int order = compare_texts(x->file[IN_NEW], y->file[IN_NEW]);
    order = order ? order : compare_texts(x->file[IN_BASE], y->file[IN_BASE]);
    order = order ? order : compare_numbers(x->after, y->after);
    order = order ? order : (x->line[IN_NEW] == 0) - (y->line[IN_NEW] == 0);
    order = order ? order : compare_numbers(x->line[IN_BASE], y->line[IN_BASE]);
    return order ? order : compare_texts(x->inlined, y->inlined);
}

static void add_sides(struct diff_line *to, const struct diff_line *from) {
    for (unsigned side = 0; side < IN_BOTH; side++) {
        to->self[side].samples += from->self[side].samples;
        to->self[side].weight += from->self[side].weight;
        to->total[side] += from->total[side];
    }
}

static void join(struct line_diff *diff) {
    size_t kept = 0;
    if (!diff->count)
        return;
    qsort(diff->at, diff->count, sizeof *diff->at, compare_places);
    for (size_t i = 1; i < diff->count; i++)
        if (compare_places(&diff->at[kept], &diff->at[i]) == 0)
            add_sides(&diff->at[kept], &diff->at[i]);
        else
            diff->at[++kept] = diff->at[i];
    diff->count = kept + 1;
}

static pfr_status make_rows(struct line_diff *diff, const struct line_rows rows[IN_BOTH], pfr_error *err) {
    struct memory *memory = diff->sides[IN_NEW]->memory;
    PFR_TRY(line_pairs_make(diff, rows, err));
    diff->room = rows[IN_BASE].count + rows[IN_NEW].count;
    diff->at = mem_alloc(memory, diff->room, sizeof *diff->at);
    if (!diff->at)
        return mem_fail(memory, err, "annotate");
    for (unsigned side = 0; side < IN_BOTH; side++) {
        diff->self[side] = (struct annotate_sum){rows[side].samples, rows[side].self};
        for (size_t i = 0; i < rows[side].count; i++)
            diff->at[diff->count++] = line_pairs_place(diff, &rows[side].at[i], (enum diff_recording)side);
    }
    join(diff);
    return PFR_OK;
}

/* --- Functions, sorted by how much they changed. */

struct changed_function {
    const char *name;
    uint32_t symbol[IN_BOTH]; /* 0: this side does not have the function */
    uint64_t weight[IN_BOTH];
    double change;
};

static int by_name(const void *left, const void *right) {
    const struct changed_function *x = left, *y = right;
    return strcmp(x->name, y->name);
}

static int by_change(const void *left, const void *right) {
    const struct changed_function *x = left, *y = right;
    const double a = fabs(x->change), b = fabs(y->change);
    return a > b ? -1 : a < b ? 1 : strcmp(x->name, y->name);
}

static size_t list_side(const struct annotate *a, unsigned side, struct changed_function *to) {
    for (size_t i = 0; i < a->nr_chosen; i++) {
        to[i] = (struct changed_function){
            .name = annotate_symbol_name(pfr_model_get_symbol(a->model, a->chosen[i].symbol))};
        to[i].symbol[side] = a->chosen[i].symbol;
        to[i].weight[side] = a->chosen[i].weight;
    }
    return a->nr_chosen;
}

static size_t join_functions(struct changed_function *f, size_t count) {
    size_t kept = 0;
    qsort(f, count, sizeof *f, by_name);
    for (size_t i = 1; i < count; i++) {
        if (by_name(&f[kept], &f[i]) != 0) {
            f[++kept] = f[i];
            continue;
        }
        for (unsigned side = 0; side < IN_BOTH; side++) {
            f[kept].symbol[side] = f[kept].symbol[side] ? f[kept].symbol[side] : f[i].symbol[side];
            f[kept].weight[side] += f[i].weight[side];
        }
    }
    return count ? kept + 1 : 0;
}

static uint64_t weight_of_all(const struct annotate *a) {
    uint64_t all = 0;
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_STACK); id++)
        all += a->line_sums[id].weight;
    return all;
}

bool line_diff_has_one_build(const struct line_diff *diff, const uint32_t symbol[IN_BOTH]) {
    const pfr_model_object *objects[IN_BOTH];
    for (unsigned side = 0; side < IN_BOTH; side++) {
        const pfr_model *model = diff->sides[side]->model;
        if (!symbol[side])
            return false;
        objects[side] = pfr_model_get_object(model, pfr_model_get_symbol(model, symbol[side])->object);
    }
    const uint32_t size = objects[IN_BASE]->build_id_size;
    return size && size == objects[IN_NEW]->build_id_size &&
           memcmp(objects[IN_BASE]->build_id, objects[IN_NEW]->build_id, size) == 0;
}

static void print_one(struct line_diff *diff) {
    const pfr_annotate_format format = diff->sides[IN_NEW]->options->format;
    if (format == PFR_ANNOTATE_TEXT)
        diff_text(diff);
    else if (format == PFR_ANNOTATE_CSV)
        diff_csv(diff);
    else
        diff_json(diff);
}

static pfr_status print_function(struct line_diff *diff, const struct changed_function *f, pfr_error *err) {
    struct line_rows rows[IN_BOTH];
    pfr_status st = PFR_OK;
    memset(rows, 0, sizeof rows);
    line_pairs_init(diff);
    diff->function = f->name;
    diff->has_one_build = line_diff_has_one_build(diff, f->symbol);
    for (unsigned side = 0; side < IN_BOTH && st == PFR_OK; side++)
        if (f->symbol[side])
            st = line_rows_make(diff->sides[side], f->symbol[side], &rows[side], err);
    if (st == PFR_OK)
        st = make_rows(diff, rows, err);
    if (st == PFR_OK)
        print_one(diff);
    line_pairs_free(diff);
    mem_free(diff->sides[IN_NEW]->memory, diff->at, diff->at ? diff->room : 0, sizeof *diff->at);
    for (unsigned side = 0; side < IN_BOTH; side++)
        if (f->symbol[side])
            line_rows_free(diff->sides[side], &rows[side]);
    return st;
}

static pfr_status print_functions(const struct line_diff *begin, struct changed_function *f, size_t count,
                                  pfr_error *err) {
    struct annotate *a = begin->sides[IN_NEW];
    const pfr_annotate_options *o = a->options;
    const size_t most = o->top ? o->top : o->what ? SIZE_MAX : 1;
    pfr_status st = PFR_OK;
    for (size_t i = 0; i < count; i++)
        f[i].change =
            diff_share(f[i].weight[IN_NEW], begin->all[IN_NEW]) - diff_share(f[i].weight[IN_BASE], begin->all[IN_BASE]);
    if (count)
        qsort(f, count, sizeof *f, by_change);
    if (o->format == PFR_ANNOTATE_CSV)
        diff_csv_head(a);
    if (o->format == PFR_ANNOTATE_JSON)
        annotate_json_begin(a);
    for (size_t i = 0; i < count && i < most && st == PFR_OK; i++) {
        struct line_diff diff = *begin;
        st = print_function(&diff, &f[i], err);
    }
    if (o->format == PFR_ANNOTATE_JSON)
        annotate_json_end(a);
    return st;
}

pfr_status annotate_diff(struct annotate *base, struct annotate *changed, pfr_error *err) {
    struct match_cache cache;
    const struct line_diff begin = {
        .sides = {base, changed}, .cache = &cache, .all = {weight_of_all(base), weight_of_all(changed)}};
    const size_t most = base->nr_chosen + changed->nr_chosen;
    struct changed_function *f = mem_alloc(changed->memory, most, sizeof *f);
    if (!f)
        return mem_fail(changed->memory, err, "annotate");
    size_t count = list_side(base, IN_BASE, f);
    count += list_side(changed, IN_NEW, f + count);
    count = join_functions(f, count);
    match_cache_init(&cache, changed->memory);
    const pfr_status st = count ? print_functions(&begin, f, count, err) : PFR_END;
    match_cache_free(&cache);
    mem_free(changed->memory, f, most, sizeof *f);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a page: see page_tables.h. */
#include "export/page/page_tables.h"

#include "base/memory/fail.h"
#include "base/tables/hashmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMELESS ((uint64_t)1 << 32) /* object id + NAMELESS: key of its unnamed function */

pfr_status page_text(struct page_tables *t, const char *text, uint32_t *id, pfr_error *err) {
    return intern_put(&t->texts, text, strlen(text), id, err);
}

const char *page_path(const struct page_tables *t, const char *path) {
    const char *slash = t->redacts ? strrchr(path, '/') : NULL;
    return slash && strcmp(path, "/") != 0 ? slash + 1 : path; /* "/" is the root cgroup, "" an unknown one */
}

/* --- Functions. */

/* Recognises names like "libc.so.6" and "libm-2.31.so": ".so" must be followed by the end or a dot. */
static bool is_library(const char *name) {
    const char *at = strstr(name, ".so");
    return at && (at[3] == 0 || at[3] == '.');
}

static enum page_kind kind_of(const pfr_model_symbol *symbol, const pfr_model_object *object, bool is_traced) {
    if (!symbol->name || object->kind == PFR_OBJECT_UNKNOWN || object->kind == PFR_OBJECT_LIMIT)
        return PAGE_UNNAMED;
    if (is_traced)
        return PAGE_TRACED;
    switch (object->kind) {
    case PFR_OBJECT_KERNEL:
    case PFR_OBJECT_MODULE:
    case PFR_OBJECT_BPF:
        return PAGE_KERNEL;
    case PFR_OBJECT_JIT:
    case PFR_OBJECT_ANONYMOUS:
    case PFR_OBJECT_MEMORY:
        return PAGE_JIT;
    default:
        return is_library(object->name) ? PAGE_LIBRARY : PAGE_PROGRAM;
    }
}

static pfr_status name_of(struct page_tables *t, const pfr_model_symbol *symbol, const pfr_model_object *object,
                          uint32_t *id, pfr_error *err) {
    char text[256];
    if (symbol->name)
        return page_text(t, symbol->name, id, err);
    snprintf(text, sizeof text, object->name[0] == '[' ? "%.200s" : "[%.200s]", object->name);
    return page_text(t, text, id, err);
}

static pfr_status add_func(struct page_tables *t, const pfr_model_symbol *symbol, bool is_traced, pfr_error *err) {
    const pfr_model_object *object = pfr_model_get_object(t->model, symbol->object);
    void *grown = mem_grow(t->memory, t->funcs, t->nr_funcs, &t->funcs_room, 256, sizeof *t->funcs);
    if (!grown)
        return mem_fail(t->memory, err, "functions");
    t->funcs = grown;
    struct page_func *f = &t->funcs[t->nr_funcs++];
    *f = (struct page_func){
        .object = symbol->object, .kind = kind_of(symbol, object, is_traced), .address = symbol->address};
    return name_of(t, symbol, object, &f->name, err);
}

/* Symbols of one object with the same name are one function, as in reports. All unnamed addresses of an object are one
 * function, too. */
static pfr_status learn_funcs(struct page_tables *t, struct u64_map *known, bool is_traced, pfr_error *err) {
    for (uint32_t id = 1; id <= t->nr_symbols; id++) {
        const pfr_model_symbol *symbol = pfr_model_get_symbol(t->model, id);
        uint32_t name = 0;
        if (symbol->name)
            PFR_TRY(page_text(t, symbol->name, &name, err));
        const uint64_t key = symbol->name ? (uint64_t)name << 33 | symbol->object : NAMELESS | symbol->object;
        bool is_new;
        uint64_t *at = u64_map_at(known, key, t->nr_funcs, &is_new);
        if (!at)
            return mem_fail(t->memory, err, "functions");
        t->func_of_symbol[id] = (uint32_t)*at;
        if (is_new)
            PFR_TRY(add_func(t, symbol, is_traced, err));
    }
    return PFR_OK;
}

/* Frames have files and lines if the model was opened with `lines` or `inlined`. */
static pfr_status place_funcs(struct page_tables *t, pfr_error *err) {
    for (uint32_t id = 1; id <= pfr_model_count(t->model, PFR_TABLE_FRAME); id++) {
        const pfr_model_frame *frame = pfr_model_get_frame(t->model, id);
        struct page_func *f = &t->funcs[t->func_of_symbol[frame->symbol]];
        uint32_t file = f->file;
        if (!frame->function_file || !frame->function_line)
            continue;
        PFR_TRY(page_text(t, page_path(t, frame->function_file), &file, err));
        if (!f->file)
            f->file = file;
        if (f->file == file && (!f->line || frame->function_line < f->line))
            f->line = frame->function_line;
    }
    return PFR_OK;
}

static void weigh_funcs(struct page_tables *t) {
    const pfr_stack *stacks = pfr_model_stacks(t->model);
    for (uint32_t id = 1; id <= t->nr_stacks; id++) {
        struct page_func *f = &t->funcs[t->func_of_symbol[stacks[id].symbol]];
        f->self += t->self[id];
        t->total += t->self[id];
        t->unnamed += f->kind == PAGE_UNNAMED ? t->self[id] : 0;
    }
}

struct ranked_function {
    uint64_t self;
    uint32_t func;
};

static int heavier_first(const void *a, const void *b) {
    const struct ranked_function *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return (x->func > y->func) - (x->func < y->func);
}

static void renumber(struct page_tables *t, const struct ranked_function *order, struct page_func *sorted,
                     uint32_t *number) {
    for (uint32_t i = 0; i < t->nr_funcs; i++) {
        sorted[i] = t->funcs[order[i].func];
        number[order[i].func] = i;
    }
    memcpy(t->funcs, sorted, t->nr_funcs * sizeof *sorted);
    for (uint32_t id = 1; id <= t->nr_symbols; id++)
        t->func_of_symbol[id] = number[t->func_of_symbol[id]];
}

static pfr_status rank_funcs(struct page_tables *t, pfr_error *err) {
    const size_t n = t->nr_funcs;
    if (!n)
        return PFR_OK;
    struct ranked_function *order = mem_alloc(t->memory, n, sizeof *order);
    struct page_func *sorted = mem_alloc(t->memory, n, sizeof *sorted);
    uint32_t *number = mem_alloc(t->memory, n, sizeof *number);
    const bool has_room = order && sorted && number;
    for (uint32_t i = 0; has_room && i < n; i++)
        order[i] = (struct ranked_function){t->funcs[i].self, i};
    if (has_room) {
        qsort(order, n, sizeof *order, heavier_first);
        renumber(t, order, sorted, number);
    }
    mem_free(t->memory, order, n, sizeof *order);
    mem_free(t->memory, sorted, n, sizeof *sorted);
    mem_free(t->memory, number, n, sizeof *number);
    return has_room ? PFR_OK : mem_fail(t->memory, err, "functions");
}

/* --- The tree. Stacks with the same functions in the page are one node. */

static pfr_status add_node(struct page_tables *t, const struct page_node *node, pfr_error *err) {
    void *grown = mem_grow(t->memory, t->nodes, t->nr_nodes, &t->nodes_room, 1024, sizeof *t->nodes);
    if (!grown)
        return mem_fail(t->memory, err, "stacks");
    t->nodes = grown;
    t->nodes[t->nr_nodes++] = *node;
    return PFR_OK;
}

static pfr_status learn_nodes(struct page_tables *t, struct u64_map *known, pfr_error *err) {
    const pfr_stack *stacks = pfr_model_stacks(t->model);
    PFR_TRY(add_node(t, &(struct page_node){0}, err)); /* the root */
    for (uint32_t id = 1; id <= t->nr_stacks; id++) {
        const pfr_model_frame *frame = pfr_model_get_frame(t->model, stacks[id].frame);
        const struct page_node node = {.parent = t->node_of_stack[stacks[id].parent],
                                       .func = t->func_of_symbol[stacks[id].symbol],
                                       .line = frame->function_line,
                                       .inlined = frame->inlined};
        bool is_new;
        const uint64_t key = (uint64_t)node.parent << 32 | (uint64_t)node.func << 1 | node.inlined;
        uint64_t *at = u64_map_at(known, key, t->nr_nodes, &is_new);
        if (!at)
            return mem_fail(t->memory, err, "stacks");
        t->node_of_stack[id] = (uint32_t)*at;
        if (is_new)
            PFR_TRY(add_node(t, &node, err));
    }
    return PFR_OK;
}

/* --- All tables. */

static pfr_status allocate(struct page_tables *t, pfr_error *err) {
    t->func_of_symbol = mem_zeroed(t->memory, (size_t)t->nr_symbols + 1, sizeof *t->func_of_symbol);
    t->node_of_stack = mem_zeroed(t->memory, (size_t)t->nr_stacks + 1, sizeof *t->node_of_stack);
    t->self = mem_zeroed(t->memory, (size_t)t->nr_stacks + 1, sizeof *t->self);
    return t->func_of_symbol && t->node_of_stack && t->self ? PFR_OK : mem_fail(t->memory, err, "tables");
}

/* Adds the function "[rare stacks]" after all others; this function belongs to no object, and only page_data_prune
 * makes nodes of it. */
static pfr_status add_rest_func(struct page_tables *t, pfr_error *err) {
    void *grown = mem_grow(t->memory, t->funcs, t->nr_funcs, &t->funcs_room, 256, sizeof *t->funcs);
    if (!grown)
        return mem_fail(t->memory, err, "functions");
    t->funcs = grown;
    t->rest_func = t->nr_funcs++;
    t->funcs[t->rest_func] = (struct page_func){.kind = PAGE_UNNAMED};
    return page_text(t, "[rare stacks]", &t->funcs[t->rest_func].name, err);
}

static pfr_status learn(struct page_tables *t, struct u64_map *known, pfr_error *err) {
    const bool has_events = pfr_model_count(t->model, PFR_TABLE_EVENT) > 0;
    const bool is_traced = has_events && pfr_model_get_event(t->model, 1)->is_traced;
    uint32_t empty;
    PFR_TRY(page_text(t, "", &empty, err));
    PFR_TRY(allocate(t, err));
    if (has_events)
        PFR_TRY(pfr_model_weights(t->model, 1, t->self, NULL, err));
    PFR_TRY(learn_funcs(t, known, is_traced, err));
    PFR_TRY(place_funcs(t, err));
    weigh_funcs(t);
    PFR_TRY(rank_funcs(t, err));
    PFR_TRY(add_rest_func(t, err));
    u64_map_free(known);
    u64_map_init(known, t->memory);
    return learn_nodes(t, known, err);
}

pfr_status page_tables_make(struct page_tables *t, const pfr_model *model, bool redacts, struct memory *memory,
                            pfr_error *err) {
    struct u64_map known;
    *t = (struct page_tables){.model = model,
                              .memory = memory,
                              .redacts = redacts,
                              .nr_symbols = pfr_model_count(model, PFR_TABLE_SYMBOL),
                              .nr_stacks = pfr_model_count(model, PFR_TABLE_STACK)};
    intern_init(&t->texts, memory);
    u64_map_init(&known, memory);
    const pfr_status st = learn(t, &known, err);
    u64_map_free(&known);
    return st;
}

void page_tables_free(struct page_tables *t) {
    intern_free(&t->texts);
    mem_free(t->memory, t->funcs, t->funcs_room, sizeof *t->funcs);
    mem_free(t->memory, t->func_of_symbol, (size_t)t->nr_symbols + 1, sizeof *t->func_of_symbol);
    mem_free(t->memory, t->nodes, t->nodes_room, sizeof *t->nodes);
    mem_free(t->memory, t->node_of_stack, (size_t)t->nr_stacks + 1, sizeof *t->node_of_stack);
    mem_free(t->memory, t->self, (size_t)t->nr_stacks + 1, sizeof *t->self);
}

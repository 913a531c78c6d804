/* SPDX-License-Identifier: Apache-2.0 */
#include "model/diff/diff_tree.h"

/* --- Weights of stacks. */

static pfr_status count_samples(const struct diff_series *s, uint64_t *self, pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .event = s->event};
    const pfr_sample_batch *b;
    pfr_samples *cursor = pfr_samples_open(s->run.model, &options, err);
    pfr_status st = cursor ? PFR_OK : err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            self[b->stack[i]]++;
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static pfr_status weigh(const struct diff_series *s, bool by_count, uint64_t *self, pfr_error *err) {
    if (by_count && !pfr_model_get_event(s->run.model, s->event)->is_traced)
        return count_samples(s, self, err);
    return pfr_model_weights(s->run.model, s->event, self, NULL, err);
}

/* --- Nodes. */

static pfr_status put_node(struct diff_tree *tree, uint32_t parent, uint32_t row, uint32_t *node, pfr_error *err) {
    bool is_new;
    uint64_t *place = u64_map_at(&tree->children, (uint64_t)parent << 32 | row, tree->count, &is_new);
    if (!place || tree->count >= UINT32_MAX)
        return mem_fail(tree->memory, err, "tree");
    *node = (uint32_t)*place;
    if (!is_new)
        return PFR_OK;
    struct diff_node *grown = mem_grow(tree->memory, tree->nodes, tree->count, &tree->room, 1024, sizeof *grown);
    if (!grown)
        return mem_fail(tree->memory, err, "tree");
    tree->nodes = grown;
    tree->nodes[tree->count++] =
        (struct diff_node){.parent = parent, .row = row, .next = tree->nodes[parent].first_child};
    tree->nodes[parent].first_child = *node;
    return PFR_OK;
}

static pfr_status put_stacks(struct diff_tree *tree, const pfr_diff *d, const struct diff_series *s, unsigned side,
                             const uint64_t *self, uint32_t *node_of, pfr_error *err) {
    const pfr_stack *stacks = pfr_model_stacks(s->run.model);
    const uint32_t count = pfr_model_count(s->run.model, PFR_TABLE_STACK);
    if (self[0])
        PFR_TRY(put_node(tree, 0, s->row_of[0], &node_of[0], err));
    tree->nodes[node_of[0]].self[side] += (double)self[0];
    node_of[0] = 0; /* the parent of outermost frames */
    for (uint32_t id = 1; id <= count; id++) {
        const uint32_t row = s->row_of[d->options.by == PFR_DIFF_BY_LINE ? stacks[id].frame : stacks[id].symbol];
        PFR_TRY(put_node(tree, node_of[stacks[id].parent], row, &node_of[id], err));
        tree->nodes[node_of[id]].self[side] += (double)self[id];
    }
    return PFR_OK;
}

static pfr_status put_series(struct diff_tree *tree, const pfr_diff *d, const struct diff_series *s, unsigned side,
                             bool by_count, pfr_error *err) {
    const size_t count = (size_t)pfr_model_count(s->run.model, PFR_TABLE_STACK) + 1;
    uint64_t *self = mem_zeroed(tree->memory, count, sizeof *self);
    uint32_t *node_of = mem_zeroed(tree->memory, count, sizeof *node_of);
    pfr_status st = self && node_of ? weigh(s, by_count, self, err) : mem_fail(tree->memory, err, "tree");
    if (st >= 0)
        st = put_stacks(tree, d, s, side, self, node_of, err);
    mem_free(tree->memory, self, count, sizeof *self);
    mem_free(tree->memory, node_of, count, sizeof *node_of);
    return st;
}

static void add_up(struct diff_tree *tree) {
    for (size_t i = tree->count; i-- > 0;)
        for (unsigned side = 0; side < 2; side++) {
            struct diff_node *n = &tree->nodes[i];
            n->total[side] += n->self[side];
            if (i > 0)
                tree->nodes[n->parent].total[side] += n->total[side];
        }
}

pfr_status diff_tree_make(struct diff_tree *tree, const pfr_diff *d, bool by_count, struct memory *memory,
                          pfr_error *err) {
    *tree = (struct diff_tree){.memory = memory};
    u64_map_init(&tree->children, memory);
    if (d->options.by > PFR_DIFF_BY_LINE)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "by",
                        "only functions, objects and lines have call trees");
    tree->nodes = mem_grow(memory, NULL, 0, &tree->room, 1024, sizeof *tree->nodes);
    if (!tree->nodes)
        return mem_fail(memory, err, "tree");
    tree->nodes[tree->count++] = (struct diff_node){.row = DIFF_NO_ROW};
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++)
            PFR_TRY(put_series(tree, d, &d->sides[side].runs[i], side, by_count, err));
    add_up(tree);
    return PFR_OK;
}

void diff_tree_free(struct diff_tree *tree) {
    u64_map_free(&tree->children);
    mem_free(tree->memory, tree->nodes, tree->room, sizeof *tree->nodes);
    tree->nodes = NULL;
}

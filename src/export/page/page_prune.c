/* SPDX-License-Identifier: Apache-2.0 */
/* Merges rare stacks of a page that is too large: see page_data_prune in page_stream.h. */
#include "export/page/page_stream.h"

#include "base/memory/fail.h"

#define NO_NODE UINT32_MAX

/* Counts the samples at or below each node. A call counts as `least_samples` samples, so that its
   node stays: the node shows which function was called. */
static void count_samples(const struct page_data *d, uint64_t *below) {
    for (size_t i = 0; i < d->rows.count; i++)
        below[d->rows.at[i].node] += d->rows.at[i].count;
    for (size_t i = 0; i < d->calls.count; i++)
        below[d->calls.at[i].node] += d->least_samples;
    for (uint32_t i = d->tables.nr_nodes - 1; i > 0; i--)
        below[d->tables.nodes[i].parent] += below[i];
}

/* Nodes keep their order. The rare children of a node become one node, in the place of the first rare child. `rest` has
 * the number of this node, by the parent's new number. */
static void renumber_nodes(struct page_data *d, const uint64_t *below, uint32_t *to, uint32_t *rest) {
    struct page_node *nodes = d->tables.nodes;
    uint32_t kept = 1;
    for (uint32_t i = 1; i < d->tables.nr_nodes; i++) {
        const uint32_t parent = to[nodes[i].parent];
        const bool is_rest = parent != 0 && nodes[parent].func == d->tables.rest_func;
        const bool is_rare = below[i] < d->least_samples || nodes[i].func == d->tables.rest_func;
        if (is_rest || (is_rare && rest[parent] != NO_NODE)) {
            to[i] = is_rest ? parent : rest[parent];
            continue;
        }
        if (is_rare)
            rest[parent] = kept;
        to[i] = kept;
        nodes[kept] = (struct page_node){.parent = parent,
                                         .func = is_rare ? d->tables.rest_func : nodes[i].func,
                                         .line = is_rare ? 0 : nodes[i].line,
                                         .inlined = !is_rare && nodes[i].inlined};
        rest[kept] = NO_NODE;
        kept++;
    }
    d->tables.nr_nodes = kept;
}

static void move_rows(struct page_data *d, const uint32_t *to) {
    d->pruned_samples = 0;
    for (size_t i = 0; i < d->rows.count; i++) {
        struct page_row *row = &d->rows.at[i];
        row->node = to[row->node];
        if (row->node && d->tables.nodes[row->node].func == d->tables.rest_func)
            d->pruned_samples += row->count;
    }
    for (size_t i = 0; i < d->calls.count; i++)
        d->calls.at[i].node = to[d->calls.at[i].node];
}

pfr_status page_data_prune(struct page_data *d, struct memory *memory, pfr_error *err) {
    const size_t n = d->tables.nr_nodes;
    uint64_t *below = mem_zeroed(memory, n, sizeof *below);
    uint32_t *to = mem_zeroed(memory, n, sizeof *to), *rest = mem_alloc(memory, n, sizeof *rest);
    const bool has_room = below && to && rest;
    d->least_samples = d->least_samples ? d->least_samples * 4 : 2;
    if (has_room) {
        rest[0] = NO_NODE;
        count_samples(d, below);
        renumber_nodes(d, below, to, rest);
        move_rows(d, to);
    }
    mem_free(memory, below, n, sizeof *below);
    mem_free(memory, to, n, sizeof *to);
    mem_free(memory, rest, n, sizeof *rest);
    return has_room ? page_data_rank(d, memory, err) : mem_fail(memory, err, "stacks");
}

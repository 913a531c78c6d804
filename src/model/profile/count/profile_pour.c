/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of counting: adds the weights of entries to their nodes, stacks or sums. If most nodes have no weight, the
 * nodes with weights are marked first, so that only they get memory for weights.
 */
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_pour.h"
#include "model/profile/count/profile_whole_stacks.h"

static void pour_entry(struct sample_counter *c, const struct entry_count *count) {
    const struct profile_weight weight = {count->weight, count->samples};
    if (count->node == NO_NODE)
        return;
    if (c->profile->request.shape == PROFILE_SUMS) {
        sums_add_row(&c->sums, count->node, &weight);
        return;
    }
    if (c->profile->request.shape == PROFILE_STACKS)
        weight_add(&c->whole.at[count->node].self, &weight);
    else
        profile_tree_weigh(c->tree, count->node, &weight);
}

#define POURED_AHEAD 16u /* number of entries prefetched */

static void fetch_node(const struct sample_counter *c, uint32_t entry) {
    if (entry >= c->table->count || c->profile->request.shape == PROFILE_SUMS ||
        c->profile->request.shape == PROFILE_STACKS)
        return;
    const uint32_t node = entry_count_of(c, entry_words(c, entry))->node;
    if (node != NO_NODE)
        node_weights_fetch(&c->tree->self, node);
}

static void pour_entries(struct sample_counter *c, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end; i++) {
        const struct entry_count *count = entry_count_of(c, entry_words(c, i));
        fetch_node(c, i + POURED_AHEAD);
        pour_entry(c, count);
        c->facts.too_deep += count->too_deep ? count->samples : 0;
    }
}

void counter_pour_common(struct sample_counter *c, uint32_t part, uint32_t parts) {
    const uint64_t count = c->table->count;
    pour_entries(c, (uint32_t)(count * part / parts), (uint32_t)(count * (part + 1) / parts));
}

bool counter_met_limit(const struct sample_counter *c) {
    for (uint32_t i = 0; i < c->profile->nr_events; i++)
        if (c->facts.limited[i].samples)
            return true;
    return false;
}

static void mark_entries(const struct sample_counter *c, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end; i++) {
        const uint32_t node = entry_count_of(c, entry_words(c, i))->node;
        if (node != NO_NODE)
            node_weights_mark(&c->tree->self, node);
    }
}

void counter_mark_common(const struct sample_counter *c, uint32_t part, uint32_t parts) {
    const uint64_t count = c->table->count;
    mark_entries(c, (uint32_t)(count * part / parts), (uint32_t)(count * (part + 1) / parts));
}

void counter_mark_individual_samples(const struct sample_counter *c) {
    for (size_t i = 0; i < c->individual_samples.count; i++)
        node_weights_mark(&c->tree->self, c->individual_samples.at[i].node);
}

/* Whether nodes are marked. Most nodes of stacks are inner nodes without a weight. After a memory limit nodes are not
   marked, because other nodes may get weights. */
static bool marks_nodes(const struct sample_counter *c) {
    const struct profile_request *w = &c->profile->request;
    return request_has_chains(w) && w->shape != PROFILE_SUMS && w->shape != PROFILE_STACKS && !counter_met_limit(c);
}

static pfr_status begin_weights(struct sample_counter *c, pfr_error *err) {
    if (c->tree->self.at)
        return PFR_OK;
    if (!marks_nodes(c))
        return profile_tree_begin_weights(c->tree, err);
    PFR_TRY(profile_tree_begin_marks(c->tree, err));
    mark_entries(c, 0, c->own_table.count);
    counter_mark_individual_samples(c);
    return profile_tree_end_marks(c->tree, err);
}

pfr_status counter_pour(struct sample_counter *c, pfr_error *err) {
    counter_end_lookups(c);
    whole_settle(&c->whole);
    PFR_TRY(begin_weights(c, err));
    pour_entries(c, 0, c->own_table.count);
    for (size_t i = 0; i < c->individual_samples.count; i++)
        profile_tree_weigh(c->tree, c->individual_samples.at[i].node, &c->individual_samples.at[i].self);
    counter_free_entries(c);
    counter_free_individual_samples(c);
    return PFR_OK;
}

void counter_drop(struct sample_counter *c) {
    counter_free_entries(c);
    whole_free(&c->whole);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples whose node must be determined: the first sample of each entry, and samples that are not later than the maps
 * that resolve them. For a batch of such samples, rows of frames are made without holding the lock of shared data. Then
 * all rows are added to the tree, or become stacks or sums, and their entries are added.
 */
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_entry_key.h"
#include "model/profile/count/profile_new_entries.h"
#include "model/profile/count/profile_stacks.h"
#include "model/profile/count/profile_values.h"
#include "model/profile/count/profile_whole_stacks.h"

/* Counts a sample for which there is no memory as [limit]. */
pfr_status counter_meet_limit(struct sample_counter *c, struct sample_item *item, pfr_status why) {
    struct profile_weight *limited = &c->facts.limited[item->picked.event];
    if (why != PFR_ERR_LIMIT)
        return why;
    c->facts.full = true;
    item->node = NO_NODE;
    limited->weight += counter_weight_of(c, &item->picked);
    limited->samples++;
    return PFR_OK;
}

static const struct record_key *timestamp_key(const struct sample_item *item) {
    return item->alone ? &item->picked.key : NULL;
}

static pfr_status add_row(struct sample_counter *c, const struct sample_item *item, unsigned row, pfr_error *err) {
    struct stack_place place = {.space = counter_who(c, item->words[0]).space, .key = timestamp_key(item), .row = row};
    if (item->alone)
        PFR_TRY(values_root(c, item->words, place.key, &place.root, &place.since, err));
    else
        PFR_TRY(counter_root(c, item->words, &place.root, &place.since, err));
    return profile_stacks_add(c, &item->picked, &place, err);
}

static void fetch_row(const struct sample_counter *c, const struct waiting *w, unsigned row) {
    const struct sample_item *item = row < w->count ? w->items[row] : NULL;
    if (item && c->profile->request.shape == PROFILE_SUMS)
        sums_fetch_seen(&c->sums, item->hash);
    if (item)
        profile_stacks_fetch(c, row, &item->picked, counter_who(c, item->words[0]).space, timestamp_key(item));
}

pfr_status new_entries_add(struct sample_counter *c, struct waiting *w, pfr_error *err) {
    unsigned kept = 0;
    c->stacks.count = c->stacks.nr_deferred = 0;
    for (unsigned i = 0; i < w->count; i++)
        profile_stacks_expect(c, i, &w->items[i]->picked, counter_who(c, w->items[i]->words[0]).space,
                              timestamp_key(w->items[i]));
    for (unsigned i = 0; i < AHEAD; i++)
        fetch_row(c, w, i);
    for (unsigned i = 0; i < w->count; i++) {
        fetch_row(c, w, i + AHEAD);
        const pfr_status st = c->facts.full ? PFR_ERR_LIMIT : add_row(c, w->items[i], i, err);
        if (st < 0)
            PFR_TRY(counter_meet_limit(c, w->items[i], st));
        else
            w->items[kept++] = w->items[i];
    }
    w->count = kept;
    return profile_stacks_settle(c, err);
}

static pfr_status put_whole(struct sample_counter *c, const struct sample_item *item, unsigned row, uint32_t *number,
                            pfr_error *err) {
    const struct stack_row *r = &c->stacks.rows[row];
    const struct profile_stack stack = {
        .count = r->count, .group = c->tree->nodes[r->node].frame, .place = item->picked.key.offset};
    return whole_put(c, &stack, stack_frames(&c->stacks, row), number, err);
}

/* Sets *entry to the entry of the item. It usually is a new one, but an equal item of the batch may have added it. */
static pfr_status make_entry(struct sample_counter *c, const struct sample_item *item, unsigned number, uint64_t *entry,
                             pfr_error *err) {
    const struct stack_row *row = &c->stacks.rows[number];
    struct entry_count count = {.since = row->since, .node = row->node, .too_deep = row->too_deep};
    *entry = entry_find(c, item_key(c, item), item->hash, NULL);
    if (*entry)
        return PFR_OK;
    if (row->whole)
        PFR_TRY(put_whole(c, item, number, &count.node, err));
    return entry_put(c, item_key(c, item), item->hash, &count, entry, err);
}

static pfr_status count_individually(struct sample_counter *c, struct sample_item *item, const struct stack_row *row,
                                     pfr_error *err) {
    struct individual_samples *a = &c->individual_samples;
    struct alone *grown = mem_grow(c->memory, a->at, a->count, &a->room, 64, sizeof *grown);
    a->at = grown ? grown : a->at;
    const uint64_t *place = grown ? u64_map_at(&a->of, row->node, a->count, NULL) : NULL;
    if (!place)
        return mem_fail(c->memory, err, "profile");
    if (*place == a->count)
        a->at[a->count++] = (struct alone){.node = row->node};
    weight_add(&a->at[*place].self, &(struct profile_weight){counter_weight_of(c, &item->picked), 1});
    c->facts.too_deep += row->too_deep;
    item->node = row->node;
    return PFR_OK;
}

/* Adds an entry for the current stack; the indices of the stack's sums become a row. If there is no memory, no entry is
   added. */
static pfr_status keep_summed(struct sample_counter *c, const struct sample_item *item, const struct stack_row *row,
                              pfr_error *err) {
    struct entry_count count = {.since = row->since, .too_deep = row->too_deep};
    pfr_status st = sums_keep_found(&c->sums, &count.node, err);
    if (st >= 0)
        st = counter_put(c, item_key(c, item), &count, err);
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

static struct summed summed_of(const struct sample_counter *c, const struct sample_item *item, unsigned number) {
    const struct stack_row *row = &c->stacks.rows[number];
    return (struct summed){.frames = stack_frames(&c->stacks, number),
                           .count = row->count,
                           .group = c->tree->nodes[row->node].frame,
                           .place = item->picked.key.offset};
}

/* Adds a stack to its sums. Only repeated stacks get an entry, because most stacks occur once. */
static pfr_status take_summed(struct sample_counter *c, const struct sample_item *item, unsigned number,
                              pfr_error *err) {
    const struct stack_row *row = &c->stacks.rows[number];
    const struct summed stack = summed_of(c, item, number);
    const struct profile_weight weight = {counter_weight_of(c, &item->picked), 1};
    PFR_TRY(sums_add(c, &stack, &weight, err));
    c->facts.too_deep += row->too_deep;
    return sums_seen(&c->sums, item->hash) ? keep_summed(c, item, row, err) : PFR_OK;
}

/* Counts the item in its entry, if an equal item of the batch has added one. Otherwise adds its stack to sums. */
static pfr_status take_sum(struct sample_counter *c, struct sample_item *item, unsigned number, bool *done,
                           pfr_error *err) {
    const uint64_t entry = entry_find(c, item_key(c, item), item->hash, NULL);
    if (entry)
        return *done = count_in_entry(c, item, entry), PFR_OK;
    item->alone = item->moment <= c->stacks.rows[number].since;
    *done = !item->alone;
    return item->alone ? PFR_OK : take_summed(c, item, number, err);
}

static pfr_status take_row(struct sample_counter *c, struct sample_item *item, unsigned number, bool *done,
                           pfr_error *err) {
    const struct stack_row *row = &c->stacks.rows[number];
    PFR_TRY(row->status);
    *done = item->alone;
    if (item->alone)
        return count_individually(c, item, row, err);
    if (row->whole && c->profile->request.shape == PROFILE_SUMS)
        return take_sum(c, item, number, done, err);
    uint64_t entry;
    PFR_TRY(make_entry(c, item, number, &entry, err));
    *done = count_in_entry(c, item, entry);
    return PFR_OK;
}

/* Looks up the sums of the next row. Lack of memory is reported when that row is processed. */
static pfr_status expect_summed(struct sample_counter *c, const struct waiting *w, unsigned number, pfr_error *err) {
    if (number >= w->count || !c->stacks.rows[number].whole)
        return PFR_OK;
    const struct summed stack = summed_of(c, w->items[number], number);
    const pfr_status st = sums_expect(&c->sums, &stack, err);
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

/* Makes this row the current one, and prefetches the next. */
static pfr_status turn_summed(struct sample_counter *c, const struct waiting *w, unsigned number, pfr_error *err) {
    if (c->profile->request.shape != PROFILE_SUMS)
        return PFR_OK;
    sums_turn(&c->sums);
    return expect_summed(c, w, number + 1, err);
}

static pfr_status take_rows(struct sample_counter *c, struct waiting *w, pfr_error *err) {
    unsigned kept = 0;
    if (c->profile->request.shape == PROFILE_SUMS)
        PFR_TRY(expect_summed(c, w, 0, err));
    for (unsigned i = 0; i < w->count; i++) {
        bool done = true;
        pfr_status st = turn_summed(c, w, i, err);
        if (st >= 0)
            st = take_row(c, w->items[i], i, &done, err);
        if (st < 0)
            PFR_TRY(counter_meet_limit(c, w->items[i], st));
        else if (!done)
            w->items[kept++] = w->items[i];
    }
    w->count = kept;
    return PFR_OK;
}

pfr_status new_entries_place(struct sample_counter *c, struct waiting *w, pfr_error *err) {
    pfr_status st = profile_stacks_begin(c, err);
    if (st >= 0) {
        profile_stacks_walk(c, err);
        st = take_rows(c, w, err);
    }
    profile_stacks_end(c);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains to their nodes in the tree, from the outermost address inwards. Nearly every step on the way is a place
 * in memory that no cache holds, so the chains of a batch go side by side: while one waits, the others are fetched too.
 */
#include "model/profile_parts.h"

#define STACK_MOST 127u

void profile_stacks_init(struct stacks *s, struct memory *memory) {
    *s = (struct stacks){.memory = memory};
}

void profile_stacks_free(struct stacks *s) {
    mem_free(s->memory, s->frames, s->frames ? BATCH * (s->room + 1) : 0, sizeof *s->frames);
    mem_free(s->memory, s->chain, s->room, sizeof *s->chain);
    s->frames = NULL;
    s->chain = NULL;
    s->room = 0;
}

/* Rows that wait keep their frames. */
static pfr_status make_room(struct stacks *s, size_t length, pfr_error *err) {
    struct stacks more = *s;
    if (length <= s->room && s->frames)
        return PFR_OK;
    more.room = length > 2 * s->room ? length : 2 * s->room;
    more.frames = mem_alloc(s->memory, BATCH * (more.room + 1), sizeof *more.frames);
    more.chain = mem_alloc(s->memory, more.room, sizeof *more.chain);
    if (!more.frames || !more.chain) {
        const pfr_status st = mem_fail(s->memory, err, "stacks");
        mem_free(s->memory, more.frames, BATCH * (more.room + 1), sizeof *more.frames);
        mem_free(s->memory, more.chain, more.room, sizeof *more.chain);
        return st;
    }
    for (unsigned i = 0; i < s->count; i++)
        memcpy(more.frames + i * (more.room + 1), s->frames + i * (s->room + 1), s->rows[i].count * sizeof *s->frames);
    profile_stacks_free(s);
    *s = more;
    return PFR_OK;
}

/* Leaves the outermost ones. */
static void drop_innermost(struct stacks *s, size_t *count, uint32_t most) {
    if (*count <= most)
        return;
    memmove(s->chain, s->chain + (*count - most), most * sizeof *s->chain);
    *count = most;
}

/* Into s->chain, innermost first; how many. */
static pfr_status read_chain(struct counter *c, const struct picked *picked, size_t *count, pfr_error *err) {
    struct stacks *s = &c->stacks;
    const uint32_t kept = c->profile->wish.max_stack ? c->profile->wish.max_stack : STACK_MOST;
    const uint32_t most = c->profile->wish.from_outermost ? UINT32_MAX : kept;
    struct chain_walk walk = chain_begin(&picked->chain, picked->mode, most);
    struct stack_address a;
    PFR_TRY(make_room(s, picked->chain.count < most ? (size_t)picked->chain.count : most, err));
    for (*count = 0; chain_next(&walk, &a.address); ++*count) {
        a.mode = walk.mode;
        s->chain[*count] = a;
    }
    drop_innermost(s, count, kept);
    return PFR_OK;
}

static pfr_status find_frame(struct counter *c, const struct stack_place *place, const struct stack_address *at,
                             struct stack_row *row, struct frame_found *found, pfr_error *err) {
    PFR_TRY(frame_cache_find(&c->cache, at->mode, place->space, at->address, place->key, found, err));
    row->since = found->since > row->since ? found->since : row->since;
    return PFR_OK;
}

static pfr_status put_chain(struct counter *c, const struct stack_place *place, struct stack_row *row, uint32_t *frames,
                            pfr_error *err) {
    struct frame_found found;
    for (size_t left = c->stacks.chain_length; left > 0; left--)
        frame_cache_prefetch(&c->cache, c->stacks.chain[left - 1].mode, place->space,
                             c->stacks.chain[left - 1].address);
    for (size_t left = c->stacks.chain_length; left > 0; left--) {
        PFR_TRY(find_frame(c, place, &c->stacks.chain[left - 1], row, &found, err));
        frames[row->count++] = found.frame;
    }
    return PFR_OK;
}

void profile_stacks_expect(struct counter *c, unsigned row, const struct picked *picked, uint32_t space,
                           const struct key *key) {
    const struct profile_wish *w = &c->profile->wish;
    if (w->frames && !w->chains)
        frame_cache_place(&c->cache, picked->mode, space, picked->ip, key, &c->stacks.leaves[row]);
}

static pfr_status put_only(struct counter *c, const struct picked *picked, struct place *place, struct stack_row *row,
                           uint32_t *frames, pfr_error *err) {
    struct frame_found leaf;
    PFR_TRY(frame_cache_at(&c->cache, place, picked->mode, picked->ip, &leaf, err));
    row->since = leaf.since > row->since ? leaf.since : row->since;
    row->too_deep = leaf.too_deep;
    frames[row->count++] = leaf.frame;
    return PFR_OK;
}

/* The sampled address ends the chain mostly. Where it does not, and where there is no chain, it gets a node of its own.
 */
static pfr_status put_leaf(struct counter *c, const struct picked *picked, const struct stack_place *place,
                           struct stack_row *row, uint32_t *frames, pfr_error *err) {
    const struct stack_address at = {picked->ip, picked->mode};
    const struct profile_wish *w = &c->profile->wish;
    struct frame_found leaf;
    PFR_TRY(find_frame(c, place, &at, row, &leaf, err));
    row->too_deep = leaf.too_deep;
    if (row->count == 0 || frames[row->count - 1] != leaf.frame || (w->unnamed_apart && leaf.two_names))
        frames[row->count++] = leaf.frame | NODE_APART;
    return PFR_OK;
}

pfr_status profile_stacks_add(struct counter *c, const struct picked *picked, const struct stack_place *place,
                              pfr_error *err) {
    const struct profile_wish *w = &c->profile->wish;
    struct stacks *s = &c->stacks;
    struct stack_row row = {.node = place->root, .since = place->since};
    s->chain_length = 0;
    PFR_TRY(make_room(s, 0, err));
    if (w->chains && picked->chain.count)
        PFR_TRY(read_chain(c, picked, &s->chain_length, err));
    uint32_t *frames = stack_frames(s, s->count);
    PFR_TRY(put_chain(c, place, &row, frames, err));
    if (w->chains)
        PFR_TRY(put_leaf(c, picked, place, &row, frames, err));
    else if (w->frames)
        PFR_TRY(put_only(c, picked, &s->leaves[place->row], &row, frames, err));
    s->rows[s->count++] = row;
    return PFR_OK;
}

/* As far as nodes follow their parents. true: it is at its end. */
static bool follow(const struct tree *t, struct stack_row *row, const uint32_t *frames) {
    while (row->at < row->count && row->node + 1 < t->nr_nodes &&
           tree_is_child(t, row->node + 1, row->node, frames[row->at])) {
        row->node++;
        row->at++;
    }
    return row->at == row->count;
}

/* One step of each row that is on its way, and what follows from it; how many are not at their end. */
static unsigned step_all(struct counter *c, uint8_t *on_way, unsigned count, pfr_error *err) {
    struct stacks *s = &c->stacks;
    struct tree *t = &c->tree;
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++) {
        struct stack_row *row = &s->rows[on_way[i]];
        if (follow(t, row, stack_frames(s, on_way[i])))
            continue;
        profile_tree_prefetch_slot(t, row->node, stack_frames(s, on_way[i])[row->at]);
        on_way[left++] = on_way[i];
    }
    for (unsigned i = 0; i < left; i++)
        profile_tree_prefetch_node(t, s->rows[on_way[i]].node, stack_frames(s, on_way[i])[s->rows[on_way[i]].at]);
    count = left;
    left = 0;
    for (unsigned i = 0; i < count; i++) {
        struct stack_row *row = &s->rows[on_way[i]];
        row->status = profile_tree_descend(t, &row->node, stack_frames(s, on_way[i]), row->count, &row->at, err);
        if (row->status >= 0 && row->at < row->count)
            on_way[left++] = on_way[i];
    }
    return left;
}

void profile_stacks_walk(struct counter *c, pfr_error *err) {
    uint8_t on_way[BATCH];
    unsigned count = c->stacks.count;
    for (unsigned i = 0; i < count; i++)
        on_way[i] = (uint8_t)i;
    while (count > 0)
        count = step_all(c, on_way, count, err);
}

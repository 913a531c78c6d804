/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains to their nodes in the tree, from the outermost address inwards. Nearly every step on the way is a place
 * in memory that no cache holds, so the chains of a batch go side by side: while one waits, the others are fetched too.
 */
#include "model/profile_parts.h"

#define STACK_MOST 127u

uint32_t profile_max_stack(const struct counter *c) {
    return c->profile->wish.max_stack ? c->profile->wish.max_stack : STACK_MOST;
}

void profile_stacks_init(struct stacks *s, struct memory *memory) {
    *s = (struct stacks){.memory = memory};
}

void profile_stacks_free(struct stacks *s) {
    mem_free(s->memory, s->frames, s->frames ? BATCH * (s->room + 1) : 0, sizeof *s->frames);
    mem_free(s->memory, s->chain, s->room, sizeof *s->chain);
    mem_free(s->memory, s->hashes, s->room, sizeof *s->hashes);
    s->frames = s->hashes = NULL;
    s->chain = NULL;
    s->room = 0;
}

/* Rows that wait keep their frames. */
static pfr_status grow(struct stacks *s, size_t length, pfr_error *err) {
    const size_t room = length > 2 * s->room ? length : 2 * s->room;
    uint32_t *frames = mem_alloc(s->memory, BATCH * (room + 1), sizeof *frames);
    uint32_t *hashes = mem_alloc(s->memory, room, sizeof *hashes);
    struct chain_address *chain = mem_alloc(s->memory, room, sizeof *chain);
    if (!frames || !hashes || !chain) {
        const pfr_status st = mem_fail(s->memory, err, "stacks");
        mem_free(s->memory, frames, BATCH * (room + 1), sizeof *frames);
        mem_free(s->memory, hashes, room, sizeof *hashes);
        mem_free(s->memory, chain, room, sizeof *chain);
        return st;
    }
    for (unsigned i = 0; i < s->count; i++)
        memcpy(frames + i * (room + 1), stack_frames(s, i), s->rows[i].count * sizeof *frames);
    profile_stacks_free(s);
    s->frames = frames;
    s->hashes = hashes;
    s->chain = chain;
    s->room = room;
    return PFR_OK;
}

static pfr_status make_room(struct stacks *s, size_t length, pfr_error *err) {
    return s->frames && length <= s->room ? PFR_OK : grow(s, length, err);
}

/* Leaves the outermost ones. */
static void drop_innermost(struct stacks *s, uint32_t most) {
    if (s->chain_length <= most)
        return;
    memmove(s->chain, s->chain + (s->chain_length - most), most * sizeof *s->chain);
    s->chain_length = most;
}

/* Into s->chain, innermost first. */
static pfr_status read_chain(struct counter *c, const struct picked *picked, pfr_error *err) {
    struct stacks *s = &c->stacks;
    const uint32_t wanted = profile_max_stack(c), kept = picked->made ? UINT32_MAX : wanted;
    const uint32_t most = c->profile->wish.from_outermost ? UINT32_MAX : kept;
    PFR_TRY(make_room(s, picked->chain.count < most ? (size_t)picked->chain.count : most, err));
    s->chain_length = chain_read(&picked->chain, picked->mode, most, s->chain);
    drop_innermost(s, picked->made && !c->profile->wish.from_outermost ? UINT32_MAX : wanted);
    return PFR_OK;
}

static void raise_since(struct stack_row *row, const struct frame_found *found) {
    row->since = found->since > row->since ? found->since : row->since;
}

/* As of one moment. */
static pfr_status put_chain_at(struct counter *c, const struct stack_place *place, struct stack_row *row,
                               uint32_t *frames, pfr_error *err) {
    const struct chain_address *chain = c->stacks.chain;
    struct frame_found found;
    for (size_t left = c->stacks.chain_length; left > 0; left--) {
        const struct chain_address *a = &chain[left - 1];
        PFR_TRY(frame_cache_find(&c->cache, a->mode, place->space, a->address, place->key, &found, err));
        frames[row->count++] = found.frame;
    }
    return PFR_OK;
}

/* All of its addresses, and what is known of them is fetched meanwhile. */
static void hash_chain(struct stacks *s, const struct frame_cache *cache, uint32_t space) {
    const struct frame_cache_view view = frame_cache_look(cache);
    const uint64_t seed = cache->spaces.seed;
    uint64_t in = 0;
    unsigned mode = UINT32_MAX;
    for (size_t i = 0; i < s->chain_length; i++) {
        const struct chain_address *a = &s->chain[i];
        if (a->mode != mode) {
            mode = a->mode;
            in = frame_cache_in(mode, frame_cache_space(mode, space));
        }
        s->hashes[i] = frame_cache_hash_in(seed, in, a->address);
        __builtin_prefetch(&view.at[s->hashes[i] & view.mask]);
    }
}

/* From the outermost address on, as long as what is known stands first; how many are left. */
static size_t put_known(const struct stacks *s, const struct frame_cache *cache, uint32_t space, size_t left,
                        uint64_t *since, uint32_t *frames) {
    const struct frame_cache_view view = frame_cache_look(cache);
    const uint32_t in_kernel = frame_cache_space(CPUMODE_KERNEL, space);
    uint64_t youngest = *since;
    for (; left > 0; left--) {
        const struct chain_address *a = &s->chain[left - 1];
        const uint32_t in = a->mode == CPUMODE_KERNEL ? in_kernel : space;
        const struct cached_frame *slot = frame_cache_peek(view, s->hashes[left - 1], a->mode, in, a->address);
        if (!slot)
            break;
        youngest = slot->since > youngest ? slot->since : youngest;
        frames[s->chain_length - left] = slot->frame - 1;
    }
    *since = youngest;
    return left;
}

static pfr_status put_chain(struct counter *c, const struct stack_place *place, struct stack_row *row, uint32_t *frames,
                            pfr_error *err) {
    struct stacks *s = &c->stacks;
    struct frame_found found;
    size_t left = s->chain_length;
    hash_chain(s, &c->cache, place->space);
    while ((left = put_known(s, &c->cache, place->space, left, &row->since, frames)) > 0) {
        const struct chain_address *a = &s->chain[left - 1];
        const uint32_t space = frame_cache_space(a->mode, place->space), hash = s->hashes[left - 1];
        PFR_TRY(frame_cache_find_hashed(&c->cache, hash, a->mode, space, a->address, &found, err));
        raise_since(row, &found);
        frames[s->chain_length - left] = found.frame;
        left--;
    }
    row->count = (uint32_t)s->chain_length;
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
    raise_since(row, &leaf);
    row->too_deep = leaf.too_deep;
    frames[row->count++] = leaf.frame;
    return PFR_OK;
}

/* The sampled address ends the chain mostly. Where it does not, and where there is no chain, it gets a node of its own.
 */
static pfr_status put_leaf(struct counter *c, const struct picked *picked, const struct stack_place *place,
                           struct stack_row *row, uint32_t *frames, pfr_error *err) {
    const struct profile_wish *w = &c->profile->wish;
    struct frame_found leaf;
    PFR_TRY(frame_cache_find(&c->cache, picked->mode, place->space, picked->ip, place->key, &leaf, err));
    raise_since(row, &leaf);
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
        PFR_TRY(read_chain(c, picked, err));
    uint32_t *frames = stack_frames(s, s->count);
    PFR_TRY((place->key ? put_chain_at : put_chain)(c, place, &row, frames, err));
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts call chains into the tree, from the outermost address inwards. Nearly every step is a cache miss, so the
   chains of a batch are processed in parallel: while one chain waits for memory, the data of the others are
   prefetched. */
#include "model/profile/count/profile_cache.h"
#include "model/profile/count/profile_stacks.h"
#include "model/profile/count/profile_entries.h"

#include "base/memory/sizes.h"

#define STACK_MOST 127u
#define SLOT_ROWS (AHEAD + 1)

uint32_t profile_max_stack(const struct sample_counter *c) {
    return c->profile->request.max_stack ? c->profile->request.max_stack : STACK_MOST;
}

void profile_stacks_init(struct profile_stacks *s, struct memory *memory) {
    *s = (struct profile_stacks){.memory = memory};
}

void profile_stacks_free(struct profile_stacks *s) {
    mem_free(s->memory, s->frames, s->frames ? BATCH * (s->room + 1) : 0, sizeof *s->frames);
    mem_free(s->memory, s->slots, s->slots ? SLOT_ROWS * (s->room + 1) : 0, sizeof *s->slots);
    s->frames = s->slots = NULL;
    s->room = 0;
}

/* Makes room for chains of this length. The rows keep their frames, but their prefetched slots are lost: they become
   slot 0, where a lookup may start, too. */
static pfr_status grow(struct profile_stacks *s, size_t length, pfr_error *err) {
    const size_t room = length > 2 * s->room ? length : 2 * s->room;
    uint32_t *frames = mem_alloc(s->memory, BATCH * (room + 1), sizeof *frames);
    uint32_t *slots = frames ? mem_zeroed(s->memory, SLOT_ROWS * (room + 1), sizeof *slots) : NULL;
    if (!slots) {
        mem_free(s->memory, frames, frames ? BATCH * (room + 1) : 0, sizeof *frames);
        return mem_fail(s->memory, err, "stacks");
    }
    for (unsigned i = 0; i < s->count; i++) {
        memcpy(frames + i * (room + 1), stack_frames(s, i), s->rows[i].count * sizeof *frames);
        s->rows[i].from = 0;
    }
    profile_stacks_free(s);
    s->frames = frames;
    s->slots = slots;
    s->room = room;
    return PFR_OK;
}

static pfr_status make_room(struct profile_stacks *s, size_t length, pfr_error *err) {
    return s->frames && length <= s->room ? PFR_OK : grow(s, length, err);
}

static void raise_since(struct stack_row *row, const struct frame_found *found) {
    row->since = found->since > row->since ? found->since : row->since;
}

/* Frame cache slots of the addresses in a row, by position in the chain. */
static uint32_t *row_slots(const struct profile_stacks *s, unsigned row) {
    return s->slots + row % SLOT_ROWS * (s->room + 1);
}

/* State of looking up a chain's addresses. */
struct climb {
    struct frame_cache *cache;
    struct profile_stacks *stacks;
    const struct stack_place *place;
    const uint32_t *slots; /* slots of the entries when they were prefetched */
    uint64_t nr_slots;     /* counts markers too, which are entries but not frames */
    uint64_t in;
    unsigned mode;
};

static void change_mode(struct climb *climb, unsigned mode) {
    climb->mode = mode;
    climb->in = frame_cache_in(mode, climb->place->space);
}

/* Defers entry `at` of the row until the data for its lookup were prefetched. */
static void put_deferred(const struct climb *climb, uint64_t address, uint32_t at) {
    struct profile_stacks *s = climb->stacks;
    struct deferred_stack *deferred = &s->deferred[s->nr_deferred++];
    deferred->address = address;
    deferred->in = climb->in;
    deferred->at = at;
    deferred->row = (uint8_t)s->count;
    frame_cache_expect(climb->cache, climb->in, address, &deferred->place);
}

/* Resolves entry `at` of the row, if the view of the cache does not have it, or if it must be resolved at its own
   timestamp. */
static pfr_status find_frame(const struct climb *climb, uint64_t address, uint32_t at, struct stack_row *row,
                             uint32_t *frame, pfr_error *err) {
    const struct record_key *key = climb->place->key;
    struct frame_found found = {0};
    if (key) {
        PFR_TRY(frame_cache_find(climb->cache, climb->mode, climb->place->space, address, key, &found, err));
        return *frame = found.frame, PFR_OK;
    }
    if (!frame_cache_knows(climb->cache, climb->in, address, &found) &&
        climb->stacks->nr_deferred < sizes.count_deferred)
        put_deferred(climb, address, at);
    else
        PFR_TRY(frame_cache_find_in(climb->cache, climb->in, address, &found, err));
    raise_since(row, &found);
    *frame = found.frame;
    return PFR_OK;
}

/* Takes consecutive cached addresses, from entry `at` up to `end`; returns their number. Frames are stored from `top`
   backwards. Nearly all addresses of a report are looked up here. */
static uint64_t put_known(const struct climb *climb, const pfr_u64s *chain, uint64_t at, uint64_t end,
                          struct stack_row *row, uint32_t *top) {
    const struct frame_cache_view view = frame_cache_look(climb->cache);
    const uint64_t in = climb->in, from = at;
    const uint32_t *slots = climb->slots;
    const uint8_t *bytes = chain->at;
    const bool swap = chain->swap;
    uint64_t youngest = row->since;
    end = end < climb->nr_slots ? end : climb->nr_slots;
    for (; at < end; at++) {
        const uint64_t address = load_u64(bytes + 8 * at, swap);
        const struct cached_frame *slot = frame_cache_peek(view, slots[at], in, address);
        if (__builtin_expect(!slot || address >= CHAIN_MARKERS, 0))
            break;
        youngest = slot->since > youngest ? slot->since : youngest;
        *top-- = slot->frame;
    }
    row->since = youngest;
    return at - from;
}

/* Stores the frames of at most `most` innermost addresses from `top` backwards, so that the outermost one comes first.
   Markers are rare except as first entry; an unknown marker makes the chain empty. */
static pfr_status put_chain(struct climb *climb, const pfr_u64s *chain, uint32_t most, struct stack_row *row,
                            uint32_t *top, pfr_error *err) {
    const uint64_t entries = chain->count;
    uint32_t count = 0;
    for (uint64_t i = 0; i < entries && count < most; i++) {
        const uint64_t left = entries - i < most - count ? entries - i : most - count;
        const uint64_t known = climb->place->key ? 0 : put_known(climb, chain, i, i + left, row, top - count);
        count += (uint32_t)known;
        i += known;
        if (known == left)
            break;
        const uint64_t entry = pfr_u64s_at(chain, i);
        unsigned mode = climb->mode;
        if (entry < CHAIN_MARKERS) {
            PFR_TRY(find_frame(climb, entry, count, row, top - count, err));
            count++;
            continue;
        }
        if (!chain_marker_is_known(entry))
            return row->count = 0, PFR_OK;
        chain_marker(entry, &mode);
        change_mode(climb, mode);
    }
    row->count = count;
    return PFR_OK;
}

/* Converts the index of deferred entries in their row: from counting innermost first to counting outermost first. */
static void turn_deferred(struct profile_stacks *s, unsigned first, uint32_t count) {
    for (unsigned i = first; i < s->nr_deferred; i++)
        s->deferred[i].at = s->deferred[i].at < count ? count - 1 - s->deferred[i].at : UINT32_MAX;
}

/* Stores the row's frames, outermost first. If the chain is limited from the outermost end, the innermost frames are
   dropped. */
static pfr_status read_chain(struct sample_counter *c, const struct picked *picked, const struct stack_place *place,
                             struct stack_row *row, pfr_error *err) {
    struct profile_stacks *s = &c->stacks;
    const bool from_outermost = c->profile->request.from_outermost;
    const uint32_t wanted = profile_max_stack(c), most = from_outermost || picked->made ? UINT32_MAX : wanted;
    struct climb climb = {.cache = &c->cache, .stacks = s, .place = place};
    const unsigned first_deferred = s->nr_deferred;
    PFR_TRY(make_room(s, picked->chain.count < most ? (size_t)picked->chain.count : most, err));
    climb.slots = row_slots(s, place->row);
    climb.nr_slots = s->room;
    change_mode(&climb, picked->mode);
    uint32_t *const frames = s->frames + s->count * (s->room + 1);
    const pfr_status st = put_chain(&climb, &picked->chain, most, row, frames + s->room - 1, err);
    if (st < 0)
        return s->nr_deferred = first_deferred, st;
    turn_deferred(s, first_deferred, row->count);
    row->from = (uint32_t)s->room - row->count;
    if (from_outermost && !picked->uncut && row->count > wanted)
        row->count = wanted;
    return PFR_OK;
}

/* Prefetches the cache slots of a future chain. */
static void fetch_chain(const struct sample_counter *c, const struct picked *picked, uint32_t space, uint32_t *slots) {
    const struct frame_cache_view view = frame_cache_look(&c->cache);
    const uint64_t most = c->stacks.room, end = picked->chain.count < most ? picked->chain.count : most;
    const uint8_t *bytes = picked->chain.at;
    const bool swap = picked->chain.swap;
    uint64_t in = frame_cache_in(picked->mode, space);
    for (uint64_t i = 0; i < end; i++) {
        const uint64_t entry = load_u64(bytes + 8 * i, swap);
        unsigned mode = picked->mode;
        slots[i] = frame_cache_slot(view, in, entry);
        if (__builtin_expect(entry < CHAIN_MARKERS, 1))
            __builtin_prefetch(&view.at[slots[i]]);
        else if (chain_marker(entry, &mode))
            in = frame_cache_in(mode, space);
    }
}

void profile_stacks_fetch(const struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                          const struct record_key *key) {
    if (request_has_chains(&c->profile->request) && !key && c->stacks.slots)
        fetch_chain(c, picked, space, row_slots(&c->stacks, row));
}

void profile_stacks_expect(struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                           const struct record_key *key) {
    const struct profile_request *w = &c->profile->request;
    if (request_has_frames(w) && !request_has_chains(w))
        frame_cache_place(&c->cache, picked->mode, space, picked->ip, key, &c->stacks.leaves[row]);
}

static pfr_status put_only(struct sample_counter *c, const struct picked *picked, struct place *place,
                           struct stack_row *row, uint32_t *frames, pfr_error *err) {
    struct frame_found leaf;
    PFR_TRY(frame_cache_at(&c->cache, place, picked->mode, picked->ip, &leaf, err));
    raise_since(row, &leaf);
    row->too_deep = leaf.too_deep;
    frames[row->count++] = leaf.frame;
    return PFR_OK;
}

/* The innermost address of a chain; 0: no address. */
static uint64_t innermost(const pfr_u64s *chain) {
    for (uint64_t i = 0; i < chain->count; i++)
        if (pfr_u64s_at(chain, i) < CHAIN_MARKERS)
            return pfr_u64s_at(chain, i);
    return 0;
}

/* Whether the sampled address differs from the last one of its chain although the frame is the same. */
static bool is_apart(const struct profile_request *w, const struct picked *picked, const struct frame_found *leaf) {
    return leaf->two_names && (w->unnamed == PROFILE_UNNAMED_APART ||
                               (w->unnamed == PROFILE_UNNAMED_TOGETHER && innermost(&picked->chain) != picked->ip));
}

/* Adds the frame of the sampled address. Usually it already is the last frame of the chain. If it is not, or if there
   is no chain, the frame gets a node of its own. */
static pfr_status put_leaf(struct sample_counter *c, struct stack_row *row, uint32_t *frames, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    const struct picked *picked = row->picked;
    struct frame_found leaf;
    PFR_TRY(frame_cache_find(&c->cache, picked->mode, row->place.space, picked->ip, row->place.key, &leaf, err));
    raise_since(row, &leaf);
    row->too_deep = leaf.too_deep;
    if (row->count == 0 || frames[row->count - 1] != leaf.frame || is_apart(w, picked, &leaf))
        frames[row->count++] = leaf.frame | NODE_APART;
    return PFR_OK;
}

pfr_status profile_stacks_add(struct sample_counter *c, const struct picked *picked, const struct stack_place *place,
                              pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    struct profile_stacks *s = &c->stacks;
    struct stack_row row = {.picked = picked,
                            .place = *place,
                            .node = place->root,
                            .since = place->since,
                            .whole = (w->shape == PROFILE_STACKS || w->shape == PROFILE_SUMS) && !place->key};
    PFR_TRY(make_room(s, 0, err));
    if (request_has_chains(w) && picked->chain.count)
        PFR_TRY(read_chain(c, picked, place, &row, err));
    uint32_t *frames = s->frames + s->count * (s->room + 1) + row.from;
    if (request_has_frames(w) && !request_has_chains(w))
        PFR_TRY(put_only(c, picked, &s->leaves[place->row], &row, frames, err));
    s->rows[s->count++] = row;
    return PFR_OK;
}

static pfr_status settle_deferred(struct sample_counter *c, struct deferred_stack *deferred, pfr_error *err) {
    struct stack_row *row = &c->stacks.rows[deferred->row];
    struct frame_found found;
    PFR_TRY(frame_cache_settle(&c->cache, deferred->in, deferred->address, &deferred->place, &found, err));
    raise_since(row, &found);
    if (deferred->at < row->count)
        stack_frames(&c->stacks, deferred->row)[deferred->at] = found.frame;
    return PFR_OK;
}

/* Stores the failure of a row: lack of memory affects only this row. */
static pfr_status blame(struct stack_row *row, pfr_status status) {
    row->status = status < 0 ? status : row->status;
    return status == PFR_ERR_LIMIT ? PFR_OK : status;
}

pfr_status profile_stacks_settle(struct sample_counter *c, pfr_error *err) {
    struct profile_stacks *s = &c->stacks;
    for (unsigned i = 0; i < s->nr_deferred; i++)
        PFR_TRY(blame(&s->rows[s->deferred[i].row], settle_deferred(c, &s->deferred[i], err)));
    s->nr_deferred = 0;
    for (unsigned i = 0; request_has_chains(&c->profile->request) && i < s->count; i++)
        if (s->rows[i].status >= 0)
            PFR_TRY(blame(&s->rows[i], put_leaf(c, &s->rows[i], stack_frames(s, i), err)));
    return PFR_OK;
}

/* Follows nodes that directly follow their parents. true: the row is at its end. A node that another worker has not
   written yet is zero, which looks like a child of node 0. */
static bool follow(const struct node_tree *t, struct stack_row *row, const uint32_t *frames) {
    while (row->at < row->count && row->node >= t->shared &&
           row->node + 1 < __atomic_load_n(&t->nr_nodes, __ATOMIC_RELAXED) &&
           tree_is_child(t, row->node + 1, row->node, frames[row->at])) {
        row->node++;
        row->at++;
    }
    return row->at == row->count;
}

/* Moves each unfinished row one step, and as far as follow() leads; returns the number of rows still unfinished. */
static unsigned step_all(struct sample_counter *c, uint8_t *on_way, unsigned count, pfr_error *err) {
    struct profile_stacks *s = &c->stacks;
    struct node_tree *t = c->tree;
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
        if (t->shared)
            profile_tree_descend_shared(t, &row->node, stack_frames(s, on_way[i]), row->count, &row->at);
        else
            row->status = profile_tree_descend(t, &row->node, stack_frames(s, on_way[i]), row->count, &row->at, err);
        if (row->status >= 0 && row->at < row->count)
            on_way[left++] = on_way[i];
    }
    return left;
}

static bool walks(const struct stack_row *row) {
    return !row->whole && row->status >= 0;
}

/* Maximum number of nodes that the rows may add. */
static uint32_t count_nodes(const struct profile_stacks *s) {
    uint32_t nodes = 0;
    for (unsigned i = 0; i < s->count; i++)
        nodes += walks(&s->rows[i]) ? s->rows[i].count : 0;
    return nodes;
}

pfr_status profile_stacks_begin(struct sample_counter *c, pfr_error *err) {
    struct profile_stacks *s = &c->stacks;
    s->nodes = count_nodes(s);
    const pfr_status st = counter_enter(c, s->nodes, err);
    s->within = st >= 0;
    for (unsigned i = 0; st < 0 && i < s->count; i++)
        blame(&s->rows[i], walks(&s->rows[i]) ? st : PFR_OK);
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

void profile_stacks_walk(struct sample_counter *c, pfr_error *err) {
    uint8_t on_way[BATCH];
    unsigned count = 0;
    for (unsigned i = 0; i < c->stacks.count; i++)
        if (walks(&c->stacks.rows[i]))
            on_way[count++] = (uint8_t)i;
    while (count > 0)
        count = step_all(c, on_way, count, err);
}

void profile_stacks_end(struct sample_counter *c) {
    if (c->stacks.within)
        counter_leave(c, c->stacks.nodes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses call trees into path segments. Most stacks end in nodes that no other stack shares, and these nodes were
 * created one after another, so they have consecutive numbers; a segment stores their common properties once. The
 * segments are in depth-first order: all descendants of a segment follow it, so that a traversal reads forward, and
 * `size` tells how far to skip a subtree.
 *
 *     1. Set a bit for each node where a segment begins: after each node that has several children or has samples.
 *        The number of bits up to a node is the number of its segment, plus 1.
 *     2. Count the segments below each segment, backward, because descendants have larger numbers.
 *     3. Compute their places from these counts.
 */
#include "view/report/rows/report_path_segments.h"

#include "base/memory/fail.h"

#include <inttypes.h>

#define WORD 64u
#define LONGEST (PATH_SEGMENTS_MOST / 2) /* maximum nodes of a segment: `length` has 30 bits */
#define FETCHED 8u                       /* segments to prefetch ahead */
#define LINE 8u                          /* nodes per prefetch */

/* A path segment while its index in the final array (its place) is not known; in the order of nodes. */
struct unplaced_segment {
    uint32_t above; /* the parent segment; replaced by this segment's own place once that is known */
    uint32_t below; /* number of segments in its subtree, without itself */
    uint32_t next;  /* place of the next child to be placed */
};

struct growing {
    struct report *r;
    uint64_t *bits;   /* one for each node, set where a segment begins; and one after the last node */
    uint32_t *before; /* by word of `bits`: number of bits set in the words before it */
    size_t words;
    struct unplaced_segment *unplaced;
    uint32_t count;
};

/* --- where segments begin --- */

static void begin_at(struct growing *g, uint32_t node) {
    g->bits[node / WORD] |= (uint64_t)1 << node % WORD;
}

static void mark_begins(struct growing *g) {
    const struct call_trees *f = &g->r->trees.calls;
    for (uint32_t n = 0; n < f->nr_nodes; n++) {
        const struct profile_node node = f->nodes[n];
        const bool is_root = node.parent == NO_NODE, is_apart = !is_root && node.frame & NODE_APART;
        if (is_root || is_apart || node.parent != n - 1)
            begin_at(g, n);
        if (!is_root && node.parent != n - 1)
            begin_at(g, node.parent + 1);
        if (is_root || is_apart || node_weight(&f->self, n)->samples)
            begin_at(g, n + 1);
    }
    for (uint64_t n = LONGEST; n < f->nr_nodes; n += LONGEST)
        begin_at(g, (uint32_t)n);
}

static uint32_t count_bits(uint64_t bits) {
    return (uint32_t)__builtin_popcountll(bits);
}

/* The bit after the last node ends the last segment. */
static void count_begins(struct growing *g) {
    const uint32_t nr = g->r->trees.calls.nr_nodes;
    uint32_t count = 0;
    begin_at(g, nr);
    for (size_t i = 0; i < g->words; i++) {
        g->before[i] = count;
        count += count_bits(g->bits[i]);
    }
    g->count = count - 1;
}

/* The segment that contains a node. */
static uint32_t path_segment_of(const struct growing *g, uint32_t node) {
    const uint64_t upto = g->bits[node / WORD] << (WORD - 1 - node % WORD);
    return g->before[node / WORD] + count_bits(upto) - 1;
}

/* --- places --- */

/* Segments are visited backward. Parents have smaller numbers than their children, so `below` of a segment is complete
   when that segment is visited. */
static void count_segment(struct growing *g, uint32_t path_segment, uint32_t node) {
    const uint32_t parent = g->r->trees.calls.nodes[node].parent;
    if (parent == NO_NODE)
        return;
    const uint32_t above = path_segment_of(g, parent);
    g->unplaced[path_segment].above = above;
    g->unplaced[above].below += g->unplaced[path_segment].below + 1;
}

static void count_below(struct growing *g) {
    uint32_t path_segment = g->count + 1;
    for (size_t i = g->words; i-- > 0;)
        for (uint64_t bits = g->bits[i]; bits;) {
            const unsigned bit = WORD - 1 - (unsigned)__builtin_clzll(bits);
            bits &= ~((uint64_t)1 << bit);
            if (--path_segment < g->count)
                count_segment(g, path_segment, (uint32_t)(i * WORD + bit));
        }
}

/* Roots come in order, each followed by its whole tree. */
static void place_roots(struct growing *g) {
    const struct call_trees *f = &g->r->trees.calls;
    uint32_t place = 0;
    for (uint32_t i = 0; i < f->nr_roots; i++) {
        g->r->trees.path_segments.root[i] = place;
        place += g->unplaced[path_segment_of(g, f->roots[i].node)].below + 1;
    }
}

static void place_path_segment(struct growing *g, uint32_t path_segment, uint32_t from, uint32_t end) {
    const struct call_trees *f = &g->r->trees.calls;
    if (path_segment + FETCHED < g->count)
        __builtin_prefetch(&g->unplaced[g->unplaced[path_segment + FETCHED].above]);
    const struct profile_node node = f->nodes[from];
    struct unplaced_segment *segment = &g->unplaced[path_segment];
    const bool is_root = node.parent == NO_NODE;
    const struct profile_weight *self = node_weight(&f->self, end - 1);
    struct unplaced_segment *above = is_root ? NULL : &g->unplaced[segment->above];
    const uint32_t place = is_root ? g->r->trees.path_segments.root[node.frame] : above->next;
    g->r->trees.path_segments.at[place] = (struct path_segment){.node = from,
                                                                .length = (end - from) & (PATH_SEGMENTS_MOST - 1),
                                                                .has_samples = self->samples != 0,
                                                                .is_apart = !is_root && node.frame & NODE_APART,
                                                                .parent = is_root ? NO_PATH_SEGMENT : above->above,
                                                                .size = segment->below + 1,
                                                                .sum = *self};
    if (!is_root)
        above->next += segment->below + 1;
    segment->above = place;
    segment->next = place + 1;
}

static void place_path_segments(struct growing *g) {
    uint32_t path_segment = 0, from = 0;
    for (size_t i = 0; i < g->words; i++)
        for (uint64_t bits = g->bits[i]; bits; bits &= bits - 1) {
            const uint32_t node = (uint32_t)(i * WORD) + (unsigned)__builtin_ctzll(bits);
            if (node)
                place_path_segment(g, path_segment++, from, node);
            from = node;
        }
}

/* --- all steps --- */

static pfr_status find_begins(struct growing *g, pfr_error *err) {
    g->words = g->r->trees.calls.nr_nodes / WORD + 1;
    g->bits = mem_zeroed(g->r->memory, g->words, sizeof *g->bits);
    g->before = g->bits ? mem_alloc(g->r->memory, g->words, sizeof *g->before) : NULL;
    if (!g->before)
        return mem_fail(g->r->memory, err, "walk");
    mark_begins(g);
    count_begins(g);
    return g->count < PATH_SEGMENTS_MOST ? PFR_OK
                                         : pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "walk",
                                                    "%" PRIu32 " branches in call trees exceed the limit", g->count);
}

static pfr_status find_places(struct growing *g, pfr_error *err) {
    struct path_segments *l = &g->r->trees.path_segments;
    g->unplaced = mem_zeroed(g->r->memory, g->count, sizeof *g->unplaced);
    l->count = g->count;
    l->root = mem_alloc(g->r->memory, g->r->trees.calls.nr_roots, sizeof *l->root);
    l->at = g->unplaced && l->root ? mem_alloc(g->r->memory, g->count, sizeof *l->at) : NULL;
    if (!l->at)
        return mem_fail(g->r->memory, err, "walk");
    count_below(g);
    place_roots(g);
    place_path_segments(g);
    return PFR_OK;
}

pfr_status path_segments_make(struct report *r, pfr_error *err) {
    struct growing g = {.r = r};
    pfr_status st = find_begins(&g, err);
    if (st >= 0)
        st = find_places(&g, err);
    mem_free(r->memory, g.bits, g.words, sizeof *g.bits);
    mem_free(r->memory, g.before, g.words, sizeof *g.before);
    mem_free(r->memory, g.unplaced, g.count, sizeof *g.unplaced);
    return st;
}

void path_segments_sum_up(struct report *r, uint32_t root) {
    struct path_segment *at = r->trees.path_segments.at;
    const uint32_t from = r->trees.path_segments.root[root];
    for (uint32_t i = from + at[from].size; --i > from;) {
        struct profile_weight *sum = &at[at[i].parent].sum;
        sum->weight += at[i].sum.weight;
        sum->samples += at[i].sum.samples;
    }
}

struct profile_weight path_segment_self(const struct report *r, uint32_t path_segment) {
    const struct path_segment *at = &r->trees.path_segments.at[path_segment];
    if (!at->has_samples)
        return (struct profile_weight){0, 0};
    return at->size == 1 || !r->children ? at->sum : *node_weight(&r->trees.calls.self, path_segment_last(at));
}

void path_segment_fetch(const struct report *r, uint32_t path_segment) {
    const struct path_segment *at = &r->trees.path_segments.at[path_segment];
    for (uint32_t i = 0; i < at->length; i += LINE)
        __builtin_prefetch(&r->trees.calls.nodes[at->node + i]);
    __builtin_prefetch(&r->trees.calls.nodes[path_segment_last(at)]);
}

void path_segments_free(struct report *r) {
    struct path_segments *l = &r->trees.path_segments;
    mem_free(r->memory, l->at, l->count, sizeof *l->at);
    mem_free(r->memory, l->root, r->trees.calls.nr_roots, sizeof *l->root);
    *l = (struct path_segments){.at = NULL};
}

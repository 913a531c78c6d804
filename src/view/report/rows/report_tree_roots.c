/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the nodes where call trees begin, by row, for rows above the minimum share. These rows are known only after all
 * weights are summed, so this file makes a second traversal. It skips most frames, because few rows are heavy enough.
 */
#include "base/threads/thread_pool.h"
#include "base/memory/fail.h"
#include "view/report/rows/report_tree_roots.h"
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_path_segments.h"

#include <stdlib.h>
#include <string.h>

#define FETCHED 10u  /* segments to prefetch ahead */
#define MEMBER_NS 8u /* approximate time per member */

/* State of one thread. */
struct gathering {
    struct report *r;
    uint32_t number;   /* number of the root, plus 1 */
    uint32_t *root_of; /* first by frame, then by frame of a sampled address (NODE_APART): the last root, plus 1, in
                          which the frame belongs to a row with a tree */
    uint32_t *row_of;  /* indexed like root_of: the row with a tree to which the frame belongs */
    uint32_t *on_way;  /* by row: number of its nodes on the current path */
    uint32_t *next;    /* by row, shared by all threads: index where the row's next member is stored */
    bool alone;        /* single-threaded */
};

struct root_listing {
    struct report *r;
    uint32_t *next;
    struct gathering *workers;
    unsigned count;
    size_t frames, rows; /* sizes of the arrays of one thread */
};

bool row_has_tree(const struct report *r, uint32_t row) {
    const struct row *at = &r->rows.at[row];
    const uint64_t least = (uint64_t)((double)r->events.sums.before[at->event].weight * (r->chain.least / 100));
    const uint64_t whole = r->children ? at->total.weight : at->self.weight;
    return r->trees.of_rows && (r->chain.mode == CHAIN_FRACTAL || whole >= least);
}

/* --- the frames of a root whose rows have trees --- */

static size_t place_of_frame(const struct gathering *g, uint32_t frame) {
    return frame & NODE_APART ? (size_t)g->r->profile->nr_frames + (frame & ~NODE_APART) : frame;
}

/* Returns false if the root has no such frames. */
static bool begin_root(struct gathering *g, uint32_t root) {
    const struct traversal *w = &g->r->trees.walk;
    bool any = false;
    g->number = root + 1;
    for (uint32_t i = 0; i < w->frames[root].count; i++) {
        const struct root_frame *f = &w->frames[root].at[i];
        if (w->begin[f->row] == w->begin[f->row + 1])
            continue;
        g->root_of[place_of_frame(g, f->frame)] = g->number;
        g->row_of[place_of_frame(g, f->frame)] = f->row;
        any = true;
    }
    return any;
}

/* Returns NO_ROW if the frame's row has no tree. */
static uint32_t row_of(const struct gathering *g, uint32_t frame) {
    const size_t at = place_of_frame(g, frame);
    return g->root_of[at] == g->number ? g->row_of[at] : NO_ROW;
}

static void put_member(struct gathering *g, uint32_t row, uint32_t path_segment, uint32_t node, bool is_inner) {
    const struct path_segment *at = &g->r->trees.path_segments.at[path_segment];
    uint32_t *next = &g->next[row];
    const uint32_t place = g->alone ? (*next)++ : __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
    g->r->trees.walk.members[place] = (struct member){.node = node,
                                                      .path_segment = path_segment & (PATH_SEGMENTS_MOST - 1),
                                                      .has_samples = at->has_samples && node == path_segment_last(at),
                                                      .is_inner = is_inner};
}

/* --- traversal of a root --- */

static void enter_path_segment(struct gathering *g, uint32_t path_segment) {
    const struct report *r = g->r;
    const struct path_segment *at = &r->trees.path_segments.at[path_segment];
    const uint32_t last = path_segment_last(at);
    for (uint32_t n = at->node; n <= last; n++) {
        const uint32_t row = row_of(g, r->trees.calls.nodes[n].frame);
        if (row == NO_ROW)
            continue;
        const bool is_inner = g->on_way[row]++ > 0;
        if (!r->chain.caller || !is_inner || (n == last && at->has_samples))
            put_member(g, row, path_segment, n, is_inner);
    }
}

static void leave_path_segment(struct gathering *g, uint32_t path_segment) {
    const struct report *r = g->r;
    const struct path_segment *at = &r->trees.path_segments.at[path_segment];
    for (uint32_t n = at->node; n <= path_segment_last(at); n++) {
        const uint32_t row = row_of(g, r->trees.calls.nodes[n].frame);
        if (row != NO_ROW)
            g->on_way[row]--;
    }
}

static void walk_path_segments(struct gathering *g, uint32_t from, uint32_t end) {
    const struct path_segment *path_segments = g->r->trees.path_segments.at;
    uint32_t way = from;
    for (uint32_t i = from + 1; i < end;) {
        for (; way != path_segments[i].parent; way = path_segments[way].parent)
            leave_path_segment(g, way);
        if (i + FETCHED < end)
            path_segment_fetch(g->r, i + FETCHED);
        if (!path_segments[i].sum.samples) {
            i += path_segments[i].size;
            continue;
        }
        enter_path_segment(g, i);
        way = i++;
    }
    for (; way != from; way = path_segments[way].parent)
        leave_path_segment(g, way);
}

static void walk_ends(struct gathering *g, uint32_t from, uint32_t end) {
    const struct report *r = g->r;
    for (uint32_t i = from + 1; i < end; i++) {
        if (!r->trees.path_segments.at[i].has_samples)
            continue;
        const uint32_t node = path_segment_last(&r->trees.path_segments.at[i]);
        const uint32_t row = row_of(g, r->trees.calls.nodes[node].frame | NODE_APART);
        if (row != NO_ROW)
            put_member(g, row, i, node, false);
    }
}

static bool walk_next(void *context, unsigned worker, size_t root) {
    struct gathering *g = &((struct root_listing *)context)->workers[worker];
    const struct path_segments *path_segments = &g->r->trees.path_segments;
    const uint32_t from = path_segments->root[root], end = from + path_segments->at[from].size;
    if (begin_root(g, (uint32_t)root))
        (g->r->children ? walk_path_segments : walk_ends)(g, from, end);
    return true;
}

/* --- all roots --- */

/* Computes where the members of each row begin; rows without a tree get no members. */
static pfr_status make_begins(struct report *r, pfr_error *err) {
    struct traversal *w = &r->trees.walk;
    w->nr_rows = r->rows.cells.count;
    w->begin = mem_zeroed(r->memory, (size_t)w->nr_rows + 1, sizeof *w->begin);
    if (!w->begin)
        return mem_fail(r->memory, err, "walk");
    for (uint32_t i = 0; i < w->nr_rows; i++)
        w->begin[i + 1] = w->begin[i] + (i < w->notes_room && row_has_tree(r, i) ? w->notes[i].members : 0);
    w->members = mem_alloc(r->memory, w->begin[w->nr_rows], sizeof *w->members);
    return w->members ? PFR_OK : mem_fail(r->memory, err, "walk");
}

static pfr_status open_workers(struct root_listing *l, pfr_error *err) {
    struct memory *memory = l->r->memory;
    l->next = mem_alloc(memory, l->rows, sizeof *l->next);
    l->workers = mem_zeroed(memory, l->count, sizeof *l->workers);
    bool good = l->next && l->workers;
    for (unsigned i = 0; good && i < l->count; i++) {
        struct gathering *g = &l->workers[i];
        *g = (struct gathering){.r = l->r, .next = l->next, .alone = l->count == 1};
        g->root_of = mem_zeroed(memory, l->frames, sizeof *g->root_of);
        g->row_of = mem_alloc(memory, l->frames, sizeof *g->row_of);
        g->on_way = mem_zeroed(memory, l->rows, sizeof *g->on_way);
        good = g->root_of && g->row_of && g->on_way;
    }
    return good ? PFR_OK : mem_fail(memory, err, "walk");
}

static void close_workers(struct root_listing *l) {
    struct memory *memory = l->r->memory;
    for (unsigned i = 0; l->workers && i < l->count; i++) {
        struct gathering *g = &l->workers[i];
        mem_free(memory, g->root_of, l->frames, sizeof *g->root_of);
        mem_free(memory, g->row_of, l->frames, sizeof *g->row_of);
        mem_free(memory, g->on_way, l->rows, sizeof *g->on_way);
    }
    mem_free(memory, l->workers, l->count, sizeof *l->workers);
    mem_free(memory, l->next, l->rows, sizeof *l->next);
}

static int by_place(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return x->path_segment != y->path_segment
               ? (x->path_segment > y->path_segment) - (x->path_segment < y->path_segment)
               : (x->node > y->node) - (x->node < y->node);
}

/* Sorts the members of rows that occur in several roots, because threads may have interleaved these members. */
static void put_in_order(struct traversal *w) {
    for (uint32_t i = 0; i < w->nr_rows; i++)
        if (w->begin[i + 1] - w->begin[i] > 1 && w->notes[i].distributions)
            qsort(w->members + w->begin[i], w->begin[i + 1] - w->begin[i], sizeof *w->members, by_place);
}

pfr_status walk_list_members(struct report *r, pfr_error *err) {
    struct root_listing l = {.r = r, .frames = 2 * (size_t)r->profile->nr_frames, .rows = r->rows.cells.count};
    PFR_TRY(make_begins(r, err));
    l.count = report_jobs(r, (uint64_t)r->trees.walk.begin[l.rows] * MEMBER_NS, r->trees.calls.nr_roots,
                          (l.frames * 2 + l.rows) * sizeof(uint32_t));
    const pfr_status st = open_workers(&l, err);
    if (st >= 0) {
        memcpy(l.next, r->trees.walk.begin, l.rows * sizeof *l.next);
        thread_pool_run(l.count, r->trees.calls.nr_roots, walk_next, &l);
        if (l.count > 1)
            put_in_order(&r->trees.walk);
    }
    close_workers(&l);
    return st;
}

void members_free(struct report *r) {
    struct traversal *w = &r->trees.walk;
    mem_free(r->memory, w->members, w->begin ? w->begin[w->nr_rows] : 0, sizeof *w->members);
    mem_free(r->memory, w->begin, (size_t)w->nr_rows + 1, sizeof *w->begin);
}

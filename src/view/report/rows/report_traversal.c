/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns nodes to rows and sums their weights in one traversal of each root's path segments. With --children, a row's
 * total is the weight of all samples whose stack contains the row, each sample counted once. This is the inclusive
 * weight of the row's outermost nodes.
 *
 * The sums of the current root are kept in a small array of their own. So several threads can traverse different roots,
 * and they need the lock only to look up a row and at the end of a root.
 */
#include "base/threads/thread_pool.h"
#include "base/memory/fail.h"
#include "base/threads/spin_wait.h"
#include "view/report/rows/report_traversal.h"
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_path_segments.h"
#include "view/report/rows/report_rows.h"
#include "view/report/rows/report_sums.h"
#include "view/report/rows/report_tree_roots.h"

#include <pthread.h>
#include <string.h>

#define NODE_NS 15u     /* approximate time per node */
#define FRAME_BYTES 80u /* approximate memory per frame and thread, including its row */

#define FETCHED 10u /* segments to prefetch ahead */

/* Weights of a row within the current root. */
struct root_row {
    uint32_t row;
    uint32_t on_way; /* number of nodes of the row on the current path */
    uint32_t depth, members;
    struct profile_weight total, self;
    uint64_t system, user;
};

/* Where the row of a frame is in strides.rows; valid if `root` is the current root. */
struct frame_place {
    uint32_t root; /* number of a root, plus 1 */
    uint32_t at;
};

struct frame_list {
    struct root_frame *at;
    size_t count, room;
};

/* State of one thread. */
struct strides {
    struct report *r;
    pthread_mutex_t *lock; /* protects r->rows, and the arrays of r->trees.walk that are indexed by row */
    uint32_t *height;      /* by segment: length of the longest chain from its first node down; NULL: not needed */
    const struct call_trees_root *root;
    uint32_t number;            /* number of the root, plus 1 */
    struct frame_place *frames; /* first by frame, then by frame of a sampled address (NODE_APART) */
    struct root_row *rows;
    uint32_t *at_of; /* by row: index in `rows`; valid if the entry at this index belongs to the row */
    uint32_t *way;   /* indices in `rows` of the nodes on the current path */
    size_t nr_rows, rows_room, at_of_room, nr_way, way_room;
    uint32_t depth; /* length of the callchain down to the current node */
    struct frame_list noted;
    pfr_status status;
    pfr_error err;
};

struct walking {
    struct report *r;
    pthread_mutex_t lock;
    struct strides *workers;
    unsigned count;
    size_t frames; /* sizes of the arrays of one thread */
    uint32_t *height;
};

/* --- rows of a root --- */

static pfr_status add_root_row(struct strides *s, uint32_t row, uint32_t *at, pfr_error *err) {
    struct memory *memory = s->r->memory;
    void *rows = mem_grow(memory, s->rows, s->nr_rows, &s->rows_room, 256, sizeof *s->rows);
    s->rows = rows ? rows : s->rows;
    const size_t before = s->at_of_room;
    void *at_of = mem_grow(memory, s->at_of, row, &s->at_of_room, 256, sizeof *s->at_of);
    s->at_of = at_of ? at_of : s->at_of;
    if (!rows || !at_of)
        return mem_fail(memory, err, "walk");
    memset(s->at_of + before, 0, (s->at_of_room - before) * sizeof *s->at_of);
    const uint32_t known = s->at_of[row];
    if (known < s->nr_rows && s->rows[known].row == row) {
        *at = known;
        return PFR_OK;
    }
    *at = s->at_of[row] = (uint32_t)s->nr_rows++;
    s->rows[*at] = (struct root_row){.row = row};
    return PFR_OK;
}

/* Stores the frame and its row for report_tree_roots.c. */
static pfr_status note_frame(struct strides *s, struct root_frame frame, pfr_error *err) {
    struct frame_list *noted = &s->noted;
    if (!s->r->trees.walk.frames)
        return PFR_OK;
    void *grown = mem_grow(s->r->memory, noted->at, noted->count, &noted->room, 256, sizeof *noted->at);
    if (!grown)
        return mem_fail(s->r->memory, err, "walk");
    noted->at = grown;
    noted->at[noted->count++] = frame;
    return PFR_OK;
}

static pfr_status note_row(struct strides *s, uint32_t row, pfr_error *err) {
    struct traversal *w = &s->r->trees.walk;
    const size_t before = w->notes_room;
    void *grown = mem_grow(s->r->memory, w->notes, row, &w->notes_room, 256, sizeof *w->notes);
    if (!grown)
        return mem_fail(s->r->memory, err, "walk");
    w->notes = grown;
    memset(w->notes + before, 0, (w->notes_room - before) * sizeof *w->notes);
    struct row_note *note = &w->notes[row];
    note->distributions = note->distributions || (note->root && note->root != s->number);
    note->root = note->root && note->root < s->number ? note->root : s->number;
    return PFR_OK;
}

static pfr_status find_row(struct strides *s, const struct cell_key *spot, uint32_t *row, pfr_error *err) {
    lock_awake(s->lock);
    pfr_status st = rows_find(s->r, spot, row, err);
    if (st >= 0)
        st = note_row(s, *row, err);
    pthread_mutex_unlock(s->lock);
    return st;
}

/* Looks up the row of a frame on its first occurrence in this root; other roots have other rows. */
static pfr_status meet_frame(struct strides *s, uint32_t frame, struct frame_place *place, pfr_error *err) {
    const struct cell_key spot = {s->root->group, frame, s->root->parent};
    uint32_t row;
    PFR_TRY(find_row(s, &spot, &row, err));
    PFR_TRY(add_root_row(s, row, &place->at, err));
    place->root = s->number;
    return note_frame(s, (struct root_frame){frame, row}, err);
}

static pfr_status row_of_frame(struct strides *s, uint32_t frame, uint32_t *at, pfr_error *err) {
    struct frame_place *place =
        &s->frames[frame & NODE_APART ? (size_t)s->r->profile->nr_frames + (frame & ~NODE_APART) : frame];
    if (place->root != s->number)
        PFR_TRY(meet_frame(s, frame, place, err));
    *at = place->at;
    return PFR_OK;
}

static void count_self(const struct report *r, struct root_row *row, uint32_t node, const struct profile_weight *self) {
    weight_add(&row->self, self);
    row_add_by_mode(r, r->trees.calls.nodes[node].frame, self->weight, &row->system, &row->user);
}

static void raise_depth(uint32_t *depth, uint32_t least) {
    if (*depth < least)
        *depth = least;
}

static void add_to_row(struct report *r, const struct root_row *from) {
    struct row *to = &r->rows.at[from->row];
    weight_add(&to->total, &from->total);
    weight_add(&to->self, &from->self);
    to->system += from->system;
    to->user += from->user;
    raise_depth(&to->depth, from->depth);
    r->trees.walk.notes[from->row].members += from->members;
}

static pfr_status add_frames(struct strides *s, pfr_error *err) {
    struct traversal *w = &s->r->trees.walk;
    struct root_frames *frames = &w->frames[s->number - 1];
    if (!s->noted.count)
        return PFR_OK;
    frames->at = mem_alloc(s->r->memory, s->noted.count, sizeof *frames->at);
    if (!frames->at)
        return mem_fail(s->r->memory, err, "walk");
    frames->count = (uint32_t)s->noted.count;
    memcpy(frames->at, s->noted.at, frames->count * sizeof *frames->at);
    return PFR_OK;
}

/* Adds the root's sums to the rows. */
static pfr_status end_root(struct strides *s, pfr_error *err) {
    lock_awake(s->lock);
    for (size_t i = 0; i < s->nr_rows; i++)
        add_to_row(s->r, &s->rows[i]);
    pthread_mutex_unlock(s->lock);
    return s->r->trees.walk.frames ? add_frames(s, err) : PFR_OK;
}

/* --- traversal of a root --- */

static void measure(struct strides *s, uint32_t from, uint32_t end) {
    const struct path_segment *path_segments = s->r->trees.path_segments.at;
    uint32_t *height = s->height;
    memset(height + from, 0, (end - from) * sizeof *height);
    for (uint32_t i = end; --i > from;) {
        if (!path_segments[i].sum.samples)
            continue;
        height[i] += path_segments[i].is_apart ? 0 : path_segments[i].length;
        raise_depth(&height[path_segments[i].parent], height[i]);
    }
}

/* Called on the way down. If trees are caller first, the depth of a row is the height of the highest tree below its
   nodes; otherwise it is the largest distance of its nodes from the root. */
static void enter(struct root_row *row, const struct profile_weight *sum, bool caller, uint32_t depth) {
    const bool is_outermost = row->on_way++ == 0;
    row->members += !caller || is_outermost;
    if (is_outermost)
        weight_add(&row->total, sum);
    if (!caller || is_outermost)
        raise_depth(&row->depth, depth);
}

/* Called at the last node of a segment, the only one that can have samples. */
static void count_end(struct strides *s, uint32_t path_segment) {
    struct report *r = s->r;
    const struct profile_weight self = path_segment_self(r, path_segment);
    if (!self.samples)
        return;
    struct root_row *row = &s->rows[s->way[s->nr_way - 1]];
    count_self(r, row, path_segment_last(&r->trees.path_segments.at[path_segment]), &self);
    raise_depth(&row->depth, s->depth);
    row->members += r->chain.caller && row->on_way > 1; /* otherwise enter() has counted it */
}

static pfr_status enter_path_segment(struct strides *s, uint32_t path_segment, pfr_error *err) {
    const struct path_segment *at = &s->r->trees.path_segments.at[path_segment];
    const struct profile_node *nodes = s->r->trees.calls.nodes + at->node;
    const bool caller = s->r->chain.caller;
    const uint32_t height = caller ? s->height[path_segment] : 0, depth = s->depth + !at->is_apart;
    void *grown = mem_grow(s->r->memory, s->way, s->nr_way + at->length, &s->way_room, 1024, sizeof *s->way);
    if (!grown)
        return mem_fail(s->r->memory, err, "walk");
    s->way = grown;
    for (uint32_t i = 0; i < at->length; i++) {
        uint32_t *place = &s->way[s->nr_way + i];
        PFR_TRY(row_of_frame(s, nodes[i].frame, place, err));
        enter(&s->rows[*place], &at->sum, caller, caller ? height - i : depth + i);
    }
    s->nr_way += at->length;
    s->depth += at->is_apart ? 0 : at->length;
    count_end(s, path_segment);
    return PFR_OK;
}

/* Called on the way up. */
static void leave_path_segment(struct strides *s, const struct path_segment *path_segment) {
    for (uint32_t i = 0; i < path_segment->length; i++)
        s->rows[s->way[--s->nr_way]].on_way--;
    s->depth -= path_segment->is_apart ? 0 : path_segment->length;
}

static void fetch(const struct report *r, uint32_t path_segment) {
    const struct path_segment *at = &r->trees.path_segments.at[path_segment];
    path_segment_fetch(r, path_segment);
    if (at->has_samples && at->size > 1)
        node_weights_fetch(&r->trees.calls.self, path_segment_last(at));
}

static pfr_status walk_path_segments(struct strides *s, uint32_t from, uint32_t end, pfr_error *err) {
    const struct path_segment *path_segments = s->r->trees.path_segments.at;
    uint32_t way = from;
    for (uint32_t i = from + 1; i < end;) {
        for (; way != path_segments[i].parent; way = path_segments[way].parent)
            leave_path_segment(s, &path_segments[way]);
        if (i + FETCHED < end)
            fetch(s->r, i + FETCHED);
        if (!path_segments[i].sum.samples) {
            i += path_segments[i].size;
            continue;
        }
        PFR_TRY(enter_path_segment(s, i, err));
        way = i++;
    }
    for (; way != from; way = path_segments[way].parent)
        leave_path_segment(s, &path_segments[way]);
    return PFR_OK;
}

/* Used if only self weights are needed: visits only nodes with samples. */
static pfr_status walk_ends(struct strides *s, uint32_t from, uint32_t end, pfr_error *err) {
    const struct report *r = s->r;
    uint32_t at;
    for (uint32_t i = from + 1; i < end; i++) {
        const struct profile_weight self = path_segment_self(r, i);
        const uint32_t node = path_segment_last(&r->trees.path_segments.at[i]);
        if (i + FETCHED < end)
            __builtin_prefetch(&r->trees.calls.nodes[path_segment_last(&r->trees.path_segments.at[i + FETCHED])]);
        if (!self.samples)
            continue;
        PFR_TRY(row_of_frame(s, r->trees.calls.nodes[node].frame | NODE_APART, &at, err));
        count_self(r, &s->rows[at], node, &self);
        s->rows[at].members++;
    }
    return PFR_OK;
}

static pfr_status walk_root(struct strides *s, pfr_error *err) {
    struct report *r = s->r;
    const uint32_t from = r->trees.path_segments.root[s->number - 1], end = from + r->trees.path_segments.at[from].size;
    if (!r->children)
        return walk_ends(s, from, end, err);
    path_segments_sum_up(r, s->number - 1);
    if (s->height)
        measure(s, from, end);
    return walk_path_segments(s, from, end, err);
}

/* Counts the weight at the root itself, which has all samples if no frames were requested. For a branch, the frame is
 * that of the branch target. */
static pfr_status count_root(struct strides *s, pfr_error *err) {
    struct report *r = s->r;
    const uint32_t node = s->root->node;
    struct cell_key spot = {s->root->group, NO_FRAME, s->root->parent};
    uint32_t row, at;
    const struct profile_weight *self = node_weight(&r->trees.calls.self, node);
    if (!self->samples)
        return PFR_OK;
    if (r->mode == REPORT_BRANCHES && r->profile->request.keys & PROFILE_BIT(PROFILE_TO))
        spot.frame = r->profile->places[profile_value(r->profile, spot.group, PROFILE_TO)].frame;
    PFR_TRY(find_row(s, &spot, &row, err));
    PFR_TRY(add_root_row(s, row, &at, err));
    count_self(r, &s->rows[at], node, self);
    weight_add(&s->rows[at].total, self);
    return PFR_OK;
}

static pfr_status walk_one(struct strides *s, uint32_t root, pfr_error *err) {
    s->root = &s->r->trees.calls.roots[root];
    s->number = root + 1;
    s->nr_rows = s->noted.count = 0;
    PFR_TRY(count_root(s, err));
    PFR_TRY(walk_root(s, err));
    return end_root(s, err);
}

static bool walk_next(void *context, unsigned worker, size_t root) {
    struct strides *s = &((struct walking *)context)->workers[worker];
    s->status = walk_one(s, (uint32_t)root, &s->err);
    return s->status >= 0;
}

/* --- all roots --- */

static bool asks_height(const struct report *r) {
    return r->children && r->chain.caller;
}

static pfr_status alloc_walk(struct walking *w, pfr_error *err) {
    struct report *r = w->r;
    if (asks_height(r))
        w->height = mem_alloc(r->memory, r->trees.path_segments.count, sizeof *w->height);
    if (r->trees.of_rows)
        r->trees.walk.frames = mem_zeroed(r->memory, r->trees.calls.nr_roots, sizeof *r->trees.walk.frames);
    const bool good = (w->height || !asks_height(r)) && (r->trees.walk.frames || !r->trees.of_rows);
    return good ? PFR_OK : mem_fail(r->memory, err, "walk");
}

static pfr_status open_workers(struct walking *w, pfr_error *err) {
    struct memory *memory = w->r->memory;
    w->workers = mem_zeroed(memory, w->count, sizeof *w->workers);
    if (!w->workers)
        return mem_fail(memory, err, "walk");
    for (unsigned i = 0; i < w->count; i++) {
        struct strides *s = &w->workers[i];
        s->r = w->r;
        s->lock = &w->lock;
        s->height = w->height;
        s->frames = mem_zeroed(memory, w->frames, sizeof *s->frames);
        if (!s->frames)
            return mem_fail(memory, err, "walk");
    }
    return PFR_OK;
}

static void close_workers(struct walking *w) {
    struct memory *memory = w->r->memory;
    for (unsigned i = 0; w->workers && i < w->count; i++) {
        struct strides *s = &w->workers[i];
        mem_free(memory, s->frames, w->frames, sizeof *s->frames);
        mem_free(memory, s->rows, s->rows_room, sizeof *s->rows);
        mem_free(memory, s->at_of, s->at_of_room, sizeof *s->at_of);
        mem_free(memory, s->way, s->way_room, sizeof *s->way);
        mem_free(memory, s->noted.at, s->noted.room, sizeof *s->noted.at);
    }
    mem_free(memory, w->workers, w->count, sizeof *w->workers);
    mem_free(memory, w->height, w->r->trees.path_segments.count, sizeof *w->height);
}

static pfr_status walk_all(struct walking *w, pfr_error *err) {
    PFR_TRY(alloc_walk(w, err));
    PFR_TRY(open_workers(w, err));
    thread_pool_run(w->count, w->r->trees.calls.nr_roots, walk_next, w);
    for (unsigned i = 0; i < w->count; i++)
        if (w->workers[i].status < 0) {
            if (err)
                *err = w->workers[i].err;
            return w->workers[i].status;
        }
    return PFR_OK;
}

pfr_status walk_make(struct report *r, pfr_error *err) {
    struct walking w = {.r = r, .frames = 2 * (size_t)r->profile->nr_frames};
    PFR_TRY(path_segments_make(r, err));
    w.count =
        report_jobs(r, (uint64_t)r->trees.calls.nr_nodes * NODE_NS, r->trees.calls.nr_roots, w.frames * FRAME_BYTES);
    pthread_mutex_init(&w.lock, NULL);
    const pfr_status st = walk_all(&w, err);
    close_workers(&w);
    pthread_mutex_destroy(&w.lock);
    return st < 0 ? st : walk_sums(r, err);
}

void walk_free(struct report *r) {
    struct traversal *w = &r->trees.walk;
    for (uint32_t i = 0; w->frames && i < r->trees.calls.nr_roots; i++)
        mem_free(r->memory, w->frames[i].at, w->frames[i].count, sizeof *w->frames[i].at);
    mem_free(r->memory, w->frames, r->trees.calls.nr_roots, sizeof *w->frames);
    mem_free(r->memory, w->notes, w->notes_room, sizeof *w->notes);
    members_free(r);
    *w = (struct traversal){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows out of stacks that the profile tells one by one, for reports that show no tree: a row has the weight of each
 * stack that it is in, once. Group by group, because rows of a frame are looked up once for each group; what rows weigh
 * is summed up in small items that lie together.
 */
#include "view/report_parts.h"

#include "base/fail.h"

#include <string.h>

/* What of a row is met in stack after stack. How deep it is nobody asks where no tree is shown. */
struct row_sum {
    struct profile_weight total;
    uint32_t stack; /* the last one that it was in, plus 1 */
};

/* The row of a frame in the group at hand. */
struct frame_row {
    uint32_t group; /* plus 1 */
    uint32_t row;
};

struct counting {
    struct report *r;
    struct frame_row *row_of; /* by frame, then by frame of a sampled address */
    uint32_t *order;          /* stacks by group */
    struct row_sum *sums;     /* by row */
    size_t sums_room;
};

/* Those of one group side by side, in the order they have. */
static pfr_status order_stacks(struct counting *c, pfr_error *err) {
    const struct profile *p = c->r->profile;
    uint32_t *next = mem_zeroed(c->r->memory, (size_t)p->nr_groups + 1, sizeof *next);
    if (!next)
        return mem_fail(c->r->memory, err, "walk");
    for (uint32_t i = 0; i < p->nr_stacks; i++)
        next[p->stacks[i].group + 1]++;
    for (uint32_t g = 0; g < p->nr_groups; g++)
        next[g + 1] += next[g];
    for (uint32_t i = 0; i < p->nr_stacks; i++)
        c->order[next[p->stacks[i].group]++] = i;
    mem_free(c->r->memory, next, (size_t)p->nr_groups + 1, sizeof *next);
    return PFR_OK;
}

/* The tree of what was folded may have made many rows before. */
static pfr_status make_room(struct counting *c, uint32_t row, pfr_error *err) {
    const size_t before = c->sums_room;
    if (row < before)
        return PFR_OK;
    struct row_sum *grown = mem_grow(c->r->memory, c->sums, row, &c->sums_room, 256, sizeof *grown);
    if (!grown)
        return mem_fail(c->r->memory, err, "walk");
    c->sums = grown;
    memset(grown + before, 0, (c->sums_room - before) * sizeof *grown);
    return PFR_OK;
}

/* Of a frame that the group at hand has not met before. */
static pfr_status find_row(struct counting *c, struct frame_row *memo, uint32_t group, uint32_t frame, pfr_error *err) {
    const struct spot spot = {c->r->profile->groups[group], frame, NO_PARENT};
    PFR_TRY(rows_find(c->r, &spot, &memo->row, err));
    PFR_TRY(make_room(c, memo->row, err));
    memo->group = group + 1;
    return PFR_OK;
}

static inline void add_weight(struct profile_weight *to, const struct profile_weight *more) {
    to->weight += more->weight;
    to->samples += more->samples;
}

static inline pfr_status count_frame(struct counting *c, struct frame_row *memo, uint32_t frame, uint32_t number,
                                     const struct profile_stack *stack, pfr_error *err) {
    if (__builtin_expect(memo->group != stack->group + 1, 0))
        PFR_TRY(find_row(c, memo, stack->group, frame, err));
    struct row_sum *sum = &c->sums[memo->row];
    if (sum->stack == number + 1)
        return PFR_OK;
    sum->stack = number + 1;
    add_weight(&sum->total, &stack->self);
    return PFR_OK;
}

/* Only the last frame may be one of a sampled address. */
static pfr_status count_stack(struct counting *c, uint32_t number, pfr_error *err) {
    const struct profile *p = c->r->profile;
    const struct profile_stack stack = p->stacks[number];
    const uint32_t *const frames = stack.frames, last = frames[stack.count - 1];
    struct frame_row *const row_of = c->row_of;
    for (uint32_t i = 0; i + 1 < stack.count; i++)
        PFR_TRY(count_frame(c, &row_of[frames[i]], frames[i], number, &stack, err));
    struct frame_row *memo = &row_of[last & NODE_APART ? (size_t)p->nr_frames + (last & ~NODE_APART) : last];
    PFR_TRY(count_frame(c, memo, last, number, &stack, err));
    row_add_self(c->r, &c->r->rows.at[memo->row], last, &stack.self);
    return PFR_OK;
}

static pfr_status count_all(struct counting *c, pfr_error *err) {
    const struct profile *p = c->r->profile;
    for (uint32_t i = 0; i < p->nr_stacks; i++)
        if (p->stacks[c->order[i]].self.samples)
            PFR_TRY(count_stack(c, c->order[i], err));
    return PFR_OK;
}

static void pour(struct counting *c) {
    for (uint32_t i = 0; i < c->r->rows.cells.count && i < c->sums_room; i++)
        add_weight(&c->r->rows.at[i].total, &c->sums[i].total);
}

pfr_status walk_whole(struct report *r, pfr_error *err) {
    struct counting c = {.r = r};
    const size_t frames = 2 * (size_t)r->profile->nr_frames, stacks = r->profile->nr_stacks;
    if (!stacks)
        return PFR_OK;
    c.row_of = mem_zeroed(r->memory, frames, sizeof *c.row_of);
    c.order = mem_alloc(r->memory, stacks, sizeof *c.order);
    pfr_status st = c.row_of && c.order ? order_stacks(&c, err) : mem_fail(r->memory, err, "walk");
    if (st >= 0)
        st = count_all(&c, err);
    if (st >= 0)
        pour(&c);
    mem_free(r->memory, c.row_of, frames, sizeof *c.row_of);
    mem_free(r->memory, c.order, stacks, sizeof *c.order);
    mem_free(r->memory, c.sums, c.sums_room, sizeof *c.sums);
    return st;
}

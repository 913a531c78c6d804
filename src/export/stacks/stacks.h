/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_STACKS_H
#define PFR_EXPORT_STACKS_H
/*
 * The stacks of a profile as a sink sees them: nodes whose frames have one label are one, and all is in order. Nodes
 * are numbered level by level, those below a node side by side and by their labels; so the same recording gives the
 * same numbers, whatever number of threads counted it.
 *
 *     stacks_build(&stacks, profile, &naming, &err);
 *     for (uint32_t n = 0; n < stacks.nr_roots; n++)
 *         ... stacks.label[n], node_weight(&stacks.self, n), and below it the nodes from stacks_inner(&stacks, n) up
 * to, and without, stacks_inner(&stacks, n + 1) ... stacks_free(&stacks);
 *
 * A node takes 8 bytes, and 16 more if it has weight of its own. The nodes of the profile are not needed afterwards.
 *
 * Stacks that the profile tells one by one (PROFILE_STACKS) stay so:
 *
 *     for (uint32_t i = 0; i < profile->nr_stacks; i++)
 *         if (stacks_wants(&stacks, &profile->stacks[i]))
 *             ... stacks.group_label[...], stacks.frame_label[...] of stack_depth frames ...
 *
 * A sampled address that its call chain does not hold is left out, as perf script does; its samples are those of the
 * innermost entry of the chain.
 */
#include "base/io/output.h"
#include "export/stacks/labels.h"
#include "model/profile/result/profile.h"

/* Frames that one node of a folded run represents: the shortest and the longest of its stacks. */
struct stack_run {
    uint32_t least, most;
};

struct stacks {
    struct memory *memory;
    struct labels groups, frames;
    uint32_t *label;               /* by node: of roots in .groups, of others in .frames */
    uint32_t *inner;               /* by node, and for `count`: stacks_inner */
    struct node_weights self;      /* by node: without those below */
    struct stack_run *runs;        /* by node; NULL: the naming folds no runs */
    struct profile_weight *totals; /* by node: of it and all below; NULL before stacks_total */
    size_t room;                   /* of the arrays by node */
    uint32_t count, nr_roots, levels;
    /* Of whole stacks: labels of groups and frames, NO_LABEL where there is none, and how often a frame is in one. */
    uint32_t *group_label, *frame_label;
    uint64_t *frame_uses;
    uint32_t nr_groups, nr_frames, depth; /* depth: frames of the longest */
};
#define NO_LABEL UINT32_MAX

/* How a sink calls groups and frames: it writes bytes to `to`. Frames may have a key beside their name in the profile
   instead, which takes less time. */
struct stack_naming {
    bool (*wants)(const void *context, const struct profile_group *group); /* NULL: all */
    void (*name_group)(const void *context, const struct profile_group *group, struct output *to);
    void (*name_frame)(const void *context, const struct profile_frame *frame, struct output *to);
    const void *context;
    void (*key_frame)(const void *context, const struct profile_frame *frame, struct label_key *key); /* or this */
    /* Consecutive frames of one label become one node if this returns true for them. NULL: no run is folded. */
    bool (*folds_run)(const void *context, const struct profile_frame *frame);
};

/* < 0: *err; call stacks_free all the same. */
pfr_status stacks_build(struct stacks *stacks, const struct profile *profile, const struct stack_naming *naming,
                        pfr_error *err);
void stacks_free(struct stacks *stacks);

/* The first node below node n, where there is one; else where it would be. n: at most `count`. */
static inline uint32_t stacks_inner(const struct stacks *stacks, uint32_t n) {
    return stacks->inner[n];
}

static inline bool stacks_wants(const struct stacks *stacks, const struct profile_stack *stack) {
    return stack->self.samples && stacks->group_label[stack->group] != NO_LABEL;
}
/* How many of a stack's frames are shown. */
static inline uint32_t stack_depth(const struct profile_stack *stack) {
    const uint32_t count = stack->count;
    return count > 1 && (stack->frames[count - 1] & NODE_APART) ? count - 1 : count;
}

/* Adds up the totals. */
pfr_status stacks_total(struct stacks *stacks, pfr_error *err);

/* Every node, each followed by those below it: `depth` is 0 for roots. Stops at the first status below 0. */
typedef pfr_status stack_visit(void *context, uint32_t node, uint32_t depth, pfr_error *err);
pfr_status stacks_walk(const struct stacks *stacks, stack_visit *visit, void *context, pfr_error *err);

#endif

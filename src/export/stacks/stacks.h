/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_STACKS_H
#define PFR_EXPORT_STACKS_H
/*
 * The stacks of a profile as a sink sees them: nodes whose frames have one label are one, and all is in order. Nodes
 * are numbered level by level, those below a node side by side and by their labels; so the same recording gives the
 * same numbers, whatever number of threads counted it.
 *
 *     stacks_build(&stacks, profile, &naming, &err);
 *     for (uint32_t i = 0; i < stacks.nr_roots; i++)
 *         ... stacks.nodes[i], and below it stacks.nodes[node->inner] and node->nr_inner - 1 more ...
 *     stacks_free(&stacks);
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

struct stack_node {
    uint32_t parent; /* NO_NODE: a root */
    uint32_t label;  /* a root's: in .groups, of others in .frames */
    uint32_t inner, nr_inner;
    struct profile_weight self;
};

/* Frames that one node of a folded run represents: the shortest and the longest of its stacks. */
struct stack_run {
    uint32_t least, most;
};

struct stacks {
    struct memory *memory;
    struct labels groups, frames;
    struct stack_node *nodes;
    struct stack_run *runs;        /* by node; NULL: the naming folds no runs */
    struct profile_weight *totals; /* by node: of it and all below; NULL before stacks_total */
    size_t room;
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

/* Every node with what is below it behind it: `depth` is 0 for roots. Stops at the first status below 0. */
typedef pfr_status stack_visit(void *context, const struct stack_node *node, uint32_t depth, pfr_error *err);
pfr_status stacks_walk(const struct stacks *stacks, stack_visit *visit, void *context, pfr_error *err);

#endif

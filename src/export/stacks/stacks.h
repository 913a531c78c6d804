/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_STACKS_H
#define PFR_EXPORT_STACKS_H
/*
 * The stacks of a profile as a sink sees them: merged by label and sorted. Nodes are numbered level by level; the
 * children of a node are contiguous and sorted by label. So the numbers of the nodes do not depend on the number of
 * threads.
 *
 *     stacks_build(&stacks, profile, &naming, &err);
 *     for (uint32_t n = 0; n < stacks.nr_roots; n++)
 *         ... stacks.label[n], node_weight(&stacks.self, n), and its children ...
 *     stacks_free(&stacks);
 *
 * The children of node n are the nodes from stacks_inner(&stacks, n) to before stacks_inner(&stacks, n + 1). A node
 * takes 8 bytes, and 16 more if it has self weight. The nodes of the profile are not needed afterwards.
 *
 * The stacks in profile->stacks, if it was loaded with PROFILE_STACKS, are not merged:
 *
 *     for (uint32_t i = 0; i < profile->nr_stacks; i++)
 *         if (stacks_wants(&stacks, &profile->stacks[i]))
 *             ... stacks.group_label[...], stacks.frame_label[...] of stack_depth frames ...
 *
 * As in perf script, a sampled address that is not part of the sample's callchain is left out; the sample counts for
 * the innermost entry of the chain.
 */
#include "base/io/output.h"
#include "export/stacks/labels.h"
#include "model/profile/result/profile.h"

/* The number of frames that a node of a folded run represents: the minimum and maximum over its stacks. */
struct stack_run {
    uint32_t least, most;
};

struct stacks {
    struct memory *memory;
    struct labels groups, frames;
    uint32_t *label;               /* by node: a root's label is in .groups, other labels are in .frames */
    uint32_t *inner;               /* by node, and for `count`: the result of stacks_inner */
    struct node_weights self;      /* by node: exclusive weights */
    struct stack_run *runs;        /* by node; NULL if runs are not folded */
    struct profile_weight *totals; /* inclusive weights by node; NULL before stacks_total */
    size_t room;                   /* room in the arrays by node */
    uint32_t count, nr_roots, levels;
    /* For profile->stacks: the labels of groups and of frames (NO_LABEL if unused), and the number of stacks that use
       each frame. */
    uint32_t *group_label, *frame_label;
    uint64_t *frame_uses;
    uint32_t nr_groups, nr_frames, depth; /* depth: frames of the longest stack */
};
#define NO_LABEL UINT32_MAX

/* How a sink names groups and frames: it writes bytes to `to`. Instead of name_frame, a sink can give key_frame, which
   is faster: frames are then distinguished by a key and their name in the profile. */
struct stack_naming {
    bool (*wants)(const void *context, const struct profile_group *group); /* NULL: all groups */
    void (*name_group)(const void *context, const struct profile_group *group, struct output *to);
    void (*name_frame)(const void *context, const struct profile_frame *frame, struct output *to);
    const void *context;
    void (*key_frame)(const void *context, const struct profile_frame *frame,
                      struct label_key *key); /* alternative to name_frame */
    /* Consecutive frames with the same label become one node if this returns true for them. NULL: runs are not
     * folded. */
    bool (*folds_run)(const void *context, const struct profile_frame *frame);
};

/* On errors (status < 0), stacks_free must be called as well. */
pfr_status stacks_build(struct stacks *stacks, const struct profile *profile, const struct stack_naming *naming,
                        pfr_error *err);
void stacks_free(struct stacks *stacks);

/* Returns the first child of node n; if n has no children, the position where they would be. n: at most `count`. */
static inline uint32_t stacks_inner(const struct stacks *stacks, uint32_t n) {
    return stacks->inner[n];
}

static inline bool stacks_wants(const struct stacks *stacks, const struct profile_stack *stack) {
    return stack->self.samples && stacks->group_label[stack->group] != NO_LABEL;
}
/* Number of frames to show. */
static inline uint32_t stack_depth(const struct profile_stack *stack) {
    const uint32_t count = stack->count;
    return count > 1 && (stack->frames[count - 1] & NODE_APART) ? count - 1 : count;
}

/* Computes `totals`. */
pfr_status stacks_total(struct stacks *stacks, pfr_error *err);

/* Visits every node, each followed by its descendants; `depth` of roots is 0. Stops at the first negative status. */
typedef pfr_status stack_visit(void *context, uint32_t node, uint32_t depth, pfr_error *err);
pfr_status stacks_walk(const struct stacks *stacks, stack_visit *visit, void *context, pfr_error *err);

#endif

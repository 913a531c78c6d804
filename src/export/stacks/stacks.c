/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges and sorts the nodes of a profile: see stacks.h.
 *
 *     1. Find the nodes with samples at or below them, their depth, and the labels of their frames. Parents have
 *        smaller numbers than their children.
 *     2. Group the nodes by level.
 *     3. Level by level, group the nodes by the merged node of their parent and sort each group by label. Adjacent
 *        nodes with equal labels become one. Labels of merged nodes overwrite the nodes of finished levels.
 *     4. Add up the weights of the merged nodes that have weight.
 */
#include "export/stacks/stacks.h"

#include "base/memory/fail.h"
#include "export/stacks/merge_items.h"

#define LEFT_OUT UINT32_MAX
#define INTO_PARENT (UINT32_MAX - 1)

struct building {
    struct stacks *stacks;
    const struct profile *profile;
    const struct stack_naming *naming;
    struct memory *memory;
    struct output name;
    uint32_t *level;    /* by node of the profile. First: whether the node or a descendant has samples. Then its level,
                           LEFT_OUT or INTO_PARENT. Finally, for nodes with a level, the number of the merged node. */
    uint32_t *head;     /* by node of the profile: first node of its run, usually itself; NULL: runs are not folded */
    uint32_t *run;      /* position of the frame in its run, from 1 */
    uint32_t *label_of; /* by frame: number of its label + 1; 0: not labelled yet */
    uint32_t *root_label; /* by group: number of the root's label + 1; 0: not labelled yet */
    uint32_t *begins;     /* start of each level in the nodes by level, which are in stacks->label */
    struct merge_item *items, *other;
    uint32_t *ends; /* by parent: end of its children in `items`; index 0 is the first parent of the level */
    size_t nr_items;
    uint32_t levels;
};

static pfr_status take_run_tables(struct building *b, size_t nodes, pfr_error *err) {
    if (!b->naming->folds_run)
        return PFR_OK;
    b->head = mem_alloc(b->memory, nodes, sizeof *b->head);
    b->run = mem_alloc(b->memory, nodes, sizeof *b->run);
    return b->head && b->run ? PFR_OK : mem_fail(b->memory, err, "stacks");
}

static pfr_status take_tables(struct building *b, pfr_error *err) {
    const struct profile *p = b->profile;
    const size_t nodes = (size_t)p->nr_nodes + 1;
    out_open_memory(&b->name, b->memory);
    b->level = mem_zeroed(b->memory, nodes, sizeof *b->level);
    b->stacks->label = mem_alloc(b->memory, nodes, sizeof *b->stacks->label);
    b->stacks->room = nodes;
    b->label_of = mem_zeroed(b->memory, (size_t)p->nr_frames + 1, sizeof *b->label_of);
    b->root_label = mem_zeroed(b->memory, (size_t)p->nr_groups + 1, sizeof *b->root_label);
    if (!b->level || !b->stacks->label || !b->label_of || !b->root_label)
        return mem_fail(b->memory, err, "stacks");
    return take_run_tables(b, nodes, err);
}

/* Frees arrays that are not needed any more when all levels are done. */
static void give_items_back(struct building *b) {
    mem_free(b->memory, b->begins, (size_t)b->levels + 2, sizeof *b->begins);
    mem_free(b->memory, b->items, b->nr_items, sizeof *b->items);
    mem_free(b->memory, b->other, b->nr_items, sizeof *b->other);
    mem_free(b->memory, b->ends, b->nr_items, sizeof *b->ends);
    b->begins = b->ends = NULL;
    b->items = b->other = NULL;
}

static void give_tables_back(struct building *b) {
    const struct profile *p = b->profile;
    const size_t nodes = (size_t)p->nr_nodes + 1;
    give_items_back(b);
    out_close(&b->name, NULL);
    mem_free(b->memory, b->level, nodes, sizeof *b->level);
    mem_free(b->memory, b->head, nodes, sizeof *b->head);
    mem_free(b->memory, b->run, nodes, sizeof *b->run);
    mem_free(b->memory, b->label_of, (size_t)p->nr_frames + 1, sizeof *b->label_of);
    mem_free(b->memory, b->root_label, (size_t)p->nr_groups + 1, sizeof *b->root_label);
}

/* --- Nodes with samples. */

static void find_used(struct building *b) {
    const struct profile *p = b->profile;
    for (uint32_t n = p->nr_nodes; n-- > 0;) {
        b->level[n] = b->level[n] || node_weight(&p->self, n)->samples;
        if (b->level[n] && p->nodes[n].parent != NO_NODE)
            b->level[p->nodes[n].parent] = true;
    }
}

static pfr_status put_name(struct building *b, struct labels *labels, uint32_t thing, uint32_t *number,
                           pfr_error *err) {
    size_t length;
    if (b->name.status < 0)
        return mem_fail(b->memory, err, "names");
    const char *bytes = out_bytes(&b->name, &length);
    PFR_TRY(labels_put(labels, length ? bytes : "", length, thing, number, err));
    out_clear(&b->name);
    return PFR_OK;
}

static pfr_status name_group(struct building *b, uint32_t group, pfr_error *err) {
    uint32_t number;
    if (b->root_label[group])
        return PFR_OK;
    b->naming->name_group(b->naming->context, b->profile->groups[group], &b->name);
    PFR_TRY(put_name(b, &b->stacks->groups, group, &number, err));
    b->root_label[group] = number + 1;
    return PFR_OK;
}

static bool wants_group(const struct building *b, uint32_t group) {
    return !b->naming->wants || b->naming->wants(b->naming->context, b->profile->groups[group]);
}

static uint32_t head_of(const struct building *b, uint32_t n) {
    return b->head ? b->head[n] : n;
}

static void begin_run(struct building *b, uint32_t n) {
    if (!b->head)
        return;
    b->head[n] = n;
    b->run[n] = 1;
}

/* Whether node n, whose frame has a label, is merged with the node of its parent. */
static bool joins_run(struct building *b, uint32_t n) {
    const struct profile *p = b->profile;
    const uint32_t frame = node_frame(&p->nodes[n]), parent = p->nodes[n].parent;
    if (!b->head || p->nodes[parent].parent == NO_NODE ||
        !b->naming->folds_run(b->naming->context, &p->frames[frame]) ||
        b->label_of[frame] != b->label_of[node_frame(&p->nodes[b->head[parent]])])
        return false;
    b->head[n] = b->head[parent];
    b->run[n] = b->run[parent] + 1;
    return true;
}

static pfr_status look_at_root(struct building *b, uint32_t n, pfr_error *err) {
    const uint32_t group = b->profile->nodes[n].frame;
    const bool has_samples = b->level[n];
    b->level[n] = LEFT_OUT;
    begin_run(b, n);
    if (!has_samples || !wants_group(b, group))
        return PFR_OK;
    b->level[n] = 0;
    return name_group(b, group, err);
}

/* The text of frames whose labels are keys. */
static struct intern_text text_of_frame(const void *profile, uint32_t frame) {
    const struct profile *p = profile;
    const uint32_t text = p->frames[frame].text;
    return text == NO_TEXT ? (struct intern_text){0} : intern_get(&p->texts, text);
}

static pfr_status put_key(struct building *b, uint32_t frame, uint32_t *number, pfr_error *err) {
    struct label_key key;
    b->naming->key_frame(b->naming->context, &b->profile->frames[frame], &key);
    return labels_put_key(&b->stacks->frames, &key, frame, number, err);
}

static pfr_status name_frame(struct building *b, uint32_t frame, pfr_error *err) {
    uint32_t number;
    if (b->label_of[frame])
        return PFR_OK;
    if (b->naming->key_frame) {
        PFR_TRY(put_key(b, frame, &number, err));
    } else {
        b->naming->name_frame(b->naming->context, &b->profile->frames[frame], &b->name);
        PFR_TRY(put_name(b, &b->stacks->frames, frame, &number, err));
    }
    b->label_of[frame] = number + 1;
    return PFR_OK;
}

static pfr_status look_at_inner(struct building *b, uint32_t n, pfr_error *err) {
    const struct profile_node *node = &b->profile->nodes[n];
    const uint32_t outer = b->level[head_of(b, node->parent)];
    const bool is_apart = (node->frame & NODE_APART) && outer != 0, has_samples = b->level[n];
    b->level[n] = LEFT_OUT;
    begin_run(b, n);
    if (outer == LEFT_OUT || !has_samples)
        return PFR_OK;
    if (!is_apart)
        PFR_TRY(name_frame(b, node_frame(node), err));
    b->level[n] = is_apart || joins_run(b, n) ? INTO_PARENT : outer + 1;
    if (b->level[n] != INTO_PARENT && b->level[n] >= b->levels)
        b->levels = b->level[n] + 1;
    return PFR_OK;
}

/* --- Single stacks. */

static pfr_status take_whole_tables(struct building *b, pfr_error *err) {
    struct stacks *s = b->stacks;
    s->nr_groups = b->profile->nr_groups;
    s->nr_frames = b->profile->nr_frames;
    s->group_label = mem_alloc(b->memory, s->nr_groups, sizeof *s->group_label);
    s->frame_label = mem_alloc(b->memory, s->nr_frames, sizeof *s->frame_label);
    s->frame_uses = mem_zeroed(b->memory, s->nr_frames, sizeof *s->frame_uses);
    if (!s->group_label || !s->frame_label || !s->frame_uses)
        return mem_fail(b->memory, err, "stacks");
    memset(s->group_label, 0xff, s->nr_groups * sizeof *s->group_label);
    memset(s->frame_label, 0xff, s->nr_frames * sizeof *s->frame_label);
    return PFR_OK;
}

/* Counts the uses of frames. Only the last frame of a stack can have NODE_APART. */
static void count_uses(struct building *b, const struct profile_stack *stack) {
    const uint32_t *frames = stack->frames, depth = stack_depth(stack);
    uint64_t *const uses = b->stacks->frame_uses;
    for (uint32_t i = 0; i + 1 < depth; i++)
        uses[frames[i]]++;
    if (depth)
        uses[frames[depth - 1] & ~NODE_APART]++;
    b->stacks->depth = depth > b->stacks->depth ? depth : b->stacks->depth;
}

static pfr_status look_at_whole(struct building *b, pfr_error *err) {
    const struct profile *p = b->profile;
    if (p->nr_stacks == 0)
        return PFR_OK;
    PFR_TRY(take_whole_tables(b, err));
    for (uint32_t i = 0; i < p->nr_groups; i++)
        b->stacks->group_label[i] = wants_group(b, i) ? 0 : NO_LABEL;
    for (uint32_t i = 0; i < p->nr_stacks; i++) {
        if (!stacks_wants(b->stacks, &p->stacks[i]))
            continue;
        PFR_TRY(name_group(b, p->stacks[i].group, err));
        count_uses(b, &p->stacks[i]);
    }
    for (uint32_t i = 0; i < p->nr_frames; i++)
        if (b->stacks->frame_uses[i])
            PFR_TRY(name_frame(b, i, err));
    return PFR_OK;
}

static void rank_whole(struct building *b) {
    struct stacks *s = b->stacks;
    for (uint32_t i = 0; i < s->nr_groups; i++)
        if (s->group_label[i] != NO_LABEL && b->root_label[i])
            s->group_label[i] = s->groups.rank[b->root_label[i] - 1];
    for (uint32_t i = 0; i < s->nr_frames; i++)
        if (s->frame_uses[i])
            s->frame_label[i] = s->frames.rank[b->label_of[i] - 1];
}

static pfr_status look_at_all(struct building *b, pfr_error *err) {
    const struct profile *p = b->profile;
    find_used(b);
    b->levels = 1;
    for (uint32_t n = 0; n < p->nr_nodes; n++)
        PFR_TRY(p->nodes[n].parent == NO_NODE ? look_at_root(b, n, err) : look_at_inner(b, n, err));
    PFR_TRY(look_at_whole(b, err));
    PFR_TRY(labels_sort(&b->stacks->groups, err));
    PFR_TRY(labels_sort(&b->stacks->frames, err));
    rank_whole(b);
    return PFR_OK;
}

/* --- Levels. */

static uint32_t label_of(const struct building *b, uint32_t n) {
    const struct profile_node *node = &b->profile->nodes[n];
    if (node->parent == NO_NODE)
        return b->stacks->groups.rank[b->root_label[node->frame] - 1];
    return b->stacks->frames.rank[b->label_of[node_frame(node)] - 1];
}

static uint32_t outer_of(const struct building *b, uint32_t n) {
    const uint32_t parent = b->profile->nodes[n].parent;
    return parent == NO_NODE ? NO_NODE : head_of(b, parent);
}

static pfr_status sort_by_level(struct building *b, pfr_error *err) {
    const uint32_t nodes = b->profile->nr_nodes;
    b->begins = mem_zeroed(b->memory, (size_t)b->levels + 2, sizeof *b->begins);
    if (!b->begins)
        return mem_fail(b->memory, err, "stacks");
    uint32_t *const next =
        b->begins + 1; /* shifted by one, so that filling turns each entry into the start of its level */
    for (uint32_t n = 0; n < nodes; n++)
        if (b->level[n] < INTO_PARENT)
            next[b->level[n] + 1]++;
    for (uint32_t l = 1; l <= b->levels; l++)
        next[l] += next[l - 1];
    for (uint32_t n = 0; n < nodes; n++)
        if (b->level[n] < INTO_PARENT)
            b->stacks->label[next[b->level[n]]++] = n;
    return PFR_OK;
}

/* --- Nodes. */

/* Groups the items of a level by parent. The parents are `parents` nodes from `outer` on; b->ends receives the end of
 * each group. */
static void gather(struct building *b, const uint32_t *nodes, uint32_t count, uint32_t outer, uint32_t parents) {
    struct merge_item *const met = b->other; /* unused until items are sorted: each node's label and parent */
    uint32_t sum = 0;
    memset(b->ends, 0, parents * sizeof *b->ends);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t parent = outer_of(b, nodes[i]);
        met[i] = (struct merge_item){label_of(b, nodes[i]), parent == NO_NODE ? 0 : b->level[parent] - outer};
        b->ends[met[i].node]++;
    }
    for (uint32_t i = 0; i < parents; i++) {
        const uint32_t own = b->ends[i];
        b->ends[i] = sum;
        sum += own;
    }
    for (uint32_t i = 0; i < count; i++)
        b->items[b->ends[met[i].node]++] = (struct merge_item){met[i].label, nodes[i]};
}

/* Adds the children of one node, or the roots. */
static void take_inner(struct building *b, const struct merge_item *sorted, uint32_t count) {
    struct stacks *s = b->stacks;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || sorted[i].label != sorted[i - 1].label)
            s->label[s->count++] = sorted[i].label;
        b->level[sorted[i].node] = s->count - 1;
    }
}

/* Merges the nodes of a level. A level has at most as many merged nodes as nodes. So once its nodes are gathered, the
 * merged nodes may overwrite the entries of this level and of earlier levels. */
static void take_level(struct building *b, uint32_t level, uint32_t outer) {
    struct stacks *s = b->stacks;
    const uint32_t count = b->begins[level + 1] - b->begins[level], parents = level ? s->count - outer : 1;
    gather(b, s->label + b->begins[level], count, outer, parents);
    for (uint32_t i = 0, from = 0; i < parents; from = b->ends[i++]) {
        if (level)
            s->inner[outer + i] = s->count;
        merge_items_sort(b->items + from, b->other, b->ends[i] - from);
        take_inner(b, b->items + from, b->ends[i] - from);
    }
}

/* Merges the nodes of all levels, one level after the other. Each level needs the position where the merged nodes of
 * the previous level begin. */
static void take_levels(struct building *b) {
    struct stacks *s = b->stacks;
    uint32_t outer = 0;
    for (uint32_t l = 0; l < b->levels; l++) {
        const uint32_t begin = s->count;
        take_level(b, l, outer);
        if (l == 0)
            s->nr_roots = s->count;
        outer = begin;
    }
    for (uint32_t n = outer; n <= s->count; n++) /* no node is below the last level */
        s->inner[n] = s->count;
}

static pfr_status make_node_room(struct building *b, pfr_error *err) {
    struct stacks *s = b->stacks;
    b->nr_items = 1; /* `ends` has an entry for the roots even if there are no roots */
    for (uint32_t l = 0; l < b->levels; l++) {
        const size_t count = b->begins[l + 1] - b->begins[l];
        b->nr_items = count > b->nr_items ? count : b->nr_items;
    }
    s->inner = mem_alloc(b->memory, s->room, sizeof *s->inner);
    b->items = mem_alloc(b->memory, b->nr_items, sizeof *b->items);
    b->other = mem_alloc(b->memory, b->nr_items, sizeof *b->other);
    b->ends = mem_alloc(b->memory, b->nr_items, sizeof *b->ends);
    if (!s->inner || !b->items || !b->other || !b->ends)
        return mem_fail(b->memory, err, "stacks");
    return PFR_OK;
}

/* --- Weights. */

/* Returns the merged node that gets the weight of node n; if n was merged into its parent, the parent's merged node.
 * NO_NODE: n is left out. */
static uint32_t heir_of(const struct building *b, uint32_t n) {
    if (b->level[n] == INTO_PARENT)
        return b->level[head_of(b, b->profile->nodes[n].parent)];
    return b->level[n] == LEFT_OUT ? NO_NODE : b->level[n];
}

static pfr_status take_weights(struct building *b, pfr_error *err) {
    struct node_weights *const to = &b->stacks->self;
    const struct profile *p = b->profile;
    if (!node_weights_begin_marks(to, b->memory, b->stacks->count))
        return mem_fail(b->memory, err, "stacks");
    for (uint32_t n = 0; n < p->nr_nodes; n++)
        if (heir_of(b, n) != NO_NODE && node_weight(&p->self, n)->samples)
            node_weights_mark(to, heir_of(b, n));
    if (!node_weights_end_marks(to, b->memory))
        return mem_fail(b->memory, err, "stacks");
    for (uint32_t n = 0; n < p->nr_nodes; n++)
        if (heir_of(b, n) != NO_NODE && node_weight(&p->self, n)->samples)
            weight_add(node_weights_own(to, heir_of(b, n)), node_weight(&p->self, n));
    return PFR_OK;
}

/* Updates the run's length limits: a stack leaves the run after frame n. */
static void end_run(struct building *b, uint32_t n) {
    struct stack_run *const run = &b->stacks->runs[b->level[b->head[n]]];
    run->least = run->least && run->least < b->run[n] ? run->least : b->run[n];
    run->most = run->most > b->run[n] ? run->most : b->run[n];
}

static pfr_status measure_runs(struct building *b, pfr_error *err) {
    const struct profile *p = b->profile;
    if (!b->head)
        return PFR_OK;
    b->stacks->runs = mem_zeroed(b->memory, b->stacks->room, sizeof *b->stacks->runs);
    if (!b->stacks->runs)
        return mem_fail(b->memory, err, "stacks");
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        const bool is_apart = p->nodes[n].parent != NO_NODE && (p->nodes[n].frame & NODE_APART);
        if (b->level[n] != LEFT_OUT && node_weight(&p->self, n)->samples)
            end_run(b, is_apart && b->level[n] == INTO_PARENT ? p->nodes[n].parent : n);
        if (b->level[n] < INTO_PARENT && p->nodes[n].parent != NO_NODE)
            end_run(b, p->nodes[n].parent);
    }
    return PFR_OK;
}

static pfr_status build(struct building *b, pfr_error *err) {
    PFR_TRY(take_tables(b, err));
    PFR_TRY(look_at_all(b, err));
    PFR_TRY(sort_by_level(b, err));
    PFR_TRY(make_node_room(b, err));
    take_levels(b);
    give_items_back(b);
    PFR_TRY(take_weights(b, err));
    b->stacks->levels = b->levels;
    return measure_runs(b, err);
}

pfr_status stacks_build(struct stacks *stacks, const struct profile *profile, const struct stack_naming *naming,
                        pfr_error *err) {
    struct building b = {.stacks = stacks, .profile = profile, .naming = naming, .memory = profile->memory};
    *stacks = (struct stacks){.memory = profile->memory};
    labels_init(&stacks->groups, profile->memory);
    labels_init(&stacks->frames, profile->memory);
    stacks->frames.text_of = text_of_frame;
    stacks->frames.context = profile;
    const pfr_status st = build(&b, err);
    give_tables_back(&b);
    return st;
}

pfr_status stacks_total(struct stacks *s, pfr_error *err) {
    s->totals = mem_alloc(s->memory, s->room, sizeof *s->totals);
    if (!s->totals)
        return mem_fail(s->memory, err, "stacks");
    for (uint32_t n = s->count; n-- > 0;) {
        s->totals[n] = *node_weight(&s->self, n);
        for (uint32_t i = s->inner[n]; i < s->inner[n + 1]; i++)
            weight_add(&s->totals[n], &s->totals[i]);
    }
    return PFR_OK;
}

void stacks_free(struct stacks *stacks) {
    mem_free(stacks->memory, stacks->group_label, stacks->nr_groups, sizeof *stacks->group_label);
    mem_free(stacks->memory, stacks->frame_label, stacks->nr_frames, sizeof *stacks->frame_label);
    mem_free(stacks->memory, stacks->frame_uses, stacks->nr_frames, sizeof *stacks->frame_uses);
    mem_free(stacks->memory, stacks->totals, stacks->room, sizeof *stacks->totals);
    mem_free(stacks->memory, stacks->runs, stacks->room, sizeof *stacks->runs);
    mem_free(stacks->memory, stacks->label, stacks->room, sizeof *stacks->label);
    mem_free(stacks->memory, stacks->inner, stacks->room, sizeof *stacks->inner);
    node_weights_free(&stacks->self, stacks->memory);
    labels_free(&stacks->groups);
    labels_free(&stacks->frames);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries to groups and nodes. Entries are taken group by group and space by space; within one of these every raw node
 * stands for one node of the tree, which is found once, from the outermost address inwards.
 */
#include "model/profile_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define STACK_STEPS 256u
#define LIMIT_TEXT "[limit]"

void resolver_init(struct resolver *r, struct profile *p) {
    *r = (struct resolver){.profile = p};
    profile_frames_init(&r->frames, p);
    profile_tree_init(&r->tree, p);
}

static void free_raw(struct resolver *r) {
    struct memory *memory = r->profile->memory;
    mem_free(memory, r->node_of, r->node_of ? r->raw_room : 0, sizeof *r->node_of);
    mem_free(memory, r->stamp, r->stamp ? r->raw_room : 0, sizeof *r->stamp);
    mem_free(memory, r->since, r->since ? r->raw_room : 0, sizeof *r->since);
    r->node_of = r->stamp = NULL;
    r->since = NULL;
}

void resolver_free(struct resolver *r) {
    free_raw(r);
    profile_frames_free(&r->frames);
    profile_tree_free(&r->tree);
}

/* --- Groups. */

/* The name of a thread that has none is made of its tid. */
static pfr_status comm_value(struct profile *p, const struct who *who, uint64_t *value, pfr_error *err) {
    char made[16] = "swapper";
    struct intern_text text = {(const uint8_t *)made, 7};
    uint32_t id;
    if (who->name != NO_NAME)
        text = intern_get(&p->state.names, who->name);
    else if (who->tid != 0)
        text.length = (uint32_t)snprintf(made, sizeof made, ":%d", (int)who->tid);
    PFR_TRY(intern_put(&p->texts, text.bytes, text.length, &id, err));
    *value = id;
    return PFR_OK;
}

static pfr_status cgroup_value(struct profile *p, uint64_t id, const struct key *key, uint64_t *value, pfr_error *err) {
    const uint32_t path = state_cgroup(&p->state, id, *key);
    const struct intern_text text =
        path == NO_VALUE ? (struct intern_text){(const uint8_t *)"unknown", 7} : intern_get(&p->state.names, path);
    uint32_t number;
    PFR_TRY(intern_put(&p->texts, text.bytes, text.length, &number, err));
    *value = number;
    return PFR_OK;
}

/* What the values of an entry are made of. */
struct making {
    struct counter *counter;
    const uint64_t *words; /* of its keys, the next one */
    struct who who;
    unsigned mode;
    const struct key *key; /* NULL: as at the end */
    uint64_t since;        /* of the places */
};

/* Addresses of the kernel and of the program mix in data and branches: where nothing is in the sample's own space, the
   other is asked. Ends of branches are looked for in the program first, as perf does it: old kernels have a map of all
   addresses. */
static pfr_status find_anywhere(struct resolver *r, struct making *m, uint64_t address, uint32_t *frame,
                                pfr_error *err) {
    const unsigned first = r->profile->wish.branches && m->mode == CPUMODE_KERNEL ? CPUMODE_USER : m->mode;
    const unsigned modes[] = {first, CPUMODE_USER + CPUMODE_KERNEL - first};
    const struct frame_place *place;
    bool too_deep;
    for (unsigned i = 0; i < (m->mode == CPUMODE_USER || m->mode == CPUMODE_KERNEL ? 2 : 1); i++) {
        uint32_t found;
        if (m->key) {
            PFR_TRY(profile_frame_at(&r->frames, modes[i], m->who.space, address, m->key, &found, &too_deep, err));
        } else {
            PFR_TRY(profile_frame(&r->frames, modes[i], m->who.space, address, &place, err));
            m->since = place->since > m->since ? place->since : m->since;
            found = place->frame - 1;
        }
        if (i == 0 || r->profile->frames[found].object != NO_OBJECT)
            *frame = found;
        if (r->profile->frames[found].object != NO_OBJECT)
            break;
    }
    return PFR_OK;
}

static pfr_status place_value(struct resolver *r, struct making *m, uint64_t address, uint64_t *value, pfr_error *err) {
    uint32_t frame = NO_FRAME;
    PFR_TRY(find_anywhere(r, m, address, &frame, err));
    return profile_put_place(&r->tree, frame, address, value, err);
}

static pfr_status text_value(struct resolver *r, const struct making *m, uint64_t word, uint64_t *value,
                             pfr_error *err) {
    const struct intern_text text = intern_get(&m->counter->texts, (uint32_t)word);
    uint32_t id;
    PFR_TRY(intern_put(&r->profile->texts, text.bytes, text.length, &id, err));
    *value = id;
    return PFR_OK;
}

static pfr_status make_value(struct resolver *r, struct making *m, enum profile_key key, uint64_t *value,
                             pfr_error *err) {
    static const struct key end = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (key == PROFILE_COMM)
        return comm_value(r->profile, &m->who, value, err);
    const uint64_t word = *m->words++;
    if (key == PROFILE_CGROUP)
        return cgroup_value(r->profile, word, m->key ? m->key : &end, value, err);
    if (key == PROFILE_TRACE)
        return text_value(r, m, word, value, err);
    if (profile_kind_of(key) == PROFILE_PLACE)
        return place_value(r, m, word, value, err);
    *value = word;
    return PFR_OK;
}

static pfr_status find_group(struct resolver *r, struct making *m, uint32_t event, uint32_t *group, pfr_error *err) {
    uint64_t values[PROFILE_KEYS];
    unsigned count = 0;
    for (uint32_t keys = r->profile->wish.keys; keys; keys &= keys - 1)
        PFR_TRY(make_value(r, m, (enum profile_key)__builtin_ctz(keys), &values[count++], err));
    return profile_group(&r->tree, event, values, count, group, err);
}

static struct making making_of(struct counter *c, const uint64_t *words, const struct key *key) {
    return (struct making){.counter = c,
                           .words = words + 1 + c->profile->wish.frames,
                           .who = counter_who(c, words[0]),
                           .mode = (unsigned)(words[0] >> WHO_BITS & CPUMODE),
                           .key = key};
}

/* --- Stacks. */

static pfr_status make_raw_room(struct resolver *r, const struct raw_stacks *stacks, pfr_error *err) {
    struct memory *memory = r->profile->memory;
    free_raw(r);
    r->raw_room = stacks->count ? stacks->count : 1;
    r->node_of = mem_alloc(memory, r->raw_room, sizeof *r->node_of);
    r->stamp = mem_zeroed(memory, r->raw_room, sizeof *r->stamp);
    r->since = mem_alloc(memory, r->raw_room, sizeof *r->since);
    return r->node_of && r->stamp && r->since ? PFR_OK : mem_fail(memory, err, "profile");
}

/* The node of a raw one whose parent was found. */
static pfr_status step_inwards(struct resolver *r, const struct raw_stacks *stacks, uint32_t space, uint32_t raw,
                               pfr_error *err) {
    const struct raw_node *n = &stacks->nodes[raw];
    const uint32_t parent = raw_parent(n);
    const struct frame_place *place;
    PFR_TRY(profile_frame(&r->frames, raw_mode(n), space, n->address, &place, err));
    r->since[raw] = place->since > r->since[parent] ? place->since : r->since[parent];
    PFR_TRY(profile_child(&r->tree, r->node_of[parent], place->frame - 1, &r->node_of[raw], err));
    r->stamp[raw] = r->now;
    return PFR_OK;
}

/* From the stack outwards to what is known, and back inwards, a stretch at a time. */
static pfr_status find_node(struct resolver *r, const struct raw_stacks *stacks, uint32_t space, uint32_t stack,
                            pfr_error *err) {
    uint32_t way[STACK_STEPS];
    while (r->stamp[stack] != r->now) {
        uint32_t raw = stack;
        size_t count = 0;
        for (; r->stamp[raw] != r->now; raw = raw_parent(&stacks->nodes[raw]))
            way[count++ % STACK_STEPS] = raw; /* the outermost are kept */
        for (size_t left = count < STACK_STEPS ? count : STACK_STEPS; left > 0; left--)
            PFR_TRY(step_inwards(r, stacks, space, way[--count % STACK_STEPS], err));
    }
    return PFR_OK;
}

/* --- Entries. */

struct work {
    uint32_t group, space, entry;
};

static int by_group(const void *a, const void *b) {
    const struct work *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    return x->entry < y->entry ? -1 : 1;
}

static void weigh(struct profile *p, uint32_t node, const struct entry_count *count, bool too_deep) {
    p->self[node].weight += count->weight;
    p->self[node].samples += count->samples;
    p->too_deep += too_deep ? count->samples : 0;
}

static void set_root(struct resolver *r, uint32_t root) {
    r->now++;
    r->node_of[0] = root;
    r->stamp[0] = r->now;
    r->since[0] = 0;
}

/* The sampled address ends the chain mostly. Where it does not, and where there is no chain, it gets a node of its own.
 */
static pfr_status find_leaf(struct resolver *r, uint32_t node, uint32_t root, uint32_t frame, uint32_t *leaf,
                            pfr_error *err) {
    *leaf = node;
    if (node != root && r->profile->nodes[node].frame == frame)
        return PFR_OK;
    return profile_child(&r->tree, node, r->profile->wish.chains ? frame | NODE_APART : frame, leaf, err);
}

/* false in *sure: a map came after the first sample, and the entry is left for later. */
static pfr_status take_entry(struct resolver *r, struct counter *c, const struct work *w, bool *sure, pfr_error *err) {
    struct profile *p = r->profile;
    const uint64_t *words = entry_words(c, w->entry);
    struct entry_count *count = entry_count_of(c, words);
    const unsigned mode = (unsigned)(words[0] >> WHO_BITS & CPUMODE);
    const uint32_t root = p->groups[w->group]->root;
    const struct frame_place *place;
    uint32_t node = root;
    bool too_deep = false;
    *sure = true;
    if (count->stack) {
        PFR_TRY(find_node(r, &c->stacks, w->space, count->stack, err));
        *sure = count->first > r->since[count->stack];
        node = r->node_of[count->stack];
    }
    if (p->wish.frames && *sure) {
        PFR_TRY(profile_frame(&r->frames, mode, w->space, words[1], &place, err));
        *sure = count->first > place->since;
        too_deep = place->too_deep;
        if (*sure)
            PFR_TRY(find_leaf(r, node, root, place->frame - 1, &node, err));
    }
    if (*sure)
        weigh(p, node, count, too_deep);
    else
        count->flags |= ENTRY_UNSURE;
    return PFR_OK;
}

/* What there is no memory for is counted as that. */
static pfr_status fold(struct counter *c, uint32_t event, struct entry_count *count, pfr_status why) {
    if (why != PFR_ERR_LIMIT)
        return why;
    count->flags |= ENTRY_LIMITED;
    c->limited[event].weight += count->weight;
    c->limited[event].samples += count->samples;
    return PFR_OK;
}

static pfr_status find_groups(struct resolver *r, struct counter *c, struct work *work, uint32_t *unsure,
                              pfr_error *err) {
    for (uint32_t i = 0; i < c->count; i++) {
        const uint64_t *words = entry_words(c, i);
        const uint32_t event = (uint32_t)(words[0] >> 32);
        struct entry_count *count = entry_count_of(c, words);
        struct making m = making_of(c, words, NULL);
        work[i] = (struct work){.space = m.who.space, .entry = i};
        const pfr_status st = find_group(r, &m, event, &work[i].group, err);
        if (st < 0) {
            PFR_TRY(fold(c, event, count, st));
        } else if (count->first <= m.since) {
            count->flags |= ENTRY_UNSURE;
            ++*unsure;
        }
    }
    return PFR_OK;
}

static pfr_status take_entries(struct resolver *r, struct counter *c, const struct work *work, uint32_t *unsure,
                               pfr_error *err) {
    const struct work *last = NULL;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct work *w = &work[i];
        bool sure = true;
        const uint64_t *words = entry_words(c, w->entry);
        struct entry_count *count = entry_count_of(c, words);
        if (count->flags)
            continue;
        if (!last || w->group != last->group || w->space != last->space)
            set_root(r, r->profile->groups[w->group]->root);
        last = w;
        const pfr_status st = take_entry(r, c, w, &sure, err);
        if (st < 0)
            PFR_TRY(fold(c, (uint32_t)(words[0] >> 32), count, st));
        *unsure += !sure;
    }
    return PFR_OK;
}

pfr_status resolver_take(struct resolver *r, struct counter *c, uint32_t *unsure, pfr_error *err) {
    struct memory *memory = r->profile->memory;
    PFR_TRY(make_raw_room(r, &c->stacks, err));
    struct work *work = mem_alloc(memory, (size_t)c->count + 1, sizeof *work);
    if (!work)
        return mem_fail(memory, err, "profile");
    pfr_status st = find_groups(r, c, work, unsure, err);
    if (st >= 0) {
        qsort(work, c->count, sizeof *work, by_group);
        st = take_entries(r, c, work, unsure, err);
    }
    mem_free(memory, work, (size_t)c->count + 1, sizeof *work);
    raw_stacks_free(&c->stacks); /* samples that are unsure come with their chains */
    return st;
}

/* --- Samples one by one. */

static pfr_status step_at(struct resolver *r, const struct picked *s, uint32_t space, unsigned mode, uint64_t address,
                          uint32_t *frame, bool *too_deep, pfr_error *err) {
    return profile_frame_at(&r->frames, mode, space, address, &s->key, frame, too_deep, err);
}

/* The chain from the outermost address inwards. */
static pfr_status walk_chain(struct resolver *r, const struct picked *s, uint32_t space, uint32_t *node,
                             pfr_error *err) {
    const uint32_t most = r->profile->wish.max_stack ? r->profile->wish.max_stack : 127;
    struct raw_stacks one;
    uint32_t stack, frame;
    bool too_deep;
    raw_stacks_init(&one, r->profile->memory);
    pfr_status st = raw_stacks_put(&one, &s->chain, s->mode, most, &stack, err);
    for (size_t i = 0; st >= 0 && i < one.path_length; i++) {
        const struct raw_node *n = &one.nodes[one.path[i]];
        st = step_at(r, s, space, raw_mode(n), n->address, &frame, &too_deep, err);
        if (st >= 0)
            st = profile_child(&r->tree, *node, frame, node, err);
    }
    raw_stacks_free(&one);
    return st;
}

static pfr_status take_sample(struct resolver *r, struct counter *c, const uint64_t *words, const struct picked *s,
                              const struct entry_count *one, pfr_error *err) {
    struct profile *p = r->profile;
    struct making m = making_of(c, words, &s->key);
    uint32_t group, frame;
    bool too_deep = false;
    PFR_TRY(find_group(r, &m, s->event, &group, err));
    const uint32_t root = p->groups[group]->root;
    uint32_t node = root;
    if (p->wish.chains && s->chain.count)
        PFR_TRY(walk_chain(r, s, m.who.space, &node, err));
    if (p->wish.frames) {
        PFR_TRY(step_at(r, s, m.who.space, s->mode, s->ip, &frame, &too_deep, err));
        PFR_TRY(find_leaf(r, node, root, frame, &node, err));
    }
    weigh(p, node, one, too_deep);
    return PFR_OK;
}

pfr_status resolver_take_sample(void *context, struct counter *c, const uint64_t *words, const struct picked *s,
                                pfr_error *err) {
    struct resolver *r = context;
    struct entry_count one = {.weight = r->profile->wish.branches ? 1 : s->period, .samples = 1};
    const pfr_status st = take_sample(r, c, words, s, &one, err);
    return st < 0 ? fold(c, s->event, &one, st) : PFR_OK;
}

/* --- What there was no memory for: one group for each event, whose values are all 0 or [limit]. */

static pfr_status limited_value(struct resolver *r, enum profile_key key, uint32_t text, uint32_t frame,
                                uint64_t *value, pfr_error *err) {
    *value = profile_kind_of(key) == PROFILE_TEXT ? text : 0;
    return profile_kind_of(key) == PROFILE_PLACE ? profile_put_place(&r->tree, frame, 0, value, err) : PFR_OK;
}

static pfr_status take_limited(struct resolver *r, uint32_t event, const struct profile_weight *limited,
                               pfr_error *err) {
    struct profile *p = r->profile;
    uint64_t values[PROFILE_KEYS];
    uint32_t frame, group, node;
    unsigned count = 0;
    PFR_TRY(profile_text_frame(&r->frames, LIMIT_TEXT, &frame, err));
    for (uint32_t keys = p->wish.keys; keys; keys &= keys - 1)
        PFR_TRY(limited_value(r, (enum profile_key)__builtin_ctz(keys), p->frames[frame].text, frame, &values[count++],
                              err));
    PFR_TRY(profile_group(&r->tree, event, values, count, &group, err));
    node = p->groups[group]->root;
    if (p->wish.frames)
        PFR_TRY(find_leaf(r, node, node, frame, &node, err));
    p->self[node].weight += limited->weight;
    p->self[node].samples += limited->samples;
    p->limited.weight += limited->weight;
    p->limited.samples += limited->samples;
    return PFR_OK;
}

pfr_status resolver_take_limited(struct resolver *r, const struct counter *c, pfr_error *err) {
    free_raw(r);
    profile_frames_forget(&r->frames);
    for (uint32_t i = 0; i < r->profile->nr_events; i++)
        if (c->limited[i].samples)
            PFR_TRY(take_limited(r, i, &c->limited[i], err));
    return PFR_OK;
}

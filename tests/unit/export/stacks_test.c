/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks compared with a simple implementation, which goes from every node of a random profile to its root,
 * concatenates the names and sums equal stacks. Nodes must be sorted, each before its descendants, and a profile with
 * differently numbered nodes must give the same result.
 */
#include "../test.h"

#include "export/stacks/stacks.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES = 600, FRAMES = 24, GROUPS = 4, LABELS = 9, ROUNDS = 60, LINE = 400 };

static uint64_t random_state;

static uint32_t pick(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

struct made {
    struct profile profile;
    struct memory memory;
    struct profile_frame frames[FRAMES];
    struct profile_node nodes[NODES];
    struct profile_weight self[NODES];
    struct profile_group groups[GROUPS], *group_at[GROUPS];
};

static void make(struct made *m, uint64_t seed) {
    *m = (struct made){0};
    random_state = seed;
    memory_init(&m->memory, NULL, 0);
    m->profile = (struct profile){.memory = &m->memory,
                                  .frames = m->frames,
                                  .nodes = m->nodes,
                                  .self = {.at = m->self},
                                  .groups = m->group_at,
                                  .nr_frames = FRAMES,
                                  .nr_nodes = NODES,
                                  .nr_groups = GROUPS};
    for (uint32_t i = 0; i < FRAMES; i++)
        m->frames[i].address = pick(LABELS);
    for (uint32_t i = 0; i < GROUPS; i++) {
        m->groups[i] = (struct profile_group){.event = pick(2), .root = i};
        m->group_at[i] = &m->groups[i];
        m->nodes[i] = (struct profile_node){NO_NODE, i};
    }
    for (uint32_t i = GROUPS; i < NODES; i++) {
        uint32_t parent = pick(i);
        while (m->nodes[parent].parent != NO_NODE && (m->nodes[parent].frame & NODE_APART))
            parent = m->nodes[parent].parent;
        m->nodes[i] = (struct profile_node){parent, pick(FRAMES) | (pick(5) ? 0 : NODE_APART)};
        m->self[i].samples = pick(3) ? 0 : pick(4);
        m->self[i].weight = m->self[i].samples * 10;
    }
}

static bool wants(const void *context, const struct profile_group *group) {
    return group->event != *(const uint32_t *)context;
}

static void name_group(const void *context, const struct profile_group *group, struct output *to) {
    (void)context;
    out_char(to, (char)('A' + group->event));
}

static void name_frame(const void *context, const struct profile_frame *frame, struct output *to) {
    (void)context;
    out_char(to, (char)('a' + frame->address));
}

/* --- The simple implementation: sorted lines "outer...inner", with the count of each. */

struct lines {
    char text[NODES][LINE];
    uint64_t samples[NODES];
    uint32_t count;
};

static void add_line(struct lines *l, const char *text, uint64_t samples) {
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->text[i], text) == 0) {
            l->samples[i] += samples;
            return;
        }
    snprintf(l->text[l->count], LINE, "%s", text);
    l->samples[l->count++] = samples;
}

static void climb(const struct made *m, uint32_t left_out, struct lines *l) {
    for (uint32_t i = 0; i < NODES; i++) {
        char text[LINE], *at = text + LINE - 1;
        uint32_t n = i;
        *at = '\0';
        if ((m->nodes[n].frame & NODE_APART) && m->nodes[n].parent >= GROUPS)
            n = m->nodes[n].parent;
        for (; m->nodes[n].parent != NO_NODE; n = m->nodes[n].parent)
            *--at = (char)('a' + m->frames[node_frame(&m->nodes[n])].address);
        *--at = (char)('A' + m->groups[n].event);
        if (m->self[i].samples && m->groups[n].event != left_out)
            add_line(l, at, m->self[i].samples);
    }
}

static uint64_t samples_of(const struct lines *l, const char *text) {
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->text[i], text) == 0)
            return l->samples[i];
    return 0;
}

/* --- Comparison with the stacks. */

struct walk {
    const struct stacks *stacks;
    const struct lines *lines;
    char line[LINE], before[LINE];
    uint32_t seen, visited;
};

static pfr_status visit(void *context, uint32_t node, uint32_t depth, pfr_error *err) {
    struct walk *w = context;
    const struct stacks *s = w->stacks;
    const struct profile_weight *self = node_weight(&s->self, node);
    (void)err;
    w->line[depth] = (char)label_bytes(depth ? &s->frames : &s->groups, s->label[node]).bytes[0];
    w->line[depth + 1] = '\0';
    assert_true(strcmp(w->before, w->line) < 0);
    snprintf(w->before, LINE, "%s", w->line);
    assert_int_equal(self->samples, samples_of(w->lines, w->line));
    assert_int_equal(self->weight, self->samples * 10);
    assert_true(s->totals[node].samples >= self->samples + (stacks_inner(s, node) < stacks_inner(s, node + 1)));
    w->seen += self->samples > 0;
    w->visited++;
    return PFR_OK;
}

static void check(uint64_t seed, uint32_t left_out) {
    static struct made m;
    static struct lines l;
    struct stacks s;
    pfr_error err;
    const struct stack_naming naming = {
        .wants = wants, .name_group = name_group, .name_frame = name_frame, .context = &left_out};
    make(&m, seed);
    memset(&l, 0, sizeof l);
    climb(&m, left_out, &l);
    ASSERT_OK(stacks_build(&s, &m.profile, &naming, &err), err);
    ASSERT_OK(stacks_total(&s, &err), err);
    struct walk w = {.stacks = &s, .lines = &l};
    ASSERT_OK(stacks_walk(&s, visit, &w, &err), err);
    assert_int_equal(w.seen, l.count);
    assert_int_equal(w.visited, s.count);
    stacks_free(&s);
    assert_int_equal(m.memory.used, 0);
}

TEST(stacks_are_what_climbing_from_each_node_gives) {
    for (uint64_t seed = 0; seed < ROUNDS; seed++)
        for (uint32_t left_out = 0; left_out < 3; left_out++)
            check(seed, left_out);
}

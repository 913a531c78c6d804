/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows where in the call tree the change is. A subtree is left out unless one of its nodes changed by at least 0.05
 * percentage points and by more than twice the counting error of that node.
 */
#include "view/diff/diff_view.h"

#include "model/diff/diff_tree.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_POINTS 0.05
#define DEEPEST 256u
#define CHILDREN_MOST 64u /* children of one node to print: those with the largest changes */

struct call_tree {
    const struct diff_print *print;
    struct diff_tree tree;
    float *largest; /* by node: the largest significant change in its subtree, in points; 0: no such change */
    double samples[2];
};

static double share(const struct call_tree *c, uint32_t node, unsigned side) {
    const double all = c->tree.nodes[0].total[side];
    return all > 0 ? 100 * c->tree.nodes[node].total[side] / all : 0;
}

static double change(const struct call_tree *c, uint32_t node) {
    return share(c, node, 1) - share(c, node, 0);
}

static double counting_error(const struct call_tree *c, uint32_t node) {
    double variance = 0;
    for (unsigned side = 0; side < 2; side++)
        if (c->samples[side] > 0)
            variance += share(c, node, side) * (100 - share(c, node, side)) / c->samples[side];
    return sqrt(fmax(variance, 0));
}

static void find_largest(struct call_tree *c) {
    for (size_t i = c->tree.count; i-- > 1;) {
        const double size = fabs(change(c, (uint32_t)i));
        const bool counts = size >= LEAST_POINTS && size > 2 * counting_error(c, (uint32_t)i);
        float *own = &c->largest[i], *above = &c->largest[c->tree.nodes[i].parent];
        *own = counts ? fmaxf(*own, (float)size) : *own;
        *above = fmaxf(*own, *above);
    }
}

struct child {
    uint32_t node;
    float largest;
};

static int by_change(const void *a, const void *b) {
    const struct child *x = a, *y = b;
    if (x->largest != y->largest)
        return x->largest > y->largest ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

#define NAME_LEAST 24u /* minimum width of a shortened name */
#define WIDTH_OF_SHARES 28u

/* Returns the columns that are left for a name at this depth; 0: unlimited. */
static size_t room_for_name(const struct diff_print *print, unsigned depth) {
    const size_t before = WIDTH_OF_SHARES + (size_t)2 * depth;
    if (!print->columns)
        return 0;
    return print->columns > before + NAME_LEAST ? print->columns - before : NAME_LEAST;
}

static void put_node(const struct call_tree *c, uint32_t node, unsigned depth) {
    const pfr_diff *d = c->print->d;
    struct output *to = c->print->to;
    const uint32_t row = c->tree.nodes[node].row;
    out_fixed(to, share(c, node, 0), 2, 8);
    out_fixed(to, share(c, node, 1), 2, 9);
    out_signed(to, change(c, node), 2, 9);
    out_text(to, "  ");
    out_pad(to, (size_t)2 * depth);
    const char *const symbol = d->keys[row].symbol;
    size_t room = room_for_name(c->print, depth);
    room -= diff_name_within(c->print, symbol, room);
    if (strcmp(symbol, "[unknown]") == 0) {
        out_text(to, " in ");
        diff_name_within(c->print, d->keys[row].object, room > 4 ? room - 4 : room);
    }
    out_char(to, '\n');
}

static void put_children(const struct call_tree *c, uint32_t node, unsigned depth) {
    struct child children[CHILDREN_MOST];
    size_t count = 0;
    for (uint32_t id = c->tree.nodes[node].first_child; id && count < CHILDREN_MOST; id = c->tree.nodes[id].next)
        if (c->largest[id] > 0)
            children[count++] = (struct child){id, c->largest[id]};
    if (count)
        qsort(children, count, sizeof *children, by_change);
    for (size_t i = 0; i < count && depth < DEEPEST; i++) {
        put_node(c, children[i].node, depth);
        put_children(c, children[i].node, depth + 1);
    }
}

static void put_tree(struct call_tree *c) {
    struct output *to = c->print->to;
    c->samples[0] = (double)c->print->d->rows[0].base_samples;
    c->samples[1] = (double)c->print->d->rows[0].new_samples;
    find_largest(c);
    out_text(to, "\n# call tree, with callees, in percent of each side; cut where nothing changed\n"
                 "#   base      new    delta  function\n");
    if (c->largest[0] > 0)
        put_children(c, 0, 0);
    else
        out_text(to, "# no node changed by at least 0.05 points and more than twice its counting error\n");
}

pfr_status diff_call_tree_print(const struct diff_print *print, pfr_error *err) {
    struct call_tree c = {.print = print};
    pfr_status st = diff_tree_make(&c.tree, print->d, false, print->memory, err);
    const size_t count = c.tree.count;
    c.largest = st < 0 ? NULL : mem_zeroed(print->memory, count, sizeof *c.largest);
    if (c.largest)
        put_tree(&c);
    else if (st >= 0)
        st = mem_fail(print->memory, err, "tree");
    mem_free(print->memory, c.largest, count, sizeof *c.largest);
    diff_tree_free(&c.tree);
    return st;
}

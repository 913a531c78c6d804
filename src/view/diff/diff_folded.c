/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of both sides with two counts: "main;parse 12 17", which flamegraph.pl shows as a difference. */
#include "view/diff/diff_view.h"

#include "base/text/escape.h"
#include "model/diff/diff_tree.h"

/* Writes a name for a folded line. A semicolon in the name becomes a colon, because semicolons separate frames. */
static void put_frame(const pfr_diff *d, uint32_t row, struct output *to) {
    const struct diff_row_key *key = &d->keys[row];
    const bool unnamed = strcmp(key->symbol, "[unknown]") == 0 && *key->object;
    const char *name = unnamed ? key->object : key->symbol;
    const bool bracket = unnamed && name[0] != '[';
    if (bracket)
        out_char(to, '[');
    for (const char *semicolon; (semicolon = strchr(name, ';')) != NULL; name = semicolon + 1) {
        out_escaped(to, name, (size_t)(semicolon - name));
        out_char(to, ':');
    }
    out_escaped(to, name, strlen(name));
    if (bracket)
        out_char(to, ']');
}

static void put_path(const struct diff_print *print, const struct diff_tree *tree, uint32_t node, uint32_t *path) {
    size_t depth = 0;
    for (uint32_t at = node; at; at = tree->nodes[at].parent)
        path[depth++] = tree->nodes[at].row;
    while (depth-- > 0) {
        put_frame(print->d, path[depth], print->to);
        out_char(print->to, depth ? ';' : ' ');
    }
}

static size_t deepest(const struct diff_tree *tree, uint32_t *depths) {
    size_t most = 1;
    depths[0] = 0;
    for (size_t i = 1; i < tree->count; i++) {
        depths[i] = depths[tree->nodes[i].parent] + 1;
        most = depths[i] > most ? depths[i] : most;
    }
    return most;
}

static void put_nodes(const struct diff_print *print, const struct diff_tree *tree, uint32_t *path) {
    for (size_t i = 1; i < tree->count; i++) {
        const struct diff_node *n = &tree->nodes[i];
        if (n->self[0] == 0 && n->self[1] == 0)
            continue;
        put_path(print, tree, (uint32_t)i, path);
        out_u64(print->to, (uint64_t)n->self[0]);
        out_char(print->to, ' ');
        out_u64(print->to, (uint64_t)n->self[1]);
        out_char(print->to, '\n');
    }
}

pfr_status diff_print_folded(const struct diff_print *print, pfr_error *err) {
    struct memory *memory = print->memory;
    struct diff_tree tree;
    pfr_status st = diff_tree_make(&tree, print->d, true, memory, err);
    uint32_t *depths = st < 0 ? NULL : mem_alloc(memory, tree.count, sizeof *depths);
    const size_t most = depths ? deepest(&tree, depths) : 0;
    uint32_t *path = depths ? mem_alloc(memory, most, sizeof *path) : NULL;
    if (path)
        put_nodes(print, &tree, path);
    else if (st >= 0)
        st = mem_fail(memory, err, "tree");
    mem_free(memory, path, most, sizeof *path);
    mem_free(memory, depths, tree.count, sizeof *depths);
    diff_tree_free(&tree);
    return st;
}

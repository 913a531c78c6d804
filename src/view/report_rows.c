/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves to rows: names last, once. Each distinct (object, offset) is looked up once, object by object, so that an
 * object is opened once; leaves whose texts are equal become one row.
 */
#include "view/report_parts.h"

#include "base/fail.h"
#include "model/address_names.h"

#include <stdio.h>
#include <stdlib.h>

#define UNKNOWN "[unknown]"

struct naming {
    struct report *report;
    struct address_names names;
    uint32_t object; /* the one at hand */
};

/* The symbol as people write it, or its address in `made`. Objects come one after the other: one is open at a time. */
static pfr_status leaf_name(struct naming *n, const struct leaf *leaf, char made[24], const char **text,
                            pfr_error *err) {
    struct address_name name;
    if (n->object != leaf->object)
        address_names_forget(&n->names, n->object);
    n->object = leaf->object;
    PFR_TRY(address_names_find(&n->names, leaf->object, leaf->offset, leaf->offset, &name, err));
    if (!name.text)
        snprintf(made, 24, "0x%016llx", (unsigned long long)leaf->offset);
    *text = name.text ? name.text : made;
    return PFR_OK;
}

/* "[.] main", "[k] schedule", or the address where there is no name: as perf prints it. */
static pfr_status symbol_text(struct naming *n, const struct leaf *leaf, uint32_t *text, pfr_error *err) {
    struct state *s = &n->report->state;
    struct memory *memory = n->report->memory;
    const uint8_t kind = leaf->object == NO_OBJECT ? OBJECT_OTHER : s->objects.at[leaf->object].kind;
    const bool kernel = kind == OBJECT_KERNEL || kind == OBJECT_MODULE;
    char made[24];
    const char *name = NULL;
    PFR_TRY(leaf_name(n, leaf, made, &name, err));
    const size_t length = strlen(name);
    char *whole = mem_alloc(memory, length + 4, 1);
    if (!whole)
        return mem_fail(memory, err, "symbol");
    memcpy(whole, kernel ? "[k] " : "[.] ", 4);
    memcpy(whole + 4, name, length);
    const pfr_status st = intern_put(&s->names, whole, length + 4, text, err);
    mem_free(memory, whole, length + 4, 1);
    return st;
}

static pfr_status number_text(struct report *r, uint32_t number, uint32_t *text, pfr_error *err) {
    char made[16];
    const int length = snprintf(made, sizeof made, "%d", (int)number);
    return intern_put(&r->state.names, made, (size_t)length, text, err);
}

static pfr_status name_leaf(struct naming *n, const struct leaf *leaf, struct row *row, pfr_error *err) {
    struct report *r = n->report;
    if (r->wants[KEY_COMM])
        row->text[KEY_COMM] = leaf->comm;
    if (r->wants[KEY_DSO] && leaf->object == NO_OBJECT)
        PFR_TRY(intern_put(&r->state.names, UNKNOWN, strlen(UNKNOWN), &row->text[KEY_DSO], err));
    else if (r->wants[KEY_DSO])
        row->text[KEY_DSO] = r->state.objects.at[leaf->object].short_name;
    if (r->wants[KEY_PID])
        PFR_TRY(number_text(r, leaf->pid, &row->text[KEY_PID], err));
    if (r->wants[KEY_TID])
        PFR_TRY(number_text(r, leaf->tid, &row->text[KEY_TID], err));
    return r->wants[KEY_SYM] ? symbol_text(n, leaf, &row->text[KEY_SYM], err) : PFR_OK;
}

static int by_object(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const struct leaf *x = (const void *)intern_get(&r->leaves.keys, *(const uint32_t *)a).bytes;
    const struct leaf *y = (const void *)intern_get(&r->leaves.keys, *(const uint32_t *)b).bytes;
    struct leaf p, q;
    memcpy(&p, x, sizeof p);
    memcpy(&q, y, sizeof q);
    if (p.object != q.object)
        return p.object < q.object ? -1 : 1;
    return (p.offset > q.offset) - (p.offset < q.offset);
}

static pfr_status name_leaves(struct report *r, const uint32_t *leaves, pfr_error *err) {
    const struct address_names_options how = {
        .symfs = r->options->symfs, .kallsyms = r->options->kallsyms, .none = r->options->no_symbols};
    struct naming n = {.report = r, .object = NO_OBJECT};
    pfr_status st = PFR_OK;
    address_names_init(&n.names, &r->state, r->memory, &how);
    for (uint32_t i = 0; i < r->leaves.keys.count && st >= 0; i++) {
        struct leaf leaf;
        memcpy(&leaf, intern_get(&r->leaves.keys, leaves[i]).bytes, sizeof leaf);
        struct row row = {.event = leaf.event};
        st = name_leaf(&n, &leaf, &row, err);
        if (st >= 0)
            st = tally_add(&r->rows, &row, sizeof row, r->leaves.counts[leaves[i]], err);
    }
    address_names_free(&n.names);
    return st;
}

/* By event, then heaviest first, then by text, so that the order never depends on how rows came about. */
static int by_weight(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    struct row x, y;
    memcpy(&x, intern_get(&r->rows.keys, i).bytes, sizeof x);
    memcpy(&y, intern_get(&r->rows.keys, j).bytes, sizeof y);
    if (x.event != y.event)
        return x.event < y.event ? -1 : 1;
    if (r->rows.counts[i].weight != r->rows.counts[j].weight)
        return r->rows.counts[i].weight > r->rows.counts[j].weight ? -1 : 1;
    for (unsigned k = 0; k < r->nr_sort; k++) {
        const int order = strcmp(intern_chars(&r->state.names, x.text[r->sort[k]]),
                                 intern_chars(&r->state.names, y.text[r->sort[k]]));
        if (order)
            return order;
    }
    return 0;
}

static uint32_t *make_order(struct report *r, uint32_t count, int (*compare)(const void *, const void *, void *)) {
    uint32_t *order = mem_alloc(r->memory, count, sizeof *order);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, compare, r);
    return order;
}

pfr_status report_rows(struct report *r, pfr_error *err) {
    const uint32_t count = r->leaves.keys.count;
    uint32_t *leaves = make_order(r, count, by_object);
    if (!leaves)
        return mem_fail(r->memory, err, "report");
    const pfr_status st = name_leaves(r, leaves, err);
    mem_free(r->memory, leaves, count, sizeof *leaves);
    PFR_TRY(st);
    r->order = make_order(r, r->rows.keys.count, by_weight);
    return r->order ? PFR_OK : mem_fail(r->memory, err, "report");
}

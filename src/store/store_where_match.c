/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions for uploads and rows: see store_where.h. */
#include "store/store_where.h"

#include <fnmatch.h>
#include <string.h>

/* Facts about a row. NULL members, and `time` if `timed` is false, are not known yet. */
struct facts {
    const struct store_upload *upload;
    const char *event, *comm;
    uint64_t time;
    bool timed;
};

static const char *text_of(enum where_name name, const struct facts *f) {
    switch (name) {
    case WHERE_SERVICE:
        return f->upload->service;
    case WHERE_VERSION:
        return f->upload->version;
    case WHERE_HOST:
        return f->upload->host;
    case WHERE_UPLOAD:
        return f->upload->content;
    case WHERE_KIND:
        return f->upload->kind;
    case WHERE_EVENT:
        return f->event;
    default:
        return f->comm;
    }
}

/* Samples without a time match every time. */
static bool time_fits(const struct where_node *n, uint64_t time) {
    if (time == 0)
        return true;
    switch (n->op) {
    case WHERE_LESS:
        return time < n->time;
    case WHERE_LESS_EQUAL:
        return time <= n->time;
    case WHERE_GREATER:
        return time > n->time;
    default:
        return time >= n->time;
    }
}

static enum where_value test(const struct where *w, const struct where_node *n, const struct facts *f) {
    if (n->name == WHERE_TIME)
        return f->timed ? (enum where_value)time_fits(n, f->time) : WHERE_DEPENDS;
    const char *const text = text_of(n->name, f), *const value = w->texts + n->text;
    if (!text)
        return WHERE_DEPENDS;
    const bool fits = n->op == WHERE_EQUAL ? strcmp(text, value) == 0 : fnmatch(value, text, 0) == 0;
    return fits ? WHERE_YES : WHERE_NO;
}

/* Operands have smaller numbers than their operators, so no recursion is needed. */
static enum where_value evaluate(const struct where *w, const struct facts *f) {
    enum where_value values[WHERE_NODES] = {WHERE_DEPENDS};
    if (w->all)
        return WHERE_YES;
    for (uint32_t i = 0; i <= w->root; i++) {
        const struct where_node *n = &w->nodes[i];
        const enum where_value a = values[n->left <= i ? n->left : 0], b = values[n->right <= i ? n->right : 0];
        if (n->kind == WHERE_TEST)
            values[i] = test(w, n, f);
        else if (n->kind == WHERE_NOT)
            values[i] = a == WHERE_DEPENDS ? a : a == WHERE_YES ? WHERE_NO : WHERE_YES;
        else if (n->kind == WHERE_AND)
            values[i] = a == WHERE_NO || b == WHERE_NO ? WHERE_NO : a == WHERE_YES ? b : a;
        else
            values[i] = a == WHERE_YES || b == WHERE_YES ? WHERE_YES : a == WHERE_NO ? b : a;
    }
    return values[w->root];
}

bool where_names(const struct where *w, enum where_name name) {
    for (uint32_t i = 0; i < w->count; i++)
        if (w->nodes[i].kind == WHERE_TEST && w->nodes[i].name == name)
            return true;
    return false;
}

enum where_value where_of_upload(const struct where *w, const struct store_upload *u) {
    uint64_t first, last;
    where_times(w, &first, &last);
    const enum where_value value = evaluate(w, &(struct facts){.upload = u});
    const bool outside = u->first && (u->last < first || u->first > last);
    return value == WHERE_DEPENDS && outside ? WHERE_NO : value;
}

bool where_of_row(const struct where *w, const struct store_upload *u, uint64_t time, const char *event,
                  const char *comm) {
    return evaluate(w, &(struct facts){u, event, comm, time, true}) == WHERE_YES;
}

/* Whether no day of the upload has slots on both sides of the time `at`. Slots begin at u->first, at intervals of
   u->slot. Compares the first slot that is not before `at` with the slot that precedes it. True if the two are on
   different days, or if the upload has only one of them. */
static bool parts_days(const struct store_upload *u, uint64_t at) {
    if (!u->slot || at <= u->first || at >= u->last)
        return true;
    const uint64_t left = (at - u->first) % u->slot, begin = left ? at - left + u->slot : at;
    return begin >= u->last || (begin - u->slot) / DAY_NS != begin / DAY_NS;
}

bool where_is_daily(const struct where *w, const struct store_upload *u) {
    for (uint32_t i = 0; !w->all && i < w->count; i++) {
        const struct where_node *n = &w->nodes[i];
        const bool after = n->op == WHERE_GREATER || n->op == WHERE_LESS_EQUAL; /* for these, the result changes after
                                                                                   n->time */
        if (n->kind == WHERE_TEST && n->name == WHERE_TIME && n->time < UINT64_MAX && !parts_days(u, n->time + after))
            return false;
    }
    return true;
}

struct bounds {
    uint64_t first, last;
};

static struct bounds of_test(const struct where_node *n) {
    if (n->name != WHERE_TIME)
        return (struct bounds){0, UINT64_MAX};
    const uint64_t before = n->time ? n->time - 1 : 0, after = n->time < UINT64_MAX ? n->time + 1 : n->time;
    return n->op == WHERE_LESS         ? (struct bounds){0, before}
           : n->op == WHERE_LESS_EQUAL ? (struct bounds){0, n->time}
           : n->op == WHERE_GREATER    ? (struct bounds){after, UINT64_MAX}
                                       : (struct bounds){n->time, UINT64_MAX};
}

/* Sets the smallest range that includes all times that can match. The range of a `not` is unlimited. */
void where_times(const struct where *w, uint64_t *first, uint64_t *last) {
    struct bounds at[WHERE_NODES];
    *first = 0;
    *last = UINT64_MAX;
    for (uint32_t i = 0; !w->all && i <= w->root; i++) {
        const struct where_node *n = &w->nodes[i];
        at[i] = n->kind == WHERE_TEST ? of_test(n) : (struct bounds){0, UINT64_MAX};
        if (n->kind != WHERE_AND && n->kind != WHERE_OR)
            continue;
        const struct bounds a = at[n->left], b = at[n->right];
        const bool narrow = n->kind == WHERE_AND;
        at[i].first = (a.first > b.first) == narrow ? a.first : b.first;
        at[i].last = (a.last < b.last) == narrow ? a.last : b.last;
    }
    if (!w->all) {
        *first = at[w->root].first;
        *last = at[w->root].last;
    }
}

/* Looks for a test of the service that every match must pass. Every match must pass the root and, if it must pass an
   `and`, both operands of the `and`. The loop goes downwards, because operators have greater numbers than operands. */
const char *where_service(const struct where *w) {
    bool needed[WHERE_NODES] = {false};
    if (w->all)
        return NULL;
    needed[w->root] = true;
    for (uint32_t i = w->root + 1; i-- > 0;) {
        const struct where_node *n = &w->nodes[i];
        if (!needed[i])
            continue;
        if (n->kind == WHERE_TEST && n->name == WHERE_SERVICE && n->op == WHERE_EQUAL)
            return w->texts + n->text;
        if (n->kind == WHERE_AND)
            needed[n->left] = needed[n->right] = true;
    }
    return NULL;
}

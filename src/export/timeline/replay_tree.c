/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the calls of a thread as an indented tree. Calls are ordered by entry and have a depth, so the calls inside
 * call i follow it, up to the next call that is not deeper. Equal adjacent subtrees are merged, outer ones first: the
 * durations of a repetition are added to those of the first subtree, call by call.
 */
#include "export/rows/row_sinks.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"
#include "base/text/text.h"

#include <perfray/replay.h>

struct replayed {
    uint64_t duration;
    uint32_t symbol, depth;
    uint32_t end;     /* index after the last call inside it */
    uint32_t repeats; /* 0: this is a repetition and is not printed */
    bool open;
};

struct replay {
    struct replayed *at;
    size_t count, room;
    uint32_t *open; /* by depth: calls that are not closed yet */
    size_t open_room;
    bool *wanted, *unwanted; /* by symbol; NULL: no list was given */
    size_t nr_symbols;
    struct pfr_output *to;
};

/* --- Selection. */

static pfr_status mark_symbols(struct rows *r, const char *list, bool **to, pfr_error *err) {
    struct replay *p = r->state;
    p->nr_symbols = (size_t)pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    if (!list)
        return PFR_OK;
    *to = mem_zeroed(r->memory, p->nr_symbols, sizeof **to);
    if (!*to)
        return mem_fail(r->memory, err, "replay");
    for (uint32_t id = 1; id < p->nr_symbols; id++) {
        const struct intern_text name = rows_symbol(r, id);
        (*to)[id] = list_has(list, (const char *)name.bytes, name.length);
    }
    return PFR_OK;
}

/* `from`: depth of the call whose subtree is being printed; `until`: depth of the call whose subtree is being left out;
   UINT32_MAX: there is no such call. */
struct levels {
    uint32_t from, until;
};

static bool is_shown(const struct rows *r, struct levels *l, const struct row_call *c) {
    const struct replay *p = r->state;
    const pfr_replay_options *how = r->own;
    const bool open = c->flags & PFR_CALL_OPEN;
    if (l->until != UINT32_MAX && c->depth > l->until)
        return false;
    l->until = UINT32_MAX;
    if ((p->unwanted && p->unwanted[c->symbol]) || (how->min_duration && (open || c->duration < how->min_duration))) {
        l->until = c->depth;
        return false;
    }
    if (l->from != UINT32_MAX && c->depth <= l->from)
        l->from = UINT32_MAX;
    if (l->from == UINT32_MAX && (!p->wanted || p->wanted[c->symbol]))
        l->from = c->depth;
    return l->from != UINT32_MAX && (!how->depth || c->depth - l->from < how->depth);
}

static pfr_status take_call(struct rows *r, struct levels *levels, const struct row_call *c, pfr_error *err) {
    struct replay *p = r->state;
    if (!is_shown(r, levels, c))
        return PFR_OK;
    struct replayed *grown = mem_grow(r->memory, p->at, p->count, &p->room, 1024, sizeof *grown);
    if (!grown)
        return mem_fail(r->memory, err, "replay");
    p->at = grown;
    p->at[p->count++] = (struct replayed){.duration = c->duration,
                                          .symbol = c->symbol,
                                          .depth = c->depth - levels->from,
                                          .repeats = 1,
                                          .open = c->flags & PFR_CALL_OPEN};
    return PFR_OK;
}

static pfr_status take(struct rows *r, struct row_calls *calls, pfr_error *err) {
    struct levels levels = {UINT32_MAX, UINT32_MAX};
    const struct row_call *c;
    ((struct replay *)r->state)->count = 0;
    pfr_status st = row_calls_begin(calls, err);
    while (st >= 0 && (st = row_calls_next(calls, &c, err)) == PFR_OK)
        st = take_call(r, &levels, c, err);
    return st < 0 ? st : PFR_OK;
}

/* --- Merging. */

static void find_ends(struct replay *p) {
    for (size_t i = p->count; i-- > 0;) {
        size_t end = i + 1;
        while (end < p->count && p->at[end].depth > p->at[i].depth)
            end = p->at[end].end;
        p->at[i].end = (uint32_t)end;
    }
}

static bool are_equal(const struct replay *p, uint32_t one, uint32_t other) {
    const uint32_t size = p->at[one].end - one;
    if (other >= p->count || p->at[other].depth != p->at[one].depth || p->at[other].end - other != size)
        return false;
    for (uint32_t i = 0; i < size; i++)
        if (p->at[one + i].symbol != p->at[other + i].symbol || p->at[one + i].depth != p->at[other + i].depth ||
            p->at[one + i].open || p->at[other + i].open)
            return false;
    return true;
}

static void add(struct replay *p, uint32_t first, uint32_t other) {
    const uint32_t size = p->at[first].end - first;
    for (uint32_t i = 0; i < size; i++) {
        p->at[first + i].duration = capped_sum(p->at[first + i].duration, p->at[other + i].duration);
        p->at[other + i].repeats = 0;
    }
    p->at[first].repeats++;
}

static void merge(struct replay *p) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->at[i].repeats)
            continue;
        for (uint32_t next = p->at[i].end; are_equal(p, i, next); next = p->at[next].end)
            add(p, i, next);
    }
}

/* --- Printing. */

static void put_duration(struct rows *r, const struct replayed *c) {
    static const struct {
        uint64_t below, unit;
        const char *name;
    } units[] = {{1000000, 1000, " us "}, {1000000000, 1000000, " ms "}, {UINT64_MAX, 1000000000, "  s "}};
    size_t i = 0;
    if (c->open) {
        out_pad(r->out, 14);
        return;
    }
    if (pfr_model_ticks(r->model)) {
        out_u64_wide(r->out, c->duration, 13);
        out_char(r->out, ' ');
        return;
    }
    while (c->duration >= units[i].below && units[i].below != UINT64_MAX)
        i++;
    const uint64_t unit = units[i].unit;
    char digits[4] = {'.'};
    format_digits(digits + 1, (uint32_t)(c->duration % unit / (unit / 1000)), 3);
    out_u64_wide(r->out, c->duration / unit, 6);
    out_write(r->out, digits, sizeof digits);
    out_text(r->out, units[i].name);
}

static void put_start(struct rows *r, uint32_t tid, const struct replayed *c, bool has_duration) {
    if (has_duration)
        put_duration(r, c);
    else
        out_pad(r->out, 14);
    out_char(r->out, '[');
    out_u64_wide(r->out, tid, 6);
    out_text(r->out, "] | ");
    out_fill(r->out, ' ', (size_t)c->depth * 2);
}

static void put_name(struct rows *r, uint32_t symbol) {
    const struct replay *p = r->state;
    const struct intern_text name = rows_symbol(r, symbol);
    print_name(p->to, name.bytes, name.length);
}

static void put_repeats(struct rows *r, const struct replayed *c) {
    if (c->repeats > 1) {
        out_text(r->out, " x");
        out_u64(r->out, c->repeats);
    }
    out_char(r->out, '\n');
}

static void close_call(struct rows *r, uint32_t tid, const struct replayed *c) {
    put_start(r, tid, c, true);
    out_text(r->out, c->open ? "} // unfinished: " : "} // ");
    put_name(r, c->symbol);
    put_repeats(r, c);
}

static pfr_status open_call(struct rows *r, uint32_t tid, uint32_t number, size_t *depth, pfr_error *err) {
    struct replay *p = r->state;
    const struct replayed *c = &p->at[number];
    const bool has_callees = c->end > number + 1;
    put_start(r, tid, c, !has_callees);
    put_name(r, c->symbol);
    out_text(r->out, has_callees ? "() {\n" : c->open ? "(); // unfinished" : "();");
    if (!has_callees) {
        put_repeats(r, c);
        return PFR_OK;
    }
    uint32_t *grown = mem_grow(r->memory, p->open, *depth, &p->open_room, 64, sizeof *grown);
    if (!grown)
        return mem_fail(r->memory, err, "replay");
    p->open = grown;
    p->open[(*depth)++] = number;
    return PFR_OK;
}

static pfr_status put_tree(struct rows *r, uint32_t tid, pfr_error *err) {
    struct replay *p = r->state;
    size_t depth = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        while (depth > 0 && p->at[p->open[depth - 1]].end <= i)
            close_call(r, tid, &p->at[p->open[--depth]]);
        if (!p->at[i].repeats)
            i = p->at[i].end - 1;
        else
            PFR_TRY(open_call(r, tid, i, &depth, err));
    }
    while (depth > 0)
        close_call(r, tid, &p->at[p->open[--depth]]);
    return r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

static pfr_status put_thread(struct rows *r, struct row_calls *calls, pfr_error *err) {
    const pfr_replay_options *how = r->own;
    struct replay *p = r->state;
    PFR_TRY(take(r, calls, err));
    find_ends(p);
    if (!how->each)
        merge(p);
    return put_tree(r, rows_tid(r, calls->thread), err);
}

static pfr_status write_replay(struct rows *r, pfr_error *err) {
    const pfr_replay_options *how = r->own;
    struct replay *p = r->state;
    p->to = r->to;
    if (!r->is_traced)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "replay",
                        "a recording of samples has no calls; perfray script prints its samples in time order");
    PFR_TRY(mark_symbols(r, how->functions, &p->wanted, err));
    PFR_TRY(mark_symbols(r, how->without, &p->unwanted, err));
    out_text(r->out,
             pfr_model_ticks(r->model) ? "#       TICKS      TID | FUNCTION\n" : "#  DURATION       TID | FUNCTION\n");
    return rows_each_thread(r, put_thread, err);
}

static void clear(struct rows *r) {
    struct replay *p = r->state;
    mem_free(r->memory, p->at, p->room, sizeof *p->at);
    mem_free(r->memory, p->open, p->open_room, sizeof *p->open);
    mem_free(r->memory, p->wanted, p->wanted ? p->nr_symbols : 0, sizeof *p->wanted);
    mem_free(r->memory, p->unwanted, p->unwanted ? p->nr_symbols : 0, sizeof *p->unwanted);
}

static const struct row_sink sink_replay = {
    .format = {.name = "replay", .suffix = "", .about = "", .reader = "", .losses = ""},
    .no_marks = true,
    .state_size = sizeof(struct replay),
    .write = write_replay,
    .clear = clear,
};

pfr_status pfr_replay(pfr_reader *reader, const pfr_replay_options *given, pfr_output *out, pfr_error *err) {
    pfr_replay_options how = {.size = sizeof how};
    if (given)
        memcpy(&how, given, given->size < sizeof how ? given->size : sizeof how);
    const pfr_export_options options = {.size = sizeof options, .of = how.of};
    return rows_run(&sink_replay, reader, &options, &how, out, err);
}

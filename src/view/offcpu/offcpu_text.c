/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the tree as text: each thread with its wall time by state, below this line the places where the thread waited,
 * and below each wait the threads that ended the wait.
 *
 *     reader/1371 of 1368: wall 205ms
 *         running 1.20ms 1%, runnable 8.10ms 4%, blocked 196ms 95%
 *       63.2ms  48%     20x  4.9ms pipe     wait_pipe:18 <- reader:22
 *                ended by writer/1372: writer:23
 */
#include "view/offcpu/offcpu_text.h"
#include "view/offcpu/offcpu_chain.h"

#include "base/memory/fail.h"
#include "base/text/text.h"
#include "view/offcpu/offcpu_rows.h"
#include "view/offcpu/offcpu_stacks.h"
#include "view/offcpu/offcpu_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WHERE_AT 41u /* column of call chains */
#define WAKER_AT 13u /* column of wakers, whose names and times need room beside their chains */

/* Waits shown in one line, or the waits that one waker ended. */
struct item {
    struct offcpu_sum sum;
    uint32_t program, waker, waker_program;
    uint8_t state, reason, waker_kind;
    uint8_t lock; /* enum lock_kind of a lock of the program; otherwise LOCK_UNKNOWN */
    bool slept;   /* no event mentions the thread, so there is neither a stack nor a waker */
};

struct items {
    struct item *at;
    size_t count, room;
};

/* --- Sums of a thread to items. */

static void add_sum(struct offcpu_sum *to, const struct offcpu_sum *sum) {
    to->ns += sum->ns;
    to->count += sum->count;
    to->max = sum->max > to->max ? sum->max : to->max;
}

static int compare_place(const struct item *x, const struct item *y) {
    const uint32_t keys[][2] = {
        {x->state, y->state}, {x->reason, y->reason}, {x->lock, y->lock}, {x->program, y->program}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static int compare_waker(const struct item *x, const struct item *y) {
    if (x->waker != y->waker)
        return x->waker > y->waker ? 1 : -1;
    if (x->waker_kind != y->waker_kind)
        return x->waker_kind > y->waker_kind ? 1 : -1;
    return (x->waker_program > y->waker_program) - (x->waker_program < y->waker_program);
}

static int by_place(const void *a, const void *b) {
    const int order = compare_place(a, b);
    return order ? order : compare_waker(a, b);
}

static int by_time(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->sum.ns != y->sum.ns)
        return x->sum.ns < y->sum.ns ? 1 : -1;
    return by_place(a, b);
}

static struct item item_of(struct offcpu *o, uint32_t number) {
    const struct offcpu_key key = o->sums.rows[number].key;
    struct item item = {
        .sum = o->sums.rows[number].sum, .state = key.state, .waker = NO_THREAD, .reason = key.reason, .waker_kind = 0};
    if (key.state != OFFCPU_BLOCKED)
        return item;
    item.program = offcpu_program(o, key.stack);
    const uint8_t lock = offcpu_stack_facts(o, key.stack)->lock;
    item.lock = key.reason == WAIT_LOCK && lock != LOCK_KERNEL ? lock : (uint8_t)LOCK_UNKNOWN;
    item.waker = key.waker;
    item.waker_kind = key.waker_kind;
    item.waker_program = offcpu_program(o, key.waker_stack);
    return item;
}

/* Merges equal neighbours into one. */
static size_t merge(struct item *at, size_t count, int (*compare)(const struct item *, const struct item *)) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && compare(&at[kept - 1], &at[i]) == 0)
            add_sum(&at[kept - 1].sum, &at[i].sum);
        else
            at[kept++] = at[i];
    return kept;
}

static int compare_all(const struct item *x, const struct item *y) {
    return by_place(x, y);
}

static pfr_status collect(struct offcpu *o, const uint32_t *order, size_t count, struct items *to, pfr_error *err) {
    to->count = 0;
    if (2 * count > to->room) { /* write_groups needs the second half for its groups */
        mem_free(o->memory, to->at, to->room, sizeof *to->at);
        to->room = 0;
        to->at = mem_alloc(o->memory, 2 * count, sizeof *to->at);
        if (!to->at)
            return mem_fail(o->memory, err, "waits");
        to->room = 2 * count;
    }
    for (size_t i = 0; i < count; i++)
        to->at[to->count++] = item_of(o, order[i]);
    if (to->count)
        qsort(to->at, to->count, sizeof *to->at, by_place);
    to->count = merge(to->at, to->count, compare_all);
    return PFR_OK;
}

/* --- Lines. */

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "writer/1372 of 1368", "sh/1368, 2 threads" or "cgroup /user.slice, 7 threads". */
static void write_who(const struct offcpu *o, uint32_t thread, pfr_output *out) {
    const struct offcpu_thread *t = &o->threads[thread];
    char name[128];
    if (t->cgroup) {
        out_text(&out->out, *t->cgroup ? "cgroup " : "no cgroup id");
        print_name(out, t->cgroup, strlen(t->cgroup));
    } else {
        offcpu_thread_text(o, out, thread, name, sizeof name);
        out_text(&out->out, name);
    }
    if (o->options->by != PFR_OFFCPU_BY_THREAD)
        offcpu_printf(out, ", %" PRIu32 " thread%s", t->members, t->members == 1 ? "" : "s");
    else if (t->pid != t->tid)
        offcpu_printf(out, " of %" PRIu32, t->pid);
}

static void write_head(const struct offcpu *o, uint32_t thread, pfr_output *out) {
    const struct offcpu_thread *t = &o->threads[thread];
    char wall[TEXT_TIME_SIZE], part[TEXT_TIME_SIZE];
    const uint64_t all = offcpu_wall(t);
    format_duration(wall, all);
    write_who(o, thread, out);
    offcpu_printf(out, ": wall %s\n ", wall);
    for (unsigned s = 0; s < OFFCPU_STATES; s++) {
        if (!t->state[s] && s == OFFCPU_UNKNOWN)
            continue;
        format_duration(part, t->state[s]);
        offcpu_printf(out, "%s %s %s %.0f%%", s ? " +" : " =", offcpu_state_name((enum offcpu_state)s), part,
                      percent(t->state[s], all));
    }
    out_char(&out->out, '\n');
}

/* Returns the kind of lock if it is known, and otherwise the reason: a wait on a condition variable is more often a
   wait for work than for a lock. */
static const char *word_of(const struct item *item) {
    if (item->state != OFFCPU_BLOCKED)
        return "cpu";
    return item->lock != LOCK_UNKNOWN ? lock_kind_name((enum lock_kind)item->lock)
                                      : wait_reason_name((enum wait_reason)item->reason);
}

static void write_wait(const struct offcpu *o, const struct item *item, uint64_t wall, pfr_output *out) {
    char total[TEXT_TIME_SIZE], longest[TEXT_TIME_SIZE], chain[OFFCPU_CHAIN_ROOM];
    const bool waited = item->state == OFFCPU_BLOCKED;
    format_duration(total, item->sum.ns);
    format_duration(longest, item->sum.max);
    if (waited)
        offcpu_chain(o, out, item->program, offcpu_room(out, WHERE_AT), OFFCPU_FRAMES_MOST, chain);
    else
        snprintf(chain, sizeof chain, "waiting for a cpu");
    offcpu_printf(out, "%8s %3.0f%% %6" PRIu64 "x  %7s  %-9s %s\n", total, percent(item->sum.ns, wall), item->sum.count,
                  longest, word_of(item), chain);
}

static void write_waker(const struct offcpu *o, const struct item *item, uint64_t of, pfr_output *out) {
    char name[128], chain[OFFCPU_CHAIN_ROOM];
    char part[TEXT_TIME_SIZE];
    if (item->waker == NO_THREAD)
        return;
    format_duration(part, item->sum.ns);
    offcpu_thread_text(o, out, item->waker, name, sizeof name);
    char head[sizeof name + sizeof part + 16];
    snprintf(head, sizeof head, item->sum.ns != of ? "ended by %s (%s): " : "ended by %s: ", name, part);
    offcpu_chain(o, out, item->waker_program, offcpu_room(out, WAKER_AT + (unsigned)strlen(head)), OFFCPU_FRAMES_MOST,
                 chain);
    out_pad(&out->out, WAKER_AT);
    offcpu_printf(out, "%s%s\n", head, chain);
}

/* Prints the waits by place. Items of the same place are adjacent; groups are printed by decreasing time, each followed
   by its wakers by decreasing time. */
static void write_groups(struct offcpu *o, struct items *items, uint64_t wall, pfr_output *out) {
    struct item *all = items->at, *groups = items->at + items->room / 2;
    size_t nr_groups = items->count;
    uint64_t hidden_ns = 0, hidden = 0;
    memcpy(groups, all, items->count * sizeof *all);
    nr_groups = merge(groups, items->count, compare_place);
    qsort(groups, nr_groups, sizeof *groups, by_time);
    qsort(all, items->count, sizeof *all, by_time);
    for (size_t g = 0; g < nr_groups; g++) {
        if (groups[g].state != OFFCPU_BLOCKED && groups[g].state != OFFCPU_RUNNABLE)
            continue;
        if (percent(groups[g].sum.ns, wall) < o->options->percent_limit) {
            hidden_ns += groups[g].sum.ns;
            hidden += groups[g].sum.count;
            continue;
        }
        write_wait(o, &groups[g], wall, out);
        for (size_t i = 0; groups[g].state == OFFCPU_BLOCKED && i < items->count; i++)
            if (compare_place(&groups[g], &all[i]) == 0 && percent(all[i].sum.ns, wall) >= o->options->percent_limit)
                write_waker(o, &all[i], groups[g].sum.ns, out);
    }
    if (hidden) {
        char part[TEXT_TIME_SIZE];
        format_duration(part, hidden_ns);
        offcpu_printf(out, "%8s %3.0f%% %6" PRIu64 "x           others\n", part, percent(hidden_ns, wall), hidden);
    }
}

/* --- */

static void write_notes(const struct offcpu *o, pfr_output *out) {
    char text[OFFCPU_NOTE_ROOM];
    for (unsigned i = 0; offcpu_note(o, i, text); i++)
        offcpu_printf(out, "# %s\n", text);
    out_text(&out->out, "#\n#   time  of wall  count      max  reason    where it waited, innermost function first\n");
}

/* Whether no event mentions the thread. */
static bool slept_throughout(const struct offcpu_thread *t) {
    return t->ended == 0 && t->state[OFFCPU_RUNNING] == 0 && t->state[OFFCPU_RUNNABLE] == 0;
}

pfr_status offcpu_write_text(struct offcpu *o, pfr_output *out, pfr_error *err) {
    uint32_t *order = NULL, *first = NULL;
    struct items items = {.at = NULL};
    uint64_t sleepers = 0;
    pfr_status st = offcpu_waits_by_thread(o, &order, &first, err);
    if (st >= 0)
        write_notes(o, out);
    for (size_t i = 0; st >= 0 && i < o->shown; i++) {
        const uint32_t thread = o->thread_order[i];
        if (slept_throughout(&o->threads[thread]) && !o->options->threads) {
            sleepers++;
            continue;
        }
        st = collect(o, order + first[thread], first[thread + 1] - first[thread], &items, err);
        if (st < 0)
            break;
        out_char(&out->out, '\n');
        write_head(o, thread, out);
        if (items.count)
            write_groups(o, &items, offcpu_wall(&o->threads[thread]), out);
    }
    if (st >= 0 && sleepers)
        offcpu_printf(out, "\n%" PRIu64 " threads slept throughout (--thread NAME shows them)\n", sleepers);
    mem_free(o->memory, items.at, items.room, sizeof *items.at);
    offcpu_waits_drop(o, order, first);
    return st;
}

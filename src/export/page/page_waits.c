/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of a page: see page_waits.h. */
#include "export/page/page_waits.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "model/open/wait_stacks.h"

#include <stdlib.h>
#include <string.h>

struct summing {
    struct page_waits *waits;
    const struct page_tables *tables;
    struct intern_table keys;
    uint32_t *func_of; /* by stack id: function of the program + 2; 0: not looked up yet */
};

struct wait_key {
    uint32_t thread, waker, func, by, state, reason;
};

/* --- Keys. */

static uint32_t func_of_stack(struct summing *s, uint32_t stack) {
    if (!s->func_of[stack]) {
        struct wait_stack fact;
        wait_stack_learn(s->tables->model, stack, &fact);
        const pfr_stack *program = fact.program ? pfr_model_get_stack(s->tables->model, fact.program) : NULL;
        s->func_of[stack] = program ? s->tables->func_of_symbol[program->symbol] + 2 : 1;
    }
    return s->func_of[stack] - 1;
}

static enum page_state state_of(const pfr_interval *interval) {
    static const enum page_state states[] = {[PFR_INTERVAL_WAITING] = PAGE_BLOCKED,
                                             [PFR_INTERVAL_PREEMPTED] = PAGE_RUNNABLE,
                                             [PFR_INTERVAL_WOKEN] = PAGE_RUNNABLE,
                                             [PFR_INTERVAL_RUNNING] = PAGE_RUNNING,
                                             [PFR_INTERVAL_UNKNOWN] = PAGE_NO_STATE};
    return states[interval->kind];
}

static struct wait_key key_of(struct summing *s, const pfr_interval *interval) {
    struct wait_key key = {.thread = interval->thread, .state = state_of(interval)};
    if (key.state == PAGE_BLOCKED || key.state == PAGE_RUNNABLE)
        key.func = func_of_stack(s, interval->stack);
    if (key.state != PAGE_BLOCKED)
        return key;
    key.reason = interval->reason;
    key.waker = interval->waker;
    key.by = interval->waker ? func_of_stack(s, interval->waker_stack) : 0;
    return key;
}

/* --- Sums. */

static pfr_status find_wait(struct summing *s, const struct wait_key *key, struct page_wait **wait, pfr_error *err) {
    struct page_waits *w = s->waits;
    uint32_t number;
    PFR_TRY(intern_put(&s->keys, key, sizeof *key, &number, err));
    if (number == w->count) {
        void *grown = mem_grow(w->memory, w->at, w->count, &w->room, 256, sizeof *w->at);
        if (!grown)
            return mem_fail(w->memory, err, "waits");
        w->at = grown;
        w->at[w->count++] = (struct page_wait){.thread = key->thread,
                                               .waker = key->waker,
                                               .func = key->func,
                                               .by = key->by,
                                               .state = (uint8_t)key->state,
                                               .reason = (uint8_t)key->reason};
    }
    *wait = &w->at[number];
    return PFR_OK;
}

static pfr_status add(struct summing *s, const pfr_interval *interval, pfr_error *err) {
    const struct wait_key key = key_of(s, interval);
    const bool open = interval->open_start || interval->open_end;
    struct page_wait *wait = NULL;
    PFR_TRY(find_wait(s, &key, &wait, err));
    if (!wait->count || interval->duration > wait->longest) {
        wait->longest = interval->duration;
        wait->start = interval->start;
    }
    wait->ns += interval->duration;
    wait->open += open ? interval->duration : 0;
    wait->count++;
    s->waits->blocked += key.state == PAGE_BLOCKED && !open ? interval->duration : 0;
    return PFR_OK;
}

#define ORDER(member, x, y)                                                                                            \
    if ((x)->member != (y)->member)                                                                                    \
        return (x)->member < (y)->member ? -1 : 1;

static int by_thread_and_time(const void *a, const void *b) {
    const struct page_wait *x = a, *y = b;
    ORDER(thread, x, y)
    ORDER(ns, y, x)
    ORDER(state, x, y)
    ORDER(reason, x, y)
    ORDER(func, x, y)
    ORDER(waker, x, y)
    ORDER(by, x, y)
    return 0;
}

/* --- Groups. */

static int by_group(const void *a, const void *b) {
    const struct page_wait *x = a, *y = b;
    const uint64_t own = page_wait_closed(x), other = page_wait_closed(y);
    ORDER(reason, x, y)
    ORDER(func, x, y)
    if (own != other)
        return own > other ? -1 : 1;
    return by_thread_and_time(a, b);
}

static int largest_first(const void *a, const void *b) {
    const uint64_t x = page_wait_closed(a), y = page_wait_closed(b);
    return x != y ? (x > y ? -1 : 1) : by_group(a, b);
}

static pfr_status make_groups(struct page_waits *w, pfr_error *err) {
    struct page_wait *last = NULL;
    w->groups_room = w->count + 1;
    w->groups = mem_alloc(w->memory, w->groups_room, sizeof *w->groups);
    if (!w->groups)
        return mem_fail(w->memory, err, "waits");
    memcpy(w->groups, w->at, w->count * sizeof *w->at);
    if (w->count)
        qsort(w->groups, w->count, sizeof *w->groups, by_group);
    for (size_t i = 0; i < w->count; i++) {
        const struct page_wait one = w->groups[i];
        if (!page_wait_closed(&one))
            continue;
        if (last && last->reason == one.reason && last->func == one.func) {
            last->ns += one.ns;
            last->open += one.open;
            last->count += one.count;
        } else {
            last = &w->groups[w->nr_groups++];
            *last = one;
        }
    }
    if (w->nr_groups)
        qsort(w->groups, w->nr_groups, sizeof *w->groups, largest_first);
    return PFR_OK;
}

pfr_status page_waits_read(struct page_waits *waits, const struct page_tables *t, struct memory *memory,
                           pfr_error *err) {
    const pfr_interval *interval;
    const size_t stacks = (size_t)t->nr_stacks + 1;
    *waits = (struct page_waits){.memory = memory};
    if (!pfr_model_interval(t->model, 0))
        return PFR_OK;
    struct summing s = {.waits = waits, .tables = t, .func_of = mem_zeroed(memory, stacks, sizeof *s.func_of)};
    pfr_status st = s.func_of ? PFR_OK : mem_fail(memory, err, "waits");
    intern_init(&s.keys, memory);
    for (uint64_t i = 0; st >= 0 && (interval = pfr_model_interval(t->model, i)); i++)
        st = add(&s, interval, err);
    intern_free(&s.keys);
    mem_free(memory, s.func_of, s.func_of ? stacks : 0, sizeof *s.func_of);
    if (st >= 0 && waits->count)
        qsort(waits->at, waits->count, sizeof *waits->at, by_thread_and_time);
    return st < 0 ? st : make_groups(waits, err);
}

void page_waits_free(struct page_waits *waits) {
    mem_free(waits->memory, waits->groups, waits->groups_room, sizeof *waits->groups);
    mem_free(waits->memory, waits->at, waits->room, sizeof *waits->at);
    *waits = (struct page_waits){.at = NULL};
}

/* --- Fewer rows. */

static size_t count_smaller(const struct page_waits *w, uint64_t ns) {
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++)
        count += w->at[i].ns < ns;
    return count;
}

static bool merges(const struct page_wait *to, const struct page_wait *from) {
    return to->thread == from->thread && to->state == from->state && to->reason == from->reason;
}

static void merge(struct page_wait *to, const struct page_wait *from, uint32_t rest) {
    if (from->longest > to->longest) {
        to->longest = from->longest;
        to->start = from->start;
    }
    to->ns += from->ns;
    to->open += from->open;
    to->count += from->count;
    to->func = rest + 1;
    to->waker = to->by = 0;
}

static int by_kind(const void *a, const void *b) {
    const struct page_wait *x = a, *y = b;
    ORDER(thread, x, y)
    ORDER(state, x, y)
    ORDER(reason, x, y)
    ORDER(ns, x, y)
    return by_thread_and_time(a, b);
}

/* Merges sums below `w->least`, which are adjacent. */
static size_t merge_small(struct page_waits *w, uint32_t rest) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct page_wait one = w->at[i];
        struct page_wait *last = kept ? &w->at[kept - 1] : NULL;
        if (last && one.ns < w->least && merges(last, &one))
            merge(last, &one, rest);
        else
            w->at[kept++] = one;
    }
    return kept;
}

bool page_waits_cut(struct page_waits *w, uint32_t rest) {
    const size_t before = w->count;
    if (!before)
        return false;
    w->least = w->least ? w->least : 1;
    do
        w->least *= 2;
    while (w->least < UINT64_MAX / 2 && count_smaller(w, w->least) < before / 2);
    qsort(w->at, w->count, sizeof *w->at, by_kind);
    w->count = merge_small(w, rest);
    w->merged += before - w->count;
    qsort(w->at, w->count, sizeof *w->at, by_thread_and_time);
    return w->count < before;
}

/* --- Text. */

static void write_name(struct output *to, const char *name) {
    out_markup(to, name, strlen(name));
}

static void write_func(const struct page_tables *t, const char *before, uint32_t func, struct output *to) {
    if (!func)
        return;
    out_text(to, before);
    write_name(to, intern_chars(&t->texts, t->funcs[func - 1].name));
}

void page_wait_write(const struct page_wait *wait, const struct page_tables *t, struct output *to) {
    const pfr_model_thread *waker = wait->waker ? pfr_model_get_thread(t->model, wait->waker) : NULL;
    const char *comm = waker ? pfr_model_get_comm(t->model, waker->comm) : NULL;
    const pfr_wait_reason reason = wait->reason == PFR_WAIT_NONE ? PFR_WAIT_OTHER : (pfr_wait_reason)wait->reason;
    const bool nothing = reason == PFR_WAIT_OTHER && !wait->func;
    out_text(to, nothing ? "without a recorded reason" : pfr_wait_reason_name(reason));
    write_func(t, " in ", wait->func, to);
    if (!waker)
        return;
    out_text(to, ", ended by ");
    write_name(to, comm ? comm : "a thread");
    write_func(t, " in ", wait->by, to);
}

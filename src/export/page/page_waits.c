/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of a page: see page_waits.h. */
#include "export/page/page_waits.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "model/open/wait_stacks.h"

#include <inttypes.h>
#include <perfray/samples.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function of the program in a stack, and the reason of a wait with this stack. */
struct wait_place {
    uint32_t func, line; /* as in struct page_wait */
    uint8_t reason;      /* pfr_wait_reason, found from the stack only */
    bool in_library, is_known;
    bool is_condition; /* the stack waits for a condition variable, or signals one */
};

struct summing {
    struct page_waits *waits;
    const struct page_tables *tables;
    struct intern_table keys;
    struct wait_place *place_of; /* by stack id, looked up on first use */
};

struct wait_key {
    uint32_t thread, waker, func, by, line, state, reason, in_library, condition;
};

/* --- Keys. */

/* Returns the line of a frame if it is in the source file that the page shows for its function;
   otherwise 0. */
static uint32_t line_of(const struct page_tables *t, uint32_t func, const pfr_model_frame *frame) {
    const char *path = frame->function_file ? page_path(t, frame->function_file) : NULL;
    return path && intern_find(&t->texts, path, strlen(path)) == t->funcs[func].file ? frame->function_line : 0;
}

static struct wait_place find_place(const struct page_tables *t, uint32_t stack) {
    struct wait_stack fact;
    wait_stack_learn(t->model, stack, &fact);
    const uint8_t reason = fact.reason < WAIT_REASONS ? fact.reason : (uint8_t)WAIT_OTHER;
    struct wait_place place = {.reason = (uint8_t)(PFR_WAIT_OTHER + reason),
                               .in_library = fact.in_library,
                               .is_known = true,
                               .is_condition = fact.lock == LOCK_CONDITION};
    if (!fact.program)
        return place;
    const pfr_stack *program = pfr_model_get_stack(t->model, fact.program);
    const uint32_t func = t->func_of_symbol[program->symbol];
    place.func = func + 1;
    place.line = line_of(t, func, pfr_model_get_frame(t->model, program->frame));
    return place;
}

static const struct wait_place *place_of_stack(struct summing *s, uint32_t stack) {
    struct wait_place *place = &s->place_of[stack];
    if (!place->is_known)
        *place = find_place(s->tables, stack);
    return place;
}

static enum page_state state_of(const pfr_interval *interval) {
    static const enum page_state states[] = {[PFR_INTERVAL_WAITING] = PAGE_BLOCKED,
                                             [PFR_INTERVAL_PREEMPTED] = PAGE_RUNNABLE,
                                             [PFR_INTERVAL_WOKEN] = PAGE_RUNNABLE,
                                             [PFR_INTERVAL_RUNNING] = PAGE_RUNNING,
                                             [PFR_INTERVAL_UNKNOWN] = PAGE_NO_STATE};
    return states[interval->kind];
}

/* Either stack may lack the frame of the C library. */
static bool is_for_condition(struct summing *s, const pfr_interval *interval) {
    return place_of_stack(s, interval->stack)->is_condition ||
           (interval->waker && place_of_stack(s, interval->waker_stack)->is_condition);
}

static struct wait_key key_of(struct summing *s, const pfr_interval *interval) {
    struct wait_key key = {.thread = interval->thread, .state = state_of(interval)};
    if (key.state == PAGE_BLOCKED || key.state == PAGE_RUNNABLE) {
        const struct wait_place *place = place_of_stack(s, interval->stack);
        key.func = place->func;
        key.line = place->line;
        key.in_library = place->in_library;
    }
    if (key.state != PAGE_BLOCKED)
        return key;
    key.reason = interval->reason;
    key.waker = interval->waker;
    key.by = interval->waker ? place_of_stack(s, interval->waker_stack)->func : 0;
    key.condition = key.reason == PFR_WAIT_LOCK && is_for_condition(s, interval);
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
                                               .line = key->line,
                                               .number = number,
                                               .nr_threads = 1,
                                               .in_library = key->in_library,
                                               .is_condition = key->condition,
                                               .state = (uint8_t)key->state,
                                               .reason = (uint8_t)key->reason};
    }
    *wait = &w->at[number];
    return PFR_OK;
}

static pfr_status add(struct summing *s, const pfr_interval *interval, uint32_t *number, pfr_error *err) {
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
    *number = wait->number;
    if (key.state != PAGE_BLOCKED)
        return PFR_OK;
    s->waits->blocked += open ? 0 : interval->duration;
    wait->stacked += interval->stack ? interval->duration : 0;
    wait->library += key.in_library ? interval->duration : 0;
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
    ORDER(line, x, y)
    ORDER(is_condition, x, y)
    return 0;
}

/* --- Groups. */

static int by_group(const void *a, const void *b) {
    const struct page_wait *x = a, *y = b;
    const uint64_t own = page_wait_closed(x), other = page_wait_closed(y);
    ORDER(reason, x, y)
    ORDER(func, x, y)
    ORDER(is_condition, x, y)
    if (own != other)
        return own > other ? -1 : 1;
    return by_thread_and_time(a, b);
}

static int largest_first(const void *a, const void *b) {
    const uint64_t x = page_wait_closed(a), y = page_wait_closed(b);
    return x != y ? (x > y ? -1 : 1) : by_group(a, b);
}

/* Copies sums of waits that ended, of the threads in `only` (NULL: of all), to the groups. Returns their number. */
static size_t take_ended(struct page_waits *w, const uint8_t *only) {
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (!page_wait_closed(&w->at[i]) || (only && !only[w->at[i].thread]))
            continue;
        w->groups[count++] = w->at[i];
        w->grouped += page_wait_closed(&w->at[i]);
    }
    return count;
}

/* Merges sums of the same group, which are adjacent. `group_of` has the number of the last group of each thread. */
static void merge_groups(struct page_waits *w, size_t count, uint32_t *group_of) {
    struct page_wait *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct page_wait one = w->groups[i];
        if (last && last->reason == one.reason && last->func == one.func && last->is_condition == one.is_condition) {
            last->ns += one.ns;
            last->open += one.open;
            last->count += one.count;
            last->nr_threads += group_of[one.thread] != w->nr_groups;
        } else {
            last = &w->groups[w->nr_groups++];
            *last = one;
        }
        group_of[one.thread] = (uint32_t)w->nr_groups;
    }
}

/* Groups the waits of the recorded command if its threads waited, otherwise the waits of all
   threads. */
static pfr_status make_groups(struct page_waits *w, const struct page_tables *t, const uint8_t *of_command,
                              pfr_error *err) {
    const size_t threads = (size_t)pfr_model_count(t->model, PFR_TABLE_THREAD) + 1;
    uint32_t *group_of = mem_zeroed(w->memory, threads, sizeof *group_of);
    w->groups_room = w->count + 1;
    w->groups = mem_alloc(w->memory, w->groups_room, sizeof *w->groups);
    size_t count = 0;
    if (w->groups && group_of) {
        count = of_command ? take_ended(w, of_command) : 0;
        w->of_command = count > 0;
        count = count ? count : take_ended(w, NULL);
    }
    if (count) {
        qsort(w->groups, count, sizeof *w->groups, by_group);
        merge_groups(w, count, group_of);
        qsort(w->groups, w->nr_groups, sizeof *w->groups, largest_first);
    }
    mem_free(w->memory, group_of, group_of ? threads : 0, sizeof *group_of);
    return w->groups && group_of ? PFR_OK : mem_fail(w->memory, err, "waits");
}

/* --- Numbers of sums, which do not change when rows are sorted or merged. */

static void note_rows(struct page_waits *w) {
    for (size_t i = 0; i < w->count; i++)
        w->row[w->at[i].number] = (uint32_t)i;
}

static pfr_status number_rows(struct page_waits *w, pfr_error *err) {
    w->nr_numbers = w->count + 1;
    w->into = mem_alloc(w->memory, w->nr_numbers, sizeof *w->into);
    w->row = mem_alloc(w->memory, w->nr_numbers, sizeof *w->row);
    if (!w->into || !w->row)
        return mem_fail(w->memory, err, "waits");
    for (size_t i = 0; i < w->count; i++)
        w->into[i] = (uint32_t)i;
    note_rows(w);
    return PFR_OK;
}

uint32_t page_waits_row(const struct page_waits *w, uint32_t number) {
    while (w->into[number] != number)
        number = w->into[number];
    return w->row[number];
}

static pfr_status read_intervals(struct summing *s, pfr_error *err) {
    struct page_waits *w = s->waits;
    const pfr_interval *interval;
    while (pfr_model_interval(s->tables->model, w->nr_intervals))
        w->nr_intervals++;
    w->of_interval = mem_alloc(w->memory, w->nr_intervals, sizeof *w->of_interval);
    if (!w->of_interval)
        return mem_fail(w->memory, err, "waits");
    for (uint64_t i = 0; (interval = pfr_model_interval(s->tables->model, i)); i++)
        PFR_TRY(add(s, interval, &w->of_interval[i], err));
    return PFR_OK;
}

pfr_status page_waits_read(struct page_waits *waits, const struct page_tables *t, const uint8_t *of_command,
                           struct memory *memory, pfr_error *err) {
    const size_t stacks = (size_t)t->nr_stacks + 1;
    *waits = (struct page_waits){.memory = memory};
    if (!pfr_model_interval(t->model, 0))
        return PFR_OK;
    struct summing s = {.waits = waits, .tables = t, .place_of = mem_zeroed(memory, stacks, sizeof *s.place_of)};
    pfr_status st = s.place_of ? PFR_OK : mem_fail(memory, err, "waits");
    intern_init(&s.keys, memory);
    if (st >= 0)
        st = read_intervals(&s, err);
    intern_free(&s.keys);
    mem_free(memory, s.place_of, s.place_of ? stacks : 0, sizeof *s.place_of);
    if (st >= 0 && waits->count)
        qsort(waits->at, waits->count, sizeof *waits->at, by_thread_and_time);
    if (st >= 0)
        st = number_rows(waits, err);
    return st < 0 ? st : make_groups(waits, t, of_command, err);
}

/* --- Context switches without times. */

static pfr_status count_batch(struct summing *s, const pfr_sample_batch *b, pfr_error *err) {
    for (uint32_t i = 0; i < b->count; i++) {
        const struct wait_place *place = place_of_stack(s, b->stack[i]);
        const struct wait_key key = {
            .thread = b->thread[i], .func = place->func, .state = PAGE_BLOCKED, .reason = place->reason};
        struct page_wait *wait = NULL;
        PFR_TRY(find_wait(s, &key, &wait, err));
        wait->ns += b->weight[i];
    }
    return PFR_OK;
}

static pfr_status count_samples(struct summing *s, pfr_error *err) {
    const pfr_sample_batch *batch;
    pfr_status st = PFR_OK;
    pfr_samples *cursor = pfr_samples_open(s->tables->model, NULL, err);
    if (!cursor)
        return err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &batch, err)) == PFR_OK)
        st = count_batch(s, batch, err);
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

pfr_status page_waits_count(struct page_waits *w, const struct page_tables *t, const uint8_t *of_command,
                            pfr_error *err) {
    const size_t stacks = (size_t)t->nr_stacks + 1;
    struct summing s = {.waits = w, .tables = t, .place_of = mem_zeroed(w->memory, stacks, sizeof *s.place_of)};
    intern_init(&s.keys, w->memory);
    pfr_status st = s.place_of ? count_samples(&s, err) : mem_fail(w->memory, err, "waits");
    intern_free(&s.keys);
    mem_free(w->memory, s.place_of, s.place_of ? stacks : 0, sizeof *s.place_of);
    if (st >= 0)
        st = make_groups(w, t, of_command, err);
    w->count = 0; /* these sums are not times */
    w->has_counts = true;
    return st;
}

void page_waits_free(struct page_waits *waits) {
    mem_free(waits->memory, waits->of_interval, waits->nr_intervals, sizeof *waits->of_interval);
    mem_free(waits->memory, waits->into, waits->nr_numbers, sizeof *waits->into);
    mem_free(waits->memory, waits->row, waits->nr_numbers, sizeof *waits->row);
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

static void merge(struct page_waits *w, struct page_wait *to, const struct page_wait *from, uint32_t rest) {
    w->into[from->number] = to->number;
    if (from->longest > to->longest) {
        to->longest = from->longest;
        to->start = from->start;
    }
    to->ns += from->ns;
    to->open += from->open;
    to->stacked += from->stacked;
    to->library += from->library;
    to->count += from->count;
    to->func = rest + 1;
    to->waker = to->by = to->line = 0;
    to->in_library = to->is_condition = false;
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
            merge(w, last, &one, rest);
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
    note_rows(w);
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

static const char *comm_of(const struct page_tables *t, const pfr_model_thread *thread) {
    const char *comm = pfr_model_get_comm(t->model, thread->comm);
    return comm ? comm : "a thread";
}

/* Writes " (worker 7 and 2 other threads)". */
static void write_threads(const struct page_wait *wait, const struct page_tables *t, struct output *to) {
    const pfr_model_thread *thread = pfr_model_get_thread(t->model, wait->thread);
    char text[64];
    if (!thread)
        return;
    out_text(to, " (");
    write_name(to, comm_of(t, thread));
    snprintf(text, sizeof text, " %" PRIu32, thread->tid);
    out_text(to, text);
    snprintf(text, sizeof text, " and %" PRIu32 " other thread%s", wait->nr_threads - 1,
             wait->nr_threads > 2 ? "s" : "");
    out_text(to, wait->nr_threads > 1 ? text : "");
    out_char(to, ')');
}

/* Waits for condition variables are among those for locks; mostly they are waits for work. */
static const char *reason_name(const struct page_wait *wait, pfr_wait_reason reason) {
    return wait->is_condition ? "condition variable" : pfr_wait_reason_name(reason);
}

void page_wait_write(const struct page_wait *wait, const struct page_tables *t, struct output *to) {
    const pfr_model_thread *waker = wait->waker ? pfr_model_get_thread(t->model, wait->waker) : NULL;
    const pfr_wait_reason reason = wait->reason == PFR_WAIT_NONE ? PFR_WAIT_OTHER : (pfr_wait_reason)wait->reason;
    const bool nothing = reason == PFR_WAIT_OTHER && !wait->func;
    out_text(to, nothing ? "without a recorded reason" : reason_name(wait, reason));
    write_func(t, " in ", wait->func, to);
    write_threads(wait, t, to);
    if (!waker)
        return;
    out_text(to, ", ended by ");
    write_name(to, comm_of(t, waker));
    write_func(t, " in ", wait->by, to);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --locks: waits for locks, by lock. A lock is identified by the process and the address of its futex if the address
 * was recorded (syscalls:sys_enter_futex), else by the place that waits for the lock. The thread that ended a wait is
 * taken as the holder of the lock.
 */
#include "view/offcpu/offcpu_locks.h"
#include "view/offcpu/offcpu_chain.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "base/text/text.h"
#include "view/offcpu/offcpu_load.h"
#include "view/offcpu/offcpu_stacks.h"
#include "view/offcpu/offcpu_notes.h"

#include <perfray/symbolize.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES_SHOWN 3u

/* One wait. */
struct lock_wait {
    uint64_t address, ns;
    uint32_t pid, stack, thread; /* stack: of the program, at the place where the thread waits */
    uint32_t holder, held;       /* thread that held the lock; the program's stack of that thread */
    uint8_t kind;                /* enum lock_kind */
};

struct lock {
    size_t first, count; /* range of its waits, which are sorted by length in the end */
    uint64_t total;
    char name[96];
};

struct locks {
    struct offcpu *o;
    struct lock_wait *waits;
    struct lock *locks;
    size_t count, room, shown;
};

/* --- Waits. */

static struct lock_wait wait_of(struct offcpu *o, const struct thread_interval *i) {
    const uint32_t stack = offcpu_stack_of(o, i->sample), by = offcpu_stack_of(o, i->waker_sample);
    const struct wait_stack *fact = offcpu_stack_facts(o, stack);
    const uint32_t thread = o->of_life[i->life] - 1;
    const bool known = offcpu_waker_kind(o, i, by) == WAKER_THREAD && i->waker_life < o->lives &&
                       o->of_life[i->waker_life] && i->waker != 0;
    return (struct lock_wait){.address = fact->lock == LOCK_KERNEL ? 0 : i->address,
                              .ns = i->end - i->start,
                              .pid = o->threads[thread].pid,
                              .stack = offcpu_program(o, stack),
                              .thread = thread,
                              .holder = known ? o->of_life[i->waker_life] - 1 : NO_THREAD,
                              .held = known ? offcpu_program(o, by) : 0,
                              .kind = fact->lock};
}

static int compare_lock(const struct lock_wait *x, const struct lock_wait *y) {
    const bool placed = !x->address && !y->address;
    const uint64_t keys[][2] = {{x->pid, y->pid},
                                {x->address, y->address},
                                {placed ? x->stack : 0, placed ? y->stack : 0},
                                {placed ? x->kind : 0, placed ? y->kind : 0}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static int by_lock(const void *a, const void *b) {
    const struct lock_wait *x = a, *y = b;
    const int order = compare_lock(x, y);
    if (order)
        return order;
    if (x->ns != y->ns)
        return x->ns > y->ns ? 1 : -1;
    const uint64_t keys[][2] = {
        {x->thread, y->thread}, {x->stack, y->stack}, {x->holder, y->holder}, {x->held, y->held}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static int by_total(const void *a, const void *b) {
    const struct lock *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return x->first > y->first ? 1 : -1;
}

/* --- Locks. */

/* The kind that most waits of a lock show. A wait shows no kind if its stack lacks the library's frame. */
static enum lock_kind kind_of(const struct locks *l, const struct lock *lock) {
    size_t most = 0, counts[LOCK_KINDS] = {0};
    enum lock_kind kind = LOCK_UNKNOWN;
    for (size_t i = 0; i < lock->count; i++)
        counts[l->waits[lock->first + i].kind]++;
    for (unsigned k = LOCK_UNKNOWN + 1; k < LOCK_KINDS; k++)
        if (counts[k] > most) {
            most = counts[k];
            kind = (enum lock_kind)k;
        }
    return kind;
}

static pfr_status name_lock(const struct locks *l, struct lock *lock, pfr_symbolizer *names, pfr_error *err) {
    const struct lock_wait *w = &l->waits[lock->first];
    pfr_place place = {.name = NULL};
    lock->name[0] = '\0';
    if (!w->address)
        return PFR_OK;
    PFR_TRY(pfr_symbolize(names, w->pid, l->o->threads[w->thread].tid, PFR_CPUMODE_USER, PFR_NO_TIME, w->address,
                          &place, err));
    if (place.name && place.address == place.start)
        snprintf(lock->name, sizeof lock->name, "%.90s", place.name);
    else if (place.name)
        snprintf(lock->name, sizeof lock->name, "%.70s+%#" PRIx64, place.name, place.address - place.start);
    else
        snprintf(lock->name, sizeof lock->name, "%#" PRIx64, w->address);
    return PFR_OK;
}

static pfr_status add_lock(struct locks *l, size_t first, size_t count, pfr_symbolizer *names, pfr_error *err) {
    void *grown = mem_grow(l->o->memory, l->locks, l->count, &l->room, 32, sizeof *l->locks);
    if (!grown)
        return mem_fail(l->o->memory, err, "locks");
    l->locks = grown;
    struct lock *lock = &l->locks[l->count++];
    *lock = (struct lock){.first = first, .count = count};
    for (size_t i = 0; i < count; i++)
        lock->total += l->waits[first + i].ns;
    return name_lock(l, lock, names, err);
}

static pfr_status make_locks(struct locks *l, pfr_error *err) {
    const struct offcpu *o = l->o;
    pfr_symbolizer *names = pfr_symbolizer_open(o->model, err);
    if (!names)
        return err->status;
    pfr_status st = PFR_OK;
    for (size_t i = 0, end; st >= 0 && i < o->nr_intervals; i = end) {
        for (end = i + 1; end < o->nr_intervals && compare_lock(&l->waits[i], &l->waits[end]) == 0;)
            end++;
        st = add_lock(l, i, end - i, names, err);
    }
    pfr_symbolizer_close(names);
    if (st >= 0 && l->count)
        qsort(l->locks, l->count, sizeof *l->locks, by_total);
    l->shown = o->options->top && o->options->top < l->count ? o->options->top : l->count;
    return st;
}

static pfr_status load(struct locks *l, struct offcpu *o, pfr_error *err) {
    *l = (struct locks){.o = o};
    l->waits = mem_alloc(o->memory, o->nr_intervals, sizeof *l->waits);
    if (!l->waits)
        return mem_fail(o->memory, err, "locks");
    for (size_t i = 0; i < o->nr_intervals; i++)
        l->waits[i] = wait_of(o, &o->intervals[i]);
    if (o->nr_intervals)
        qsort(l->waits, o->nr_intervals, sizeof *l->waits, by_lock);
    return make_locks(l, err);
}

/* Percentile by nearest rank. */
static uint64_t percentile(const struct locks *l, const struct lock *lock, unsigned percent) {
    const size_t rank = (lock->count * percent + 99) / 100;
    return l->waits[lock->first + (rank ? rank - 1 : 0)].ns;
}

/* --- Holders and waiting threads, each with its place in the program; those with the largest total time first. */

struct lock_side {
    uint32_t thread, stack;
    uint64_t ns, count;
};

static int by_side(const void *a, const void *b) {
    const struct lock_side *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread > y->thread ? 1 : -1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

static int by_side_time(const void *a, const void *b) {
    const struct lock_side *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : by_side(a, b);
}

static pfr_status sides(const struct locks *l, const struct lock *lock, bool holders, struct lock_side **at,
                        size_t *count, pfr_error *err) {
    *count = 0;
    *at = mem_alloc(l->o->memory, lock->count, sizeof **at);
    if (!*at)
        return mem_fail(l->o->memory, err, "locks");
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_wait *w = &l->waits[lock->first + i];
        (*at)[i] = (struct lock_side){holders ? w->holder : w->thread, holders ? w->held : w->stack, w->ns, 1};
    }
    qsort(*at, lock->count, sizeof **at, by_side);
    for (size_t i = 0; i < lock->count; i++)
        if (*count && by_side(&(*at)[*count - 1], &(*at)[i]) == 0) {
            (*at)[*count - 1].ns += (*at)[i].ns;
            (*at)[*count - 1].count += (*at)[i].count;
        } else {
            (*at)[(*count)++] = (*at)[i];
        }
    qsort(*at, *count, sizeof **at, by_side_time);
    return PFR_OK;
}

/* --- Limits of callchains. */

/* Whether the kinds of all locks are known. Callchains by frame pointers lack the caller of a C library function that
   has no frame of its own. */
static bool knows_all_kinds(const struct locks *l, char text[OFFCPU_NOTE_ROOM]) {
    size_t unknown = 0;
    for (size_t i = 0; i < l->o->nr_intervals; i++)
        unknown += l->waits[i].kind == LOCK_UNKNOWN;
    snprintf(text, OFFCPU_NOTE_ROOM,
             "%zu of %zu waits have call chains without the function that waits, such as pthread_cond_wait: mutexes, "
             "condition variables, semaphores and joins cannot be told apart (record --call-graph dwarf)",
             unknown, l->o->nr_intervals);
    return unknown == 0;
}

/* --- Text. */

static double percent_of(const struct lock *lock, uint64_t ns) {
    return lock->total ? 100.0 * (double)ns / (double)lock->total : 0;
}

static pfr_status text_sides(const struct locks *l, const struct lock *lock, bool holders, pfr_output *out,
                             pfr_error *err) {
    struct lock_side *at;
    size_t count;
    PFR_TRY(sides(l, lock, holders, &at, &count, err));
    uint64_t hidden = 0;
    unsigned shown = 0;
    const char *const word = holders ? "held by" : "wanted by";
    for (size_t i = 0; i < count; i++) {
        char name[128], chain[OFFCPU_CHAIN_ROOM];
        if (at[i].thread == NO_THREAD)
            continue;
        if (shown == PLACES_SHOWN) {
            hidden += at[i].ns;
            continue;
        }
        shown++;
        offcpu_thread_text(l->o, out, at[i].thread, name, sizeof name);
        offcpu_chain(l->o, out, at[i].stack, offcpu_room(out, 24 + (unsigned)strlen(name)), OFFCPU_FRAMES_MOST, chain);
        offcpu_printf(out, "    %-9s %3.0f%%  %s: %s\n", word, percent_of(lock, at[i].ns), name, chain);
    }
    if (hidden)
        offcpu_printf(out, "    %-9s %3.0f%%  others\n", word, percent_of(lock, hidden));
    mem_free(l->o->memory, at, lock->count, sizeof *at);
    return PFR_OK;
}

static pfr_status text_lock(const struct locks *l, const struct lock *lock, pfr_output *out, pfr_error *err) {
    char total[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE], longest[TEXT_TIME_SIZE], chain[OFFCPU_CHAIN_ROOM];
    format_duration(total, lock->total);
    format_duration(high, percentile(l, lock, 99));
    format_duration(longest, percentile(l, lock, 100));
    offcpu_chain(l->o, out, l->waits[lock->first].stack, offcpu_room(out, 48), OFFCPU_FRAMES_MOST, chain);
    offcpu_printf(out, "\n%8" PRIu64 " %8s %8s %8s  %-11s %s\n", (uint64_t)lock->count, total, high, longest,
                  lock_kind_name(kind_of(l, lock)), lock->name[0] ? lock->name : chain);
    PFR_TRY(text_sides(l, lock, true, out, err));
    return text_sides(l, lock, false, out, err);
}

static pfr_status write_text(const struct locks *l, pfr_output *out, pfr_error *err) {
    char text[OFFCPU_NOTE_ROOM];
    for (unsigned i = 0; offcpu_note(l->o, i, text); i++)
        offcpu_printf(out, "# %s\n", text);
    if (!l->o->walk.futexes)
        offcpu_printf(
            out, "# locks are distinguished by waiting code, not by address (record -e syscalls:sys_enter_futex)\n");
    if (!knows_all_kinds(l, text))
        offcpu_printf(out, "# %s\n", text);
    offcpu_printf(out, "#\n#  waits    total      p99      max  kind        lock\n");
    for (size_t i = 0; i < l->shown; i++)
        PFR_TRY(text_lock(l, &l->locks[i], out, err));
    return PFR_OK;
}

/* --- CSV and JSON. */

static const char *function_at(const struct locks *l, uint32_t stack) {
    const uint32_t symbol = stack ? pfr_model_get_stack(l->o->model, stack)->symbol : 0;
    const char *name = symbol ? pfr_model_get_symbol(l->o->model, symbol)->name : NULL;
    return name ? name : "";
}

/* Writes a row for each lock, with its main holder and the thread that waited longest for it. */
static pfr_status csv_lock(const struct locks *l, const struct lock *lock, pfr_output *out, pfr_error *err) {
    const struct lock_wait *w = &l->waits[lock->first];
    offcpu_printf(out, "%" PRIu32 ",%#" PRIx64 ",", w->pid, w->address);
    out_csv_field(&out->out, lock->name, strlen(lock->name));
    offcpu_printf(out, ",%s,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64, lock_kind_name(kind_of(l, lock)), lock->count,
                  lock->total, percentile(l, lock, 99), percentile(l, lock, 100));
    for (unsigned side = 0; side < 2; side++) {
        struct lock_side *at;
        size_t count;
        PFR_TRY(sides(l, lock, side == 0, &at, &count, err));
        const struct offcpu_thread *t = at[0].thread == NO_THREAD ? NULL : &l->o->threads[at[0].thread];
        const char *comm = t && t->comm ? t->comm : "", *function = function_at(l, at[0].stack);
        out_char(&out->out, ',');
        out_csv_field(&out->out, comm, strlen(comm));
        out_char(&out->out, ',');
        out_csv_field(&out->out, function, strlen(function));
        mem_free(l->o->memory, at, lock->count, sizeof *at);
    }
    out_char(&out->out, '\n');
    return PFR_OK;
}

static pfr_status json_sides(const struct locks *l, const struct lock *lock, bool holders, struct json *j,
                             pfr_error *err) {
    struct lock_side *at;
    size_t count;
    PFR_TRY(sides(l, lock, holders, &at, &count, err));
    json_key(j, holders ? "held_by" : "wanted_by");
    json_begin_array(j);
    for (size_t i = 0; i < count; i++) {
        const struct offcpu_thread *t = at[i].thread == NO_THREAD ? NULL : &l->o->threads[at[i].thread];
        if (!t)
            continue;
        json_begin_object(j);
        json_key(j, "comm");
        json_text(j, t->comm ? t->comm : "");
        json_key(j, "tid");
        json_u64(j, t->tid);
        json_key(j, "function");
        json_text(j, function_at(l, at[i].stack));
        json_key(j, "ns");
        json_u64(j, at[i].ns);
        json_key(j, "count");
        json_u64(j, at[i].count);
        json_end_object(j);
    }
    json_end_array(j);
    mem_free(l->o->memory, at, lock->count, sizeof *at);
    return PFR_OK;
}

static pfr_status json_lock(const struct locks *l, const struct lock *lock, struct json *j, pfr_error *err) {
    static const char *const keys[] = {"pid", "waits", "ns", "p99_ns", "max_ns"};
    const struct lock_wait *w = &l->waits[lock->first];
    const uint64_t numbers[] = {w->pid, lock->count, lock->total, percentile(l, lock, 99), percentile(l, lock, 100)};
    json_begin_object(j);
    json_key(j, "name");
    json_text(j, lock->name);
    json_key(j, "address");
    json_hex(j, w->address);
    json_key(j, "kind");
    json_text(j, lock_kind_name(kind_of(l, lock)));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_key(j, keys[i]);
        json_u64(j, numbers[i]);
    }
    PFR_TRY(json_sides(l, lock, true, j, err));
    PFR_TRY(json_sides(l, lock, false, j, err));
    json_end_object(j);
    return PFR_OK;
}

static pfr_status write_json(const struct locks *l, pfr_output *out, pfr_error *err) {
    struct json j = json_on(&out->out, JSON_PRETTY);
    json_begin_object(&j);
    json_key(&j, "version");
    json_u64(&j, 1);
    json_key(&j, "locks");
    json_begin_array(&j);
    for (size_t i = 0; i < l->shown; i++)
        PFR_TRY(json_lock(l, &l->locks[i], &j, err));
    json_end_array(&j);
    json_end_object(&j);
    json_end_line(&j);
    return PFR_OK;
}

static pfr_status write_csv(const struct locks *l, pfr_output *out, pfr_error *err) {
    offcpu_printf(out, "pid,address,lock,kind,waits,ns,p99_ns,max_ns,holder_comm,holder_function,wanted_comm,"
                       "wanted_function\n");
    for (size_t i = 0; i < l->shown; i++)
        PFR_TRY(csv_lock(l, &l->locks[i], out, err));
    return PFR_OK;
}

pfr_status offcpu_write_locks(struct offcpu *o, pfr_output *out, pfr_error *err) {
    struct locks l;
    char text[OFFCPU_NOTE_ROOM];
    pfr_status st = load(&l, o, err);
    if (st >= 0 && o->options->format != PFR_OFFCPU_TEXT && o->options->note && !knows_all_kinds(&l, text))
        o->options->note(o->options->context, text);
    if (st >= 0)
        st = o->options->format == PFR_OFFCPU_JSON  ? write_json(&l, out, err)
             : o->options->format == PFR_OFFCPU_CSV ? write_csv(&l, out, err)
                                                    : write_text(&l, out, err);
    mem_free(o->memory, l.waits, o->nr_intervals, sizeof *l.waits);
    mem_free(o->memory, l.locks, l.room, sizeof *l.locks);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Threads through time: see threads.h; docs/state.md has the rules. */
#include "model/state/threads.h"

#include "base/memory/fail.h"

#include <string.h>

void threads_init(struct threads *all, struct memory *memory, struct spaces *spaces) {
    *all = (struct threads){.memory = memory, .spaces = spaces, .idle_name = NO_NAME};
    u64_map_init(&all->row_of, memory);
    arena_init(&all->arena, memory);
}

void threads_free(struct threads *all) {
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    u64_map_free(&all->row_of);
    mem_free(all->memory, all->rows, all->rows_room, sizeof *all->rows);
    arena_free(&all->arena);
    *all = (struct threads){.memory = all->memory};
}

/* The space of a generation at a key. A generation has a space from its begin on. */
static uint32_t space_at(const struct generation *g, struct record_key key) {
    const uint32_t space = changes_at(&g->spaces, key);
    return space == NO_VALUE ? g->space : space;
}

/* The name of a generation at a key; NO_NAME: it has no name yet. */
static uint32_t name_at(const struct generation *g, struct record_key key) {
    const uint32_t name = changes_at(&g->names, key);
    return name == NO_VALUE ? g->name : name;
}

static uint32_t newest_of(const struct threads *all, uint32_t tid) {
    uint64_t row;
    return u64_map_get(&all->row_of, tid / TIDS_EACH, &row) ? all->rows[row].newest[tid % TIDS_EACH] : NO_GENERATION;
}

/* Where the number of the newest generation of a tid is stored; NULL: out of memory. */
static uint32_t *newest_place(struct threads *all, uint32_t tid) {
    bool is_new;
    if (all->nr_rows == all->rows_room) {
        void *more = mem_grow(all->memory, all->rows, all->nr_rows, &all->rows_room, 16, sizeof *all->rows);
        if (!more)
            return NULL;
        all->rows = more;
    }
    const uint64_t *row = u64_map_at(&all->row_of, tid / TIDS_EACH, all->nr_rows, &is_new);
    if (!row)
        return NULL;
    if (is_new)
        memset(&all->rows[all->nr_rows++], 0xff, sizeof *all->rows);
    return &all->rows[*row].newest[tid % TIDS_EACH];
}

static bool is_there(const struct generation *g, const struct record_key *key) {
    return (g->begin.time == 0 && g->begin.offset == 0) || key_before(&g->begin, key);
}

/* The last generation of a tid that exists at the key; *later is the generation after it. */
static uint32_t generation_at(const struct threads *all, uint32_t tid, struct record_key key, uint32_t *later) {
    uint32_t number = newest_of(all, tid);
    *later = NO_GENERATION;
    while (number != NO_GENERATION && !is_there(&all->at[number], &key)) {
        const struct generation *g = &all->at[number];
        *later = number;
        number = g->jump != NO_GENERATION && !is_there(&all->at[g->jump], &key) ? g->jump : g->previous;
    }
    return number;
}

/* Sets how far back a generation jumps: by the sum of the next two jumps back from the previous generation and one
   step, if these two jumps have equal length; otherwise one step. A search among n generations takes log n steps. */
static void link_back(const struct threads *all, struct generation *g) {
    const struct generation *p = g->previous == NO_GENERATION ? NULL : &all->at[g->previous];
    const struct generation *once = p && p->jump != NO_GENERATION ? &all->at[p->jump] : NULL;
    const struct generation *twice = once && once->jump != NO_GENERATION ? &all->at[once->jump] : NULL;
    g->depth = p ? p->depth + 1 : 0;
    g->jump = twice && p->depth - once->depth == once->depth - twice->depth ? once->jump : g->previous;
}

/* Adds a generation. If the record is late, later generations exist, and the new one is inserted before them. */
static pfr_status new_generation(struct threads *all, uint32_t pid, uint32_t tid, struct record_key begin,
                                 uint32_t *number, pfr_error *err) {
    uint32_t later;
    if (all->count == all->room) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 64, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "threads");
        all->at = more;
    }
    uint32_t *newest = newest_place(all, tid);
    if (!newest)
        return mem_fail(all->memory, err, "threads");
    *number = (uint32_t)all->count;
    all->at[*number] = (struct generation){.tid = tid,
                                           .pid = pid,
                                           .parent = NO_GENERATION,
                                           .name = NO_NAME,
                                           .space = NO_SPACE,
                                           .begin = begin,
                                           .met = begin};
    struct generation *g = &all->at[*number];
    g->previous = generation_at(all, tid, begin, &later);
    link_back(all, g);
    all->count++;
    if (later == NO_GENERATION)
        *newest = *number;
    else
        all->at[later].previous = *number;
    return PFR_OK;
}

/* Notes the first key at which a record mentions the generation. A late record may come before that key. */
static void meet(struct generation *g, struct record_key key) {
    if (key_before(&key, &g->met))
        g->met = key;
}

/*
 * Sets *number to the generation of a tid at the key of a state record. A tid that no record announced counts as
 * present from the start, so that its first name also holds for its earlier samples. Its space is known from this
 * record on: the leader of a process has a space of its own, any other thread has that of its pid.
 */
static pfr_status current(struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, uint32_t *number,
                          pfr_error *err) {
    uint32_t leader, space, later;
    *number = generation_at(all, tid, key, &later);
    if (*number != NO_GENERATION) {
        meet(&all->at[*number], key);
        return PFR_OK;
    }
    PFR_TRY(new_generation(all, pid, tid, KEY_FIRST, number, err));
    all->at[*number].met = key;
    if (pid == tid || pid == NOBODY) {
        PFR_TRY(spaces_new(all->spaces, NO_SPACE, KEY_FIRST, &space, err));
    } else {
        PFR_TRY(current(all, pid, pid, key, &leader, err));
        space = space_at(&all->at[leader], key);
    }
    all->at[*number].space = space;
    return PFR_OK;
}

/* Sets the space of a forked thread. A leader gets a copy, by reference, of the space of its parent. Another thread
   shares the space of its process. */
static pfr_status forked_space(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t parent,
                               bool bare, struct record_key key, uint32_t *space, pfr_error *err) {
    uint32_t leader;
    if (tid == pid) {
        const bool empty = bare || pid == ppid;
        return spaces_new(all->spaces, empty ? NO_SPACE : space_at(&all->at[parent], key), key, space, err);
    }
    PFR_TRY(current(all, pid, pid, key, &leader, err));
    *space = space_at(&all->at[leader], key);
    return PFR_OK;
}

pfr_status threads_fork(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, bool bare,
                        struct record_key key, pfr_error *err) {
    uint32_t parent, child, space;
    PFR_TRY(current(all, ppid, ptid, key, &parent, err));
    PFR_TRY(forked_space(all, pid, ppid, tid, parent, bare, key, &space, err));
    uint32_t name = name_at(&all->at[parent], key);
    if (name == NO_NAME && ptid == 0)
        name = all->idle_name;
    PFR_TRY(new_generation(all, pid, tid, key, &child, err));
    all->at[child].parent = parent;
    all->at[child].space = space;
    all->at[child].name = name;
    return PFR_OK;
}

pfr_status threads_name(struct threads *all, uint32_t pid, uint32_t tid, uint32_t name, bool exec,
                        struct record_key key, pfr_error *err) {
    uint32_t number, space;
    PFR_TRY(current(all, pid, tid, key, &number, err));
    const uint32_t old = space_at(&all->at[number], key);
    PFR_TRY(changes_add(&all->at[number].names, &all->arena, name, key, err));
    if (!exec)
        return PFR_OK;
    PFR_TRY(spaces_new(all->spaces, NO_SPACE, key, &space, err));
    PFR_TRY(spaces_leave(all->spaces, space, old, key, err));
    return changes_add(&all->at[number].spaces, &all->arena, space, key, err);
}

pfr_status threads_space(struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, uint32_t *space,
                         pfr_error *err) {
    uint32_t number;
    PFR_TRY(current(all, pid, tid, key, &number, err));
    *space = space_at(&all->at[number], key);
    return PFR_OK;
}

/* The generation at the key. NO_GENERATION: there is none, or no state record has mentioned it by then. */
static uint32_t met_at(const struct threads *all, uint32_t tid, struct record_key key) {
    uint32_t later;
    const uint32_t number = generation_at(all, tid, key, &later);
    return number == NO_GENERATION || key_before(&key, &all->at[number].met) ? NO_GENERATION : number;
}

uint32_t thread_space_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key) {
    uint32_t number = tid == NOBODY ? NO_GENERATION : met_at(all, tid, key);
    if (number == NO_GENERATION && tid != NOBODY && pid != tid)
        number = met_at(all, pid, key);
    return number == NO_GENERATION ? NO_SPACE : space_at(&all->at[number], key);
}

uint32_t thread_name_at(const struct threads *all, uint32_t tid, struct record_key key, bool early) {
    uint32_t later;
    const uint32_t number = generation_at(all, tid, key, &later);
    if (number == NO_GENERATION)
        return NO_NAME;
    const struct generation *g = &all->at[number];
    const uint32_t name = name_at(g, key);
    return name == NO_NAME && early && g->names.count ? g->names.at[0].value : name;
}

/* Restricts the validity of the view to keys after `from`, up to `until`. */
static void narrow(struct thread_view *view, const struct record_key *from, const struct record_key *until) {
    if (from && key_before(&view->from, from))
        view->from = *from;
    if (until && key_before(until, &view->until))
        view->until = *until;
}

/* The value at a key, for a view. Before the first change: `first`, or if that is NO_VALUE, that of the first change.
 */
static uint32_t value_at(const struct changes *list, uint32_t first, struct record_key key, struct thread_view *view) {
    const size_t before = changes_before(list, key);
    const bool is_early = before == 0 && first == NO_VALUE;
    if (list->count == 0)
        return first;
    if (is_early) {
        narrow(view, NULL, list->count > 1 ? &list->at[1].key : NULL);
        return list->at[0].value;
    }
    narrow(view, before ? &list->at[before - 1].key : NULL, before < list->count ? &list->at[before].key : NULL);
    return before ? list->at[before - 1].value : first;
}

static uint32_t narrow_to_generation(const struct threads *all, uint32_t tid, struct record_key key,
                                     struct thread_view *view) {
    uint32_t later;
    const uint32_t number = generation_at(all, tid, key, &later);
    narrow(view, number == NO_GENERATION ? NULL : &all->at[number].begin,
           later == NO_GENERATION ? NULL : &all->at[later].begin);
    return number;
}

/* As met_at, for a given generation; also restricts the validity of the view. */
static uint32_t narrow_to_met(const struct threads *all, uint32_t number, struct record_key key,
                              struct thread_view *view) {
    if (number == NO_GENERATION)
        return number;
    const struct record_key *const met = &all->at[number].met;
    const bool is_met = !key_before(&key, met);
    narrow(view, is_met ? met : NULL, is_met ? NULL : met);
    return is_met ? number : NO_GENERATION;
}

void thread_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, struct thread_view *view) {
    *view = (struct thread_view){NO_NAME, NO_SPACE, NO_GENERATION, KEY_FIRST, KEY_LAST};
    if (tid == NOBODY)
        return;
    uint32_t number = narrow_to_generation(all, tid, key, view);
    view->generation = number;
    if (number != NO_GENERATION)
        view->name = value_at(&all->at[number].names, all->at[number].name, key, view);
    number = narrow_to_met(all, number, key, view);
    if (number == NO_GENERATION && pid != tid)
        number = narrow_to_met(all, narrow_to_generation(all, pid, key, view), key, view);
    if (number != NO_GENERATION)
        view->space = value_at(&all->at[number].spaces, all->at[number].space, key, view);
}

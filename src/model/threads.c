/* SPDX-License-Identifier: Apache-2.0 */
/* Threads through time: see threads.h; the rules are those of docs/ARCHITECTURE.md, "State". */
#include "model/threads.h"

#include "base/fail.h"

void threads_init(struct threads *all, struct memory *memory, struct spaces *spaces) {
    *all = (struct threads){.memory = memory, .spaces = spaces};
    u64_map_init(&all->newest, memory);
}

void threads_free(struct threads *all) {
    for (size_t i = 0; i < all->count; i++) {
        mem_free(all->memory, all->at[i].names.at, all->at[i].names.room, sizeof(struct change));
        mem_free(all->memory, all->at[i].spaces.at, all->at[i].spaces.room, sizeof(struct change));
    }
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    u64_map_free(&all->newest);
    *all = (struct threads){.memory = all->memory};
}

static pfr_status change(struct threads *all, struct changes *list, uint32_t value, struct key key, pfr_error *err) {
    if (list->count == list->room) {
        void *more = mem_grow(all->memory, list->at, list->count, &list->room, 2, sizeof *list->at);
        if (!more)
            return mem_fail(all->memory, err, "threads");
        list->at = more;
    }
    list->at[list->count++] = (struct change){key, value};
    return PFR_OK;
}

static pfr_status new_generation(struct threads *all, uint32_t tid, struct key begin, uint32_t *number, pfr_error *err) {
    bool is_new;
    if (all->count == all->room) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 64, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "threads");
        all->at = more;
    }
    uint64_t *newest = u64_map_at(&all->newest, tid, NO_GENERATION, &is_new);
    if (!newest)
        return mem_fail(all->memory, err, "threads");
    *number = (uint32_t)all->count++;
    all->at[*number] = (struct generation){.tid = tid, .previous = (uint32_t)*newest, .begin = begin};
    *newest = *number;
    return PFR_OK;
}

static uint32_t newest_of(const struct threads *all, uint32_t tid) {
    uint64_t number;
    return u64_map_get(&all->newest, tid, &number) ? (uint32_t)number : NO_GENERATION;
}

static uint32_t last_value(const struct changes *list) {
    return list->count ? list->at[list->count - 1].value : UINT32_MAX;
}

/*
 * The generation of a tid at this point of the build. One that nothing announced has always been there: a leader with a
 * space of its own, any other thread in the space of its pid.
 */
static pfr_status current(struct threads *all, uint32_t pid, uint32_t tid, struct key key, uint32_t *number,
                          pfr_error *err) {
    uint32_t leader, space;
    *number = newest_of(all, tid);
    if (*number != NO_GENERATION)
        return PFR_OK;
    PFR_TRY(new_generation(all, tid, KEY_FIRST, number, err));
    if (pid == tid || pid == NOBODY) {
        PFR_TRY(spaces_new(all->spaces, NO_SPACE, KEY_FIRST, &space, err));
    } else {
        PFR_TRY(current(all, pid, pid, key, &leader, err));
        space = last_value(&all->at[leader].spaces);
    }
    return change(all, &all->at[*number].spaces, space, KEY_FIRST, err);
}

/* A leader gets a copy of its parent's space, by reference; a thread shares that of its process. */
static pfr_status forked_space(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t parent, bool bare,
                               struct key key, uint32_t *space, pfr_error *err) {
    uint32_t leader;
    if (tid == pid) {
        const bool empty = bare || pid == ppid;
        return spaces_new(all->spaces, empty ? NO_SPACE : last_value(&all->at[parent].spaces), key, space, err);
    }
    PFR_TRY(current(all, pid, pid, key, &leader, err));
    *space = last_value(&all->at[leader].spaces);
    return PFR_OK;
}

pfr_status threads_fork(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, bool bare,
                        struct key key, pfr_error *err) {
    uint32_t parent, child, space;
    PFR_TRY(current(all, ppid, ptid, key, &parent, err));
    PFR_TRY(forked_space(all, pid, ppid, tid, parent, bare, key, &space, err));
    const uint32_t name = last_value(&all->at[parent].names);
    PFR_TRY(new_generation(all, tid, key, &child, err));
    PFR_TRY(change(all, &all->at[child].spaces, space, key, err));
    return name == NO_NAME ? PFR_OK : change(all, &all->at[child].names, name, key, err);
}

pfr_status threads_name(struct threads *all, uint32_t pid, uint32_t tid, uint32_t name, bool exec, struct key key,
                        pfr_error *err) {
    uint32_t number, space;
    PFR_TRY(current(all, pid, tid, key, &number, err));
    PFR_TRY(change(all, &all->at[number].names, name, key, err));
    if (!exec)
        return PFR_OK;
    PFR_TRY(spaces_new(all->spaces, NO_SPACE, key, &space, err));
    return change(all, &all->at[number].spaces, space, key, err);
}

pfr_status threads_space(struct threads *all, uint32_t pid, uint32_t tid, struct key key, uint32_t *space, pfr_error *err) {
    uint32_t number;
    PFR_TRY(current(all, pid, tid, key, &number, err));
    *space = last_value(&all->at[number].spaces);
    return PFR_OK;
}

/* The value that holds at a key: the last change before it. */
static uint32_t value_at(const struct changes *list, struct key key) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_before(&list->at[middle].key, &key))
            low = middle + 1;
        else
            high = middle;
    }
    return low ? list->at[low - 1].value : UINT32_MAX;
}

static const struct generation *generation_at(const struct threads *all, uint32_t tid, struct key key) {
    uint32_t number = newest_of(all, tid);
    while (number != NO_GENERATION) {
        const struct generation *g = &all->at[number];
        if ((g->begin.time == 0 && g->begin.offset == 0) || key_before(&g->begin, &key))
            return g;
        number = g->previous;
    }
    return NULL;
}

uint32_t thread_space_at(const struct threads *all, uint32_t pid, uint32_t tid, struct key key) {
    const struct generation *g = tid == NOBODY ? NULL : generation_at(all, tid, key);
    if (!g && tid != NOBODY && pid != tid)
        g = generation_at(all, pid, key);
    if (!g)
        return NO_SPACE;
    const uint32_t space = value_at(&g->spaces, key);
    return space == UINT32_MAX && g->spaces.count ? g->spaces.at[0].value : space;
}

uint32_t thread_name_at(const struct threads *all, uint32_t tid, struct key key, bool early) {
    const struct generation *g = generation_at(all, tid, key);
    if (!g)
        return NO_NAME;
    const uint32_t name = value_at(&g->names, key);
    return name == NO_NAME && early && g->names.count ? g->names.at[0].value : name;
}

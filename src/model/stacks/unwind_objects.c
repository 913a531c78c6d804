/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind tables of objects, each opened once: see unwind_objects.h. */
#include "model/stacks/unwind_objects.h"

#include "base/memory/fail.h"
#include "model/names/address_names.h"

#define OPEN_FILES_MOST 64u /* maximum number of files kept open to read their bytes */

void unwind_objects_init(struct unwind_objects *all, const struct state *state, struct memory *memory,
                         const struct unwind_options *options) {
    *all = (struct unwind_objects){.state = state, .options = *options};
    memory_share(&all->memory, memory);
    unwind_share_all(&all->tables, &all->memory);
    pthread_mutex_init(&all->lock, NULL);
}

void unwind_objects_free(struct unwind_objects *all) {
    for (size_t i = 0; i < all->room; i++) {
        if (all->at[i])
            unwind_table_close(all->at[i]->table);
        mem_free(&all->memory, all->at[i], 1, sizeof **all->at);
    }
    mem_free(&all->memory, all->at, all->room, sizeof *all->at);
    pthread_mutex_destroy(&all->lock);
}

/* The separate debug file of an object, found in the same way as for names. */
struct apart {
    struct debug_search search;
    char path[DEBUG_PATH_ROOM];
};

static bool find_apart(void *context, unsigned place, const struct debug_link *link, const struct build_id *id,
                       struct symbol_object *found) {
    struct apart *apart = context;
    return debug_file_place(link, id->bytes, id->size, &apart->search, place, apart->path, found);
}

static enum symbol_result judge(struct unwind_object *into, enum symbol_result result) {
    if (result == SYMBOL_LIMIT || (into->table && unwind_table_is_cut(into->table)))
        into->limit = into->memory.failed == PFR_ERR_LIMIT ? UNWIND_LIMIT_MEMORY : UNWIND_LIMIT_WORK;
    else if (result == SYMBOL_FOUND)
        into->limit = UNWIND_LIMIT_NONE; /* the previous attempt may have set it */
    into->memory.failed = result == SYMBOL_NO_MEMORY ? into->memory.failed : PFR_OK;
    return result;
}

static enum symbol_result open_table(struct unwind_objects *all, const struct object *o, const struct symbol_object *at,
                                     struct unwind_object *into) {
    struct apart apart = {.search = {.path = intern_chars(&all->state->names, o->path),
                                     .symfs = all->options.naming.symfs,
                                     .folder = all->options.naming.debug_dir,
                                     .fetched = all->options.naming.fetched,
                                     .build_id = o->build_id,
                                     .size = o->build_id_size}};
    const struct unwind_places places = {.count = DEBUG_PLACES, .context = &apart, .find = find_apart};
    return judge(into, unwind_table_open(at, &places, &into->memory, &into->table));
}

static enum symbol_result open_kept(struct unwind_objects *all, const struct object *o, struct unwind_object *into) {
    char path[DEBUG_PATH_ROOM];
    struct symbol_object kept;
    return kept_object_place(o->build_id, o->build_id_size, o->kind == OBJECT_VDSO, path, &kept)
               ? open_table(all, o, &kept, into)
               : SYMBOL_NO_FILE;
}

static enum symbol_result open_file(struct unwind_objects *all, const struct object *o, struct unwind_object *into) {
    const struct symbol_object own = {.kind = SYMBOL_USER,
                                      .path = intern_chars(&all->state->names, o->path),
                                      .symfs = all->options.naming.symfs,
                                      .build_id = o->build_id,
                                      .build_id_size = o->build_id_size};
    const enum symbol_result result = open_table(all, o, &own, into);
    return result == SYMBOL_FOUND || result == SYMBOL_NO_MEMORY ? result : open_kept(all, o, into);
}

/* The vdso of this process, if it is the recorded one. */
static enum symbol_result open_vdso(struct unwind_objects *all, const struct object *o, struct unwind_object *into) {
    const struct symbol_object own = {.kind = SYMBOL_VDSO, .build_id = o->build_id, .build_id_size = o->build_id_size};
    if (o->build_id_size > 0 && open_kept(all, o, into) == SYMBOL_FOUND)
        return SYMBOL_FOUND;
    if (o->build_id_size == 0 && !kernel_release_is_running(all->options.release))
        return SYMBOL_OTHER_BUILD;
    return judge(into, unwind_table_open(&own, NULL, &into->memory, &into->table));
}

/* The part of the jitdump read so far. */
static enum symbol_result open_dump(struct unwind_objects *all, struct unwind_object *into) {
    const struct jit_dump *dump = jit_dump_of(&all->state->jit, into->number);
    return dump ? judge(into, unwind_table_of_dump(dump, &into->memory, &into->table)) : SYMBOL_NO_FILE;
}

static pfr_status open_object(struct unwind_objects *all, struct unwind_object *into, pfr_error *err) {
    const struct object *o = &all->state->objects.at[into->number];
    enum symbol_result result = SYMBOL_NO_FILE;
    if (all->options.naming.no_symbols)
        return PFR_OK;
    if (o->kind == OBJECT_FILE)
        result = open_file(all, o, into);
    else if (o->kind == OBJECT_VDSO)
        result = open_vdso(all, o, into);
    else if (o->kind == OBJECT_JITDUMP)
        result = open_dump(all, into);
    if (result == SYMBOL_NO_MEMORY)
        return mem_fail(&into->memory, err, "unwinding");
    if (into->table && all->open_files++ >= OPEN_FILES_MOST)
        unwind_table_let_go(into->table);
    return PFR_OK;
}

static pfr_status make_room(struct unwind_objects *all, uint32_t object, pfr_error *err) {
    if (object < all->room)
        return PFR_OK;
    const size_t room = (size_t)object + object / 2 + 64;
    void *more = mem_resize(&all->memory, all->at, all->room, room, sizeof *all->at);
    if (!more)
        return mem_fail(&all->memory, err, "unwinding");
    all->at = more;
    memset(all->at + all->room, 0, (room - all->room) * sizeof *all->at);
    all->room = room;
    return PFR_OK;
}

/* Returns the object, opened earlier or now. */
static pfr_status find(struct unwind_objects *all, uint32_t number, struct unwind_object **object, pfr_error *err) {
    PFR_TRY(make_room(all, number, err));
    *object = all->at[number];
    if (*object)
        return PFR_OK;
    *object = all->at[number] = mem_zeroed(&all->memory, 1, sizeof **object);
    if (!*object)
        return mem_fail(&all->memory, err, "unwinding");
    (*object)->number = number;
    unwind_share_object(&(*object)->memory, &all->tables);
    return open_object(all, *object, err);
}

pfr_status unwind_objects_find(struct unwind_objects *all, uint32_t number, struct unwind_object **object,
                               pfr_error *err) {
    pthread_mutex_lock(&all->lock);
    const pfr_status st = find(all, number, object, err);
    pthread_mutex_unlock(&all->lock);
    return st;
}

void unwind_objects_end(struct unwind_objects *all, struct unwind_object *object) {
    if (__atomic_load_n(&object->ended, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&all->lock);
    if (!object->ended)
        limited_objects_add(&all->limits.at[object->limit],
                            intern_chars(&all->state->names, all->state->objects.at[object->number].path));
    __atomic_store_n(&object->ended, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&all->lock);
}

static pfr_status find_any(struct unwind_objects *all, pfr_error *err) {
    const struct objects *objects = &all->state->objects;
    for (; !all->any && all->asked < objects->keys.count; all->asked++) {
        struct unwind_object *object;
        if (objects->at[all->asked].kind != OBJECT_FILE)
            continue;
        PFR_TRY(find(all, all->asked, &object, err));
        all->any = object->table || object->limit;
    }
    return PFR_OK;
}

pfr_status unwind_objects_any(struct unwind_objects *all, bool *any, pfr_error *err) {
    pthread_mutex_lock(&all->lock);
    const pfr_status st = find_any(all, err);
    *any = all->any;
    pthread_mutex_unlock(&all->lock);
    return st;
}

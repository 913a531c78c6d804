/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the dictionaries of the selected rows: see stored_rows.h. */
#include "store/stored_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- Numbers. */

pfr_status id_list_open(struct id_list *l, struct memory *memory, pfr_error *err) {
    *l = (struct id_list){.count = 0};
    u64_map_init(&l->of, memory);
    l->at = mem_grow_zeroed(memory, NULL, 0, &l->room, 64, sizeof *l->at);
    return l->at ? PFR_OK : mem_fail(memory, err, "store");
}

void id_list_close(struct id_list *l, struct memory *memory) {
    u64_map_free(&l->of);
    mem_free(memory, l->at, l->room, sizeof *l->at);
}

pfr_status id_list_put(struct id_list *l, struct memory *memory, uint64_t id, uint32_t *number, pfr_error *err) {
    bool is_new;
    *number = 0;
    if (id == 0)
        return PFR_OK;
    if (id == l->last_id) { /* rows are sorted, so ids repeat */
        *number = l->last;
        return PFR_OK;
    }
    uint64_t *const known = u64_map_at(&l->of, id, (uint64_t)l->count + 1, &is_new);
    if (!known)
        return mem_fail(memory, err, "store");
    *number = (uint32_t)*known;
    if (is_new) {
        void *more = mem_grow(memory, l->at, (size_t)l->count + 1, &l->room, 64, sizeof *l->at);
        if (!more || l->count == UINT32_MAX - 1)
            return mem_fail(memory, err, "store");
        l->at = more;
        l->at[++l->count] = id;
    }
    l->last_id = id;
    l->last = *number;
    return PFR_OK;
}

static uint32_t number_of(const struct id_list *l, uint64_t id) {
    uint64_t number;
    return u64_map_get(&l->of, id, &number) ? (uint32_t)number : 0;
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* --- Rows of dictionaries. */

#define STACK_FRAMES_MOST 65537u

static pfr_status missing(const char *table, uint64_t id, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "store",
                    "the store is damaged: there is no %s %016" PRIx64 "; see perfray store check", table, id);
}

static pfr_status own_text(struct stored *s, struct store_text text, struct store_text *own, pfr_error *err) {
    own->bytes = arena_text(&s->arena, text.bytes, text.length);
    own->length = text.length;
    return own->bytes ? PFR_OK : mem_fail(&s->memory, err, "store");
}

static pfr_status own_chars(struct stored *s, struct store_text text, const char **own, pfr_error *err) {
    struct store_text copy;
    PFR_TRY(own_text(s, text, &copy, err));
    *own = copy.bytes;
    return PFR_OK;
}

static pfr_status take_event(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                             pfr_error *err) {
    struct stored_event *e = &s->events[number];
    PFR_TRY(own_chars(s, store_text_at(b, 1, row), &e->name, err));
    PFR_TRY(own_chars(s, store_text_at(b, 2, row), &e->unit, err));
    e->traced = store_u8(b, 3, row);
    e->chains = store_u8(b, 4, row);
    e->frequency = store_u64(b, 5, row);
    e->there = true;
    return PFR_OK;
}

static pfr_status take_comm(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                            pfr_error *err) {
    return own_text(s, store_text_at(b, 1, row), &s->comms[number], err);
}

static pfr_status take_object(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                              pfr_error *err) {
    struct stored_object *o = &s->objects[number];
    PFR_TRY(own_text(s, store_text_at(b, 1, row), &o->path, err));
    PFR_TRY(own_text(s, store_text_at(b, 2, row), &o->name, err));
    PFR_TRY(own_chars(s, store_text_at(b, 3, row), &o->build_id, err));
    o->kind = store_u8(b, 4, row);
    o->listed = store_u8(b, 5, row);
    o->pid = store_u32(b, 6, row);
    o->there = true;
    return PFR_OK;
}

static pfr_status take_frame(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                             pfr_error *err) {
    struct stored_frame *f = &s->frames[number];
    PFR_TRY(id_list_put(&s->object_ids, &s->memory, store_u64(b, 1, row), &f->object, err));
    PFR_TRY(own_text(s, store_text_at(b, 2, row), &f->name, err));
    f->address = store_u64(b, 3, row);
    f->ip = store_u64(b, 4, row);
    f->size = store_u64(b, 5, row);
    f->mode = store_u8(b, 6, row);
    f->named = store_u8(b, 7, row);
    f->inlined = store_u8(b, 8, row);
    f->there = true;
    return PFR_OK;
}

static pfr_status take_stack(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                             pfr_error *err) {
    struct stored_stack *k = &s->stacks[number];
    const struct store_list list = store_list_at(b, 3, row);
    uint32_t *frames = arena_take(&s->arena, list.count * sizeof *frames, sizeof *frames);
    if (!frames)
        return mem_fail(&s->memory, err, "store");
    if (list.count == 0 || list.count > STACK_FRAMES_MOST)
        return missing("stack, with frames,", store_u64(b, 0, row), err);
    for (size_t i = 0; i < list.count; i++)
        PFR_TRY(id_list_put(&s->frame_ids, &s->memory, list.at[i] ? list.at[i] : 1, &frames[i], err));
    *k = (struct stored_stack){
        .frames = frames, .count = (uint32_t)list.count, .apart = store_u8(b, 2, row), .there = true};
    return PFR_OK;
}

typedef pfr_status take_row(struct stored *s, const struct store_batch *b, uint32_t row, uint32_t number,
                            pfr_error *err);

/* A dictionary that is being loaded. */
struct dictionary {
    struct stored *stored;
    struct id_list *ids;
    take_row *take;
    bool whole;  /* ids without a number get one */
    void **rows; /* by number; grows if `whole` */
    size_t *room, size;
};

static pfr_status make_rows(struct dictionary *d, pfr_error *err) {
    const size_t wanted = (size_t)d->ids->count + 1;
    if (*d->room >= wanted)
        return PFR_OK;
    void *more = mem_grow_zeroed(&d->stored->memory, *d->rows, wanted - 1, d->room, wanted, d->size);
    if (!more)
        return mem_fail(&d->stored->memory, err, "store");
    *d->rows = more;
    return PFR_OK;
}

static pfr_status take_batch(void *context, const struct store_batch *b, pfr_error *err) {
    struct dictionary *d = context;
    for (uint32_t row = 0; row < b->rows; row++) {
        const uint64_t id = store_u64(b, 0, row);
        uint32_t number = number_of(d->ids, id);
        if (!number && d->whole) {
            PFR_TRY(id_list_put(d->ids, &d->stored->memory, id, &number, err));
            PFR_TRY(make_rows(d, err));
        }
        if (number)
            PFR_TRY(d->take(d->stored, b, row, number, err));
    }
    return PFR_OK;
}

static pfr_status load(struct dictionary *d, struct pfr_store *store, enum store_query query, pfr_error *err) {
    struct memory *memory = &d->stored->memory;
    struct store_params params = {.nr_ids = d->ids->count};
    PFR_TRY(make_rows(d, err));
    if (d->whole)
        return store->engine->query(store->handle, query, &params, take_batch, d, err);
    if (params.nr_ids == 0)
        return PFR_OK;
    uint64_t *const sorted = mem_alloc(memory, params.nr_ids, sizeof *sorted);
    if (!sorted)
        return mem_fail(memory, err, "store");
    memcpy(sorted, d->ids->at + 1, params.nr_ids * sizeof *sorted);
    qsort(sorted, params.nr_ids, sizeof *sorted, by_value);
    params.ids = sorted;
    const pfr_status st = store->engine->query(store->handle, query, &params, take_batch, d, err);
    mem_free(memory, sorted, params.nr_ids, sizeof *sorted);
    return st;
}

#define DICTIONARY(s, name, take, whole)                                                                               \
    (struct dictionary) {                                                                                              \
        s, &(s)->name##_ids, take, whole, (void **)&(s)->name##s, &(s)->nr_##name##s, sizeof *(s)->name##s             \
    }

#define CHECK(s, name)                                                                                                 \
    for (uint32_t i = 1; i <= (s)->name##_ids.count; i++)                                                              \
        if (!(s)->name##s[i].there)                                                                                    \
            return missing(#name, (s)->name##_ids.at[i], err);

static pfr_status check(const struct stored *s, pfr_error *err) {
    CHECK(s, event)
    CHECK(s, stack)
    CHECK(s, frame)
    CHECK(s, object)
    for (uint32_t i = 1; i <= s->comm_ids.count; i++)
        if (!s->comms[i].bytes)
            return missing("comm", s->comm_ids.at[i], err);
    return PFR_OK;
}

pfr_status stored_load_words(struct stored *s, struct pfr_store *store, pfr_error *err) {
    struct dictionary events = DICTIONARY(s, event, take_event, true), comms = DICTIONARY(s, comm, take_comm, true);
    PFR_TRY(load(&events, store, STORE_EVENTS, err));
    return load(&comms, store, STORE_COMMS, err);
}

/* --- Objects without a build-id. */

/* Orders by everything but the build-id. */
static int compare_files(const struct stored_object *x, const struct stored_object *y) {
    const int paths = strcmp(x->path.bytes, y->path.bytes), names = strcmp(x->name.bytes, y->name.bytes);
    if (paths || names)
        return paths ? paths : names;
    return x->kind != y->kind ? x->kind - y->kind : (x->pid > y->pid) - (x->pid < y->pid);
}

/* Among the objects of one file, those without a build-id come first. */
static int by_file(const void *a, const void *b) {
    const struct stored_object *const x = *(struct stored_object *const *)a;
    const struct stored_object *const y = *(struct stored_object *const *)b;
    const int files = compare_files(x, y);
    return files ? files : strcmp(x->build_id, y->build_id);
}

/* Joins the `count` objects of one file, unless they have different build-ids: all get the number of the last
   object, which has the build-id if any of the objects has it. */
static void join_file(const struct stored *s, struct stored_object *const *at, size_t count, uint32_t *number) {
    const struct stored_object *const last = at[count - 1];
    for (size_t i = 0; i < count; i++)
        if (*at[i]->build_id && strcmp(at[i]->build_id, last->build_id) != 0)
            return;
    for (size_t i = 0; i < count; i++)
        number[at[i] - s->objects] = (uint32_t)(last - s->objects);
}

static void join_files(const struct stored *s, struct stored_object **sorted, uint32_t *number) {
    const uint32_t count = s->object_ids.count;
    for (uint32_t i = 0; i <= count; i++) {
        number[i] = i;
        sorted[i] = &s->objects[i];
    }
    qsort(sorted + 1, count, sizeof(struct stored_object *), by_file);
    for (uint32_t i = 1, next; i <= count; i = next) {
        for (next = i + 1; next <= count && compare_files(sorted[i], sorted[next]) == 0;)
            next++;
        join_file(s, sorted + i, next - i, number);
    }
    for (uint32_t i = 1; i <= s->frame_ids.count; i++)
        s->frames[i].object = number[s->frames[i].object];
}

/* perf writes build-ids only for objects in which samples were taken, so a file may have its build-id in some
   recordings and not in others. All frames of the file get the same object, unless several builds of the file were
   selected. */
static pfr_status join_objects(struct stored *s, pfr_error *err) {
    const size_t count = (size_t)s->object_ids.count + 1;
    struct stored_object **const sorted = mem_alloc(&s->memory, count, sizeof(struct stored_object *));
    uint32_t *const number = mem_alloc(&s->memory, count, sizeof *number);
    const bool has_room = sorted && number;
    if (has_room)
        join_files(s, sorted, number);
    mem_free(&s->memory, sorted, count, sizeof(struct stored_object *));
    mem_free(&s->memory, number, count, sizeof *number);
    return has_room ? PFR_OK : mem_fail(&s->memory, err, "store");
}

/* Stacks are loaded before frames, to which they refer, and frames before objects. */
pfr_status stored_load_names(struct stored *s, struct pfr_store *store, pfr_error *err) {
    struct dictionary events = DICTIONARY(s, event, take_event, false), comms = DICTIONARY(s, comm, take_comm, false),
                      stacks = DICTIONARY(s, stack, take_stack, false),
                      frames = DICTIONARY(s, frame, take_frame, false),
                      objects = DICTIONARY(s, object, take_object, false);
    PFR_TRY(load(&events, store, STORE_EVENTS, err));
    PFR_TRY(load(&comms, store, STORE_COMMS, err));
    PFR_TRY(load(&stacks, store, STORE_STACKS, err));
    PFR_TRY(load(&frames, store, STORE_FRAMES, err));
    PFR_TRY(load(&objects, store, STORE_OBJECTS, err));
    PFR_TRY(check(s, err));
    return join_objects(s, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a profile to rows: frames and stacks by hash, and sums by slot, event, comm and stack. */
#include "store/store_push.h"

#include "file/read/event_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Dictionaries. */

static struct intern_text name_of(const struct push *p, uint32_t text) {
    return intern_get(&p->profile->state.names, text);
}

static void hex(const uint8_t *bytes, unsigned count, char *to) {
    for (unsigned i = 0; i < count; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

static pfr_status put_object(struct push *p, uint64_t hash, const struct object *o, const char *build_id,
                             pfr_error *err) {
    struct store_columns *c = &p->columns[STORE_TABLE_object];
    const struct intern_text path = name_of(p, o->path), name = name_of(p, o->short_name);
    store_columns_number(c, 0, hash);
    PFR_TRY(store_columns_text(c, 1, path.bytes, path.length, err));
    PFR_TRY(store_columns_text(c, 2, name.bytes, name.length, err));
    PFR_TRY(store_columns_text(c, 3, build_id, strlen(build_id), err));
    store_columns_number(c, 4, o->kind);
    store_columns_number(c, 5, o->listed);
    store_columns_number(c, 6, o->pid);
    return push_next(p, STORE_TABLE_object, err);
}

static pfr_status push_object(struct push *p, uint32_t object, uint64_t *hash, pfr_error *err) {
    const struct object *o = &p->profile->state.objects.at[object];
    const struct intern_text path = name_of(p, o->path), name = name_of(p, o->short_name);
    char build_id[2 * BUILD_ID_ROOM + 1] = "";
    struct store_hash h;
    bool is_new;
    hex(o->build_id, o->build_id_size, build_id);
    store_hash_begin(&h);
    store_hash_bytes(&h, path.bytes, path.length);
    store_hash_bytes(&h, name.bytes, name.length);
    store_hash_bytes(&h, build_id, strlen(build_id));
    store_hash_number(&h, o->kind);
    store_hash_number(&h, o->listed);
    store_hash_number(&h, o->pid);
    *hash = store_hash_end(&h);
    PFR_TRY(push_is_new(p, *hash, &is_new, err));
    return is_new ? put_object(p, *hash, o, build_id, err) : PFR_OK;
}

static pfr_status put_frame(struct push *p, uint64_t hash, uint64_t object, const struct push_frame *f,
                            pfr_error *err) {
    struct store_columns *c = &p->columns[STORE_TABLE_frame];
    store_columns_number(c, 0, hash);
    store_columns_number(c, 1, object);
    PFR_TRY(store_columns_text(c, 2, f->name, f->length, err));
    store_columns_number(c, 3, f->address);
    store_columns_number(c, 4, f->ip);
    store_columns_number(c, 5, f->size);
    store_columns_number(c, 6, f->mode);
    store_columns_number(c, 7, f->named);
    store_columns_number(c, 8, f->inlined);
    return push_next(p, STORE_TABLE_frame, err);
}

pfr_status push_frame(struct push *p, const struct push_frame *f, uint64_t *hash, pfr_error *err) {
    uint64_t object = 0;
    struct store_hash h;
    bool is_new;
    if (f->object != NO_OBJECT)
        PFR_TRY(push_object(p, f->object, &object, err));
    const uint64_t numbers[] = {object, f->address, f->ip, f->size, f->mode, f->named, f->inlined};
    store_hash_begin(&h);
    store_hash_bytes(&h, f->name, f->length);
    store_hash_bytes(&h, numbers, sizeof numbers);
    *hash = store_hash_end(&h);
    PFR_TRY(push_is_new(p, *hash, &is_new, err));
    return is_new ? put_frame(p, *hash, object, f, err) : PFR_OK;
}

static pfr_status frame_hash(struct push *p, uint32_t number, uint64_t *hash, pfr_error *err) {
    const struct profile_frame *f = &p->profile->frames[number];
    const bool named = f->text != NO_TEXT;
    const struct intern_text name = named ? intern_get(&p->profile->texts, f->text) : (struct intern_text){NULL, 0};
    if (!p->frame_of[number])
        PFR_TRY(push_frame(p,
                           &(struct push_frame){.object = f->object,
                                                .name = named ? (const void *)name.bytes : "",
                                                .length = name.length,
                                                .address = f->address,
                                                .ip = named ? 0 : f->ip,
                                                .size = f->size,
                                                .mode = f->cpumode,
                                                .named = named,
                                                .inlined = f->is_inlined},
                           &p->frame_of[number], err));
    *hash = p->frame_of[number];
    return PFR_OK;
}

/* Reads the chain of a node, innermost frame first, without the root, which has no frame. */
static pfr_status read_chain(struct push *p, uint32_t node, size_t *count, pfr_error *err) {
    const struct profile_node *nodes = p->profile->nodes;
    *count = 0;
    for (uint32_t n = node; nodes[n].parent != NO_NODE; n = nodes[n].parent) {
        void *more = mem_grow(p->memory, p->chain, *count, &p->chain_room, 256, sizeof *p->chain);
        if (!more)
            return mem_fail(p->memory, err, "store");
        p->chain = more;
        PFR_TRY(frame_hash(p, node_frame(&nodes[n]), &p->chain[(*count)++], err));
    }
    return PFR_OK;
}

static pfr_status push_stack(struct push *p, uint32_t node, uint64_t *hash, uint64_t *leaf, pfr_error *err) {
    const bool apart = p->profile->nodes[node].frame & NODE_APART;
    struct store_columns *c = &p->columns[STORE_TABLE_stack];
    struct store_hash h;
    size_t count;
    bool is_new;
    *hash = *leaf = 0;
    PFR_TRY(read_chain(p, node, &count, err));
    if (count == 0)
        return PFR_OK;
    *leaf = p->chain[0];
    store_hash_begin(&h);
    store_hash_bytes(&h, p->chain, count * sizeof *p->chain);
    store_hash_number(&h, apart);
    *hash = store_hash_end(&h);
    PFR_TRY(push_is_new(p, *hash, &is_new, err));
    if (!is_new)
        return PFR_OK;
    store_columns_number(c, 0, *hash);
    store_columns_number(c, 1, p->chain[0]);
    store_columns_number(c, 2, apart);
    PFR_TRY(store_columns_list(c, 3, p->chain, count, err));
    return push_next(p, STORE_TABLE_stack, err);
}

static pfr_status push_event(struct push *p, uint32_t number, uint64_t *hash, pfr_error *err) {
    const pfr_event *e = profile_event(p->reader, number);
    const char *const name = e->name ? e->name : "", *const known = p->is_trace ? e->unit : event_unit(e);
    const char *const unit = known ? known : ""; /* stored, because views otherwise find the unit by the event's
                                                    type, which a store does not have */
    const bool traced = p->is_trace, chains = e->attr.sample_type & PFR_SAMPLE_CALLCHAIN;
    struct store_columns *c = &p->columns[STORE_TABLE_event];
    struct store_hash h;
    bool is_new;
    store_hash_begin(&h);
    store_hash_bytes(&h, name, strlen(name));
    store_hash_bytes(&h, unit, strlen(unit));
    store_hash_number(&h, traced);
    store_hash_number(&h, chains);
    store_hash_number(&h, p->upload.frequency);
    *hash = store_hash_end(&h);
    PFR_TRY(push_is_new(p, *hash, &is_new, err));
    if (!is_new)
        return PFR_OK;
    store_columns_number(c, 0, *hash);
    PFR_TRY(store_columns_text(c, 1, name, strlen(name), err));
    PFR_TRY(store_columns_text(c, 2, unit, strlen(unit), err));
    store_columns_number(c, 3, traced);
    store_columns_number(c, 4, chains);
    store_columns_number(c, 5, p->upload.frequency);
    return push_next(p, STORE_TABLE_event, err);
}

static pfr_status push_comm(struct push *p, uint32_t text, uint64_t *hash, pfr_error *err) {
    const struct intern_text name = intern_get(&p->profile->texts, text);
    struct store_columns *c = &p->columns[STORE_TABLE_comm];
    struct store_hash h;
    bool is_new;
    store_hash_begin(&h);
    store_hash_bytes(&h, name.bytes, name.length);
    *hash = store_hash_end(&h);
    PFR_TRY(push_is_new(p, *hash, &is_new, err));
    if (!is_new)
        return PFR_OK;
    store_columns_number(c, 0, *hash);
    PFR_TRY(store_columns_text(c, 1, name.bytes, name.length, err));
    return push_next(p, STORE_TABLE_comm, err);
}

/* --- Sums. */

/* Sets the members of a row that are the same for all stacks of a group. */
static pfr_status group_row(struct push *p, const struct profile_group *g, struct push_row *row, pfr_error *err) {
    const struct profile *profile = p->profile;
    const uint64_t slot = p->upload.slot;
    *row = (struct push_row){0};
    PFR_TRY(push_event(p, g->event, &row->event, err));
    const uint64_t comm = profile_value(profile, g, PROFILE_COMM);
    if ((uint32_t)comm != NO_TEXT)
        PFR_TRY(push_comm(p, (uint32_t)comm, &row->comm, err));
    if (p->is_trace) {
        row->time = p->upload.first;
        return PFR_OK;
    }
    const uint64_t time = profile_value(profile, g, PROFILE_TIME);
    row->time = time > UINT64_MAX - slot ? 0 : time + (uint64_t)p->ahead;
    return PFR_OK;
}

static pfr_status add_row(struct push *p, const struct push_row *row, pfr_error *err) {
    void *more = mem_grow(p->memory, p->rows, p->nr_rows, &p->rows_room, 1024, sizeof *p->rows);
    if (!more)
        return mem_fail(p->memory, err, "store");
    p->rows = more;
    p->rows[p->nr_rows++] = *row;
    p->upload.samples += row->n;
    return PFR_OK;
}

static int by_key(const void *x, const void *y) {
    const struct push_row *a = x, *b = y;
    const uint64_t keys[][2] = {{a->time, b->time}, {a->event, b->event}, {a->comm, b->comm}, {a->stack, b->stack}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

bool push_join_rows(struct push *p) {
    size_t kept = 0;
    bool fits = true;
    if (p->nr_rows)
        qsort(p->rows, p->nr_rows, sizeof *p->rows, by_key);
    for (size_t i = 0; i < p->nr_rows; i++) {
        if (kept && by_key(&p->rows[kept - 1], &p->rows[i]) == 0) {
            struct push_row *const to = &p->rows[kept - 1];
            fits &= !__builtin_add_overflow(to->n, p->rows[i].n, &to->n);
            fits &= !__builtin_add_overflow(to->weight, p->rows[i].weight, &to->weight);
        } else {
            p->rows[kept++] = p->rows[i];
        }
    }
    p->nr_rows = kept;
    return fits;
}

/* Finds the group of each node. A parent has a smaller number than its children. */
static uint32_t *groups_of_nodes(struct push *p, pfr_error *err) {
    const struct profile *profile = p->profile;
    uint32_t *of = mem_alloc(p->memory, profile->nr_nodes, sizeof *of);
    if (!of) {
        mem_fail(p->memory, err, "store");
        return NULL;
    }
    for (uint32_t n = 0; n < profile->nr_nodes; n++) {
        const struct profile_node *node = &profile->nodes[n];
        of[n] = node->parent == NO_NODE ? node->frame : of[node->parent];
    }
    return of;
}

static pfr_status collect(struct push *p, const uint32_t *group_of, pfr_error *err) {
    const struct profile *profile = p->profile;
    struct push_row row = {0};
    uint32_t group = UINT32_MAX;
    for (uint32_t n = 0; n < profile->nr_nodes; n++) {
        const struct profile_weight *self = node_weight(&profile->self, n);
        if (!self->samples && !self->weight)
            continue;
        if (group_of[n] != group)
            PFR_TRY(group_row(p, profile->groups[group = group_of[n]], &row, err));
        PFR_TRY(push_stack(p, n, &row.stack, &row.leaf, err));
        row.n = self->samples;
        row.weight = self->weight;
        PFR_TRY(add_row(p, &row, err));
    }
    return PFR_OK;
}

pfr_status push_collect(struct push *p, pfr_error *err) {
    p->frames = p->profile->nr_frames;
    p->frame_of = mem_zeroed(p->memory, p->frames, sizeof *p->frame_of);
    if (!p->frame_of)
        return mem_fail(p->memory, err, "store");
    uint32_t *of = groups_of_nodes(p, err);
    if (!of)
        return PFR_ERR_MEMORY;
    const pfr_status st = collect(p, of, err);
    mem_free(p->memory, of, p->profile->nr_nodes, sizeof *of);
    PFR_TRY(st);
    push_join_rows(p); /* several frames of the profile may be the same frame in the store */
    p->upload.rows = p->nr_rows;
    return PFR_OK;
}

pfr_status push_rows(struct push *p, pfr_error *err) {
    struct store_columns *c = &p->columns[STORE_TABLE_sample];
    for (size_t i = 0; i < p->nr_rows; i++) {
        const struct push_row *row = &p->rows[i];
        const uint64_t numbers[] = {
            p->upload.first / DAY_NS, p->upload.id, row->time, row->event, row->comm, row->stack, row->n, row->weight};
        for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            store_columns_number(c, k, numbers[k]);
        PFR_TRY(push_next(p, STORE_TABLE_sample, err));
    }
    return PFR_OK;
}

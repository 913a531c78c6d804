/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a profile from the selected rows. It has the same frames, groups and nodes, or sums, as a profile counted from
 * the samples, so every view prints the same as for the recording. Requests for data that a store does not have are
 * errors.
 */
#include "store/stored_rows.h"

#include "model/calls/calls.h"
#include "model/profile/count/profile_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CHAIN_SAMPLES 127u

struct filling {
    const struct stored *stored;
    struct profile *profile;
    struct frames_of frames;
    struct node_tree tree;
    uint32_t *object_of, *frame_of; /* numbers in the profile + 1, by number in `stored`; 0: not made yet */
    uint32_t *text_of;              /* of comms: number of the text in the profile + 1; 0: not made yet */
    struct u64_map group_of;        /* event << 32 | comm -> group, if groups do not differ by time */
    struct u64_map node_of;         /* group << 32 | stack -> node; for sums, index in `paths` */
    struct grouped_path *paths;     /* stacks with their sums, for requests of sums */
    size_t paths_room;
    uint32_t *chain;
    size_t chain_room;
};

/* A stack of a group, with the sum of its rows. */
struct grouped_path {
    uint32_t group, stack;
    struct profile_weight self;
};

/* --- Requests for data that a store does not have. */

static pfr_status refuse(const char *what, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "a store does not have %s", what);
}

static pfr_status check(const struct stored *s, const struct profile_request *r, pfr_error *err) {
    const uint32_t kept = PROFILE_BIT(PROFILE_COMM) | PROFILE_BIT(PROFILE_TIME);
    if (r->counted != PROFILE_SAMPLES)
        return refuse("branches, only samples", err);
    if (r->keep)
        return refuse("single samples to filter: select with --where (time, event, comm, host, service, version)", err);
    if (r->keys & ~kept)
        return refuse("processes, threads, CPUs or other values of samples: only thread names", err);
    if (r->unit != PROFILE_FUNCTIONS)
        return refuse("addresses in functions, only functions", err);
    if (r->lines != PROFILE_NO_LINES)
        return refuse("source lines or inlined functions", err);
    if (r->mangled_names)
        return refuse("mangled names", err);
    if (s->functions && request_has_chains(r))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, STORED_SUMS, "sums of functions have no call chains");
    if (s->timeless && r->keys & PROFILE_BIT(PROFILE_TIME))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, STORED_SUMS,
                        "this selection reads sums, which have no times");
    if (r->stitched)
        return refuse("branch stacks to stitch", err);
    for (size_t i = 0; i < s->uploads.count && r->keys & PROFILE_BIT(PROFILE_TIME); i++)
        if (r->time_quantum < s->uploads.at[i].slot)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store",
                            "a store has no times below a slot: --time-quantum must be at least %" PRIu64 "s",
                            (s->uploads.at[i].slot + SECOND_NS - 1) / SECOND_NS);
    return PFR_OK;
}

/* --- Objects, frames, comms. */

static bool read_digit(char c, uint8_t *value) {
    const char *const digits = "0123456789abcdef", *const at = c ? strchr(digits, c) : NULL;
    *value = at ? (uint8_t)(at - digits) : 0;
    return at;
}

static uint8_t read_build_id(const char *text, uint8_t to[BUILD_ID_ROOM]) {
    uint8_t size = 0, high, low;
    while (size < BUILD_ID_ROOM && read_digit(text[2 * size], &high) && read_digit(text[2 * size + 1], &low))
        to[size++] = (uint8_t)(high << 4 | low);
    return size;
}

/* Each object of the store becomes an object of the profile. */
static pfr_status add_object(struct filling *f, uint32_t number, uint32_t *object, pfr_error *err) {
    const struct stored_object *from = &f->stored->objects[number];
    struct objects *all = &f->profile->state.objects;
    struct object o = {.sibling = NO_OBJECT,
                       .pid = from->pid,
                       .listed = from->listed,
                       .kind = from->kind <= OBJECT_OTHER ? from->kind : (uint8_t)OBJECT_OTHER};
    PFR_TRY(intern_put(all->names, from->path.bytes, from->path.length, &o.path, err));
    PFR_TRY(intern_put(all->names, from->name.bytes, from->name.length, &o.short_name, err));
    o.build_id_size = read_build_id(from->build_id, o.build_id);
    PFR_TRY(intern_put(&all->keys, &number, sizeof number, object, err));
    void *more = mem_grow(all->memory, all->at, *object, &all->room, 64, sizeof *all->at);
    if (!more)
        return mem_fail(all->memory, err, "objects");
    all->at = more;
    all->at[*object] = o;
    return PFR_OK;
}

static pfr_status object_number(struct filling *f, uint32_t number, uint32_t *object, pfr_error *err) {
    *object = NO_OBJECT;
    if (number == 0)
        return PFR_OK;
    if (!f->object_of[number]) {
        PFR_TRY(add_object(f, number, object, err));
        f->object_of[number] = *object + 1;
    }
    *object = f->object_of[number] - 1;
    return PFR_OK;
}

static pfr_status add_frame(struct filling *f, uint32_t number, uint32_t *frame, pfr_error *err) {
    const struct stored_frame *from = &f->stored->frames[number];
    const bool together = f->profile->request.unnamed == PROFILE_UNNAMED_TOGETHER && !from->named;
    struct profile_frame to = {.text = NO_TEXT,
                               .mangled = NO_TEXT,
                               .cpumode = from->mode,
                               .is_inlined = from->inlined,
                               .address = together ? 0 : from->address,
                               .ip = from->ip,
                               .start = from->named ? from->address : 0,
                               .size = from->size};
    PFR_TRY(object_number(f, from->object, &to.object, err));
    if (together)
        to.ip = to.object == NO_OBJECT ? from->mode : 0;
    if (from->named)
        PFR_TRY(intern_put(&f->profile->texts, from->name.bytes, from->name.length, &to.text, err));
    return profile_frames_put(&f->frames, &to, frame, err);
}

static pfr_status frame_number(struct filling *f, uint32_t number, uint32_t *frame, pfr_error *err) {
    if (!f->frame_of[number]) {
        PFR_TRY(add_frame(f, number, frame, err));
        f->frame_of[number] = *frame + 1;
    }
    *frame = f->frame_of[number] - 1;
    return PFR_OK;
}

static pfr_status comm_text(struct filling *f, uint32_t number, uint64_t *value, pfr_error *err) {
    const struct store_text *name = &f->stored->comms[number];
    uint32_t text = NO_TEXT;
    if (number && !f->text_of[number]) {
        PFR_TRY(intern_put(&f->profile->texts, name->bytes, name->length, &text, err));
        f->text_of[number] = text + 1;
    }
    *value = number ? f->text_of[number] - 1 : NO_TEXT;
    return PFR_OK;
}

/* --- Nodes. */

static pfr_status make_group(struct filling *f, const struct stored_row *row, uint32_t *group, pfr_error *err) {
    const struct profile_request *r = &f->profile->request;
    uint64_t values[2];
    unsigned count = 0;
    if (r->keys & PROFILE_BIT(PROFILE_COMM))
        PFR_TRY(comm_text(f, row->comm, &values[count++], err));
    if (r->keys & PROFILE_BIT(PROFILE_TIME))
        values[count++] = row->time - row->time % r->time_quantum;
    return profile_tree_group(&f->tree, row->event - 1, values, count, group, err);
}

static pfr_status find_group(struct filling *f, const struct stored_row *row, uint32_t *group, pfr_error *err) {
    bool is_new;
    if (f->profile->request.keys & PROFILE_BIT(PROFILE_TIME))
        return make_group(f, row, group, err);
    uint64_t *const known = u64_map_at(&f->group_of, (uint64_t)row->event << 32 | row->comm, 0, &is_new);
    if (!known)
        return mem_fail(f->profile->memory, err, "store");
    if (is_new) {
        PFR_TRY(make_group(f, row, group, err));
        *known = *group;
    }
    *group = (uint32_t)*known;
    return PFR_OK;
}

/* Whether the sampled address gets a node of its own (NODE_APART). True if the address is not part of the chain or,
   with PROFILE_UNNAMED_APART, if it has no name and its address in the object is not the recorded address. */
static bool is_apart(const struct filling *f, const struct stored_stack *stack) {
    const struct stored_frame *leaf = &f->stored->frames[stack->frames[0]];
    return stack->apart ||
           (f->profile->request.unnamed == PROFILE_UNNAMED_APART && !leaf->named && leaf->address != leaf->ip);
}

/* Puts those frames of the stack that the request needs into f->chain, outermost first. */
static pfr_status read_chain(struct filling *f, const struct stored_stack *stack, uint32_t *count, pfr_error *err) {
    const struct profile_request *r = &f->profile->request;
    const uint32_t most = r->max_stack ? r->max_stack : f->stored->source.traced ? PROFILE_CALLS_DEEP : CHAIN_SAMPLES;
    const bool chains = request_has_chains(r), apart = chains && is_apart(f, stack);
    const uint32_t own = stack->apart, all = stack->count - own; /* own: the number of frames before those of the chain,
                                                                    0 or 1 */
    const bool cut = chains && all > most;
    /* uses `kept` frames of the chain, from number `from` on in the stored order (innermost first) */
    const uint32_t kept = !chains ? 0 : cut ? most : all, from = own + (cut && r->from_outermost ? all - most : 0);
    void *more = mem_grow(f->profile->memory, f->chain, (size_t)kept + 1, &f->chain_room, 256, sizeof *f->chain);
    if (!more)
        return mem_fail(f->profile->memory, err, "store");
    f->chain = more;
    *count = 0;
    for (uint32_t i = kept; i > 0; i--)
        PFR_TRY(frame_number(f, stack->frames[from + i - 1], &f->chain[(*count)++], err));
    if (own || !chains || (cut && r->from_outermost)) {
        PFR_TRY(frame_number(f, stack->frames[0], &f->chain[*count], err));
        f->chain[(*count)++] |= chains ? NODE_APART : 0;
    } else if (apart) {
        f->chain[*count] = f->chain[*count - 1] | NODE_APART;
        ++*count;
    }
    return PFR_OK;
}

static pfr_status find_node(struct filling *f, const struct stored_row *row, uint32_t *node, pfr_error *err) {
    uint32_t group, count = 0;
    bool is_new;
    PFR_TRY(find_group(f, row, &group, err));
    *node = f->tree.groups[group]->root;
    if (!(row->stack || row->frame) || !request_has_frames(&f->profile->request))
        return PFR_OK;
    const uint32_t number = row->frame ? f->stored->stack_ids.count + row->frame : row->stack;
    uint64_t *known = u64_map_at(&f->node_of, (uint64_t)group << 32 | number, 0, &is_new);
    if (!known)
        return mem_fail(f->profile->memory, err, "store");
    if (is_new) {
        const struct stored_stack one = {.frames = &row->frame, .count = 1};
        PFR_TRY(read_chain(f, row->frame ? &one : &f->stored->stacks[row->stack], &count, err));
        for (uint32_t at = 0; at < count;)
            PFR_TRY(profile_tree_descend(&f->tree, node, f->chain, count, &at, err));
        *known = *node;
    }
    *node = (uint32_t)*known;
    return PFR_OK;
}

static pfr_status add_to_node(struct filling *f, const struct stored_row *row, const struct profile_weight *w,
                              pfr_error *err) {
    uint32_t node;
    PFR_TRY(find_node(f, row, &node, err));
    profile_tree_weigh(&f->tree, node, w);
    return PFR_OK;
}

/* --- Sums. */

/* Adds a row to the sum of its stack. The weight of a row without a stack is added to the group's root. */
static pfr_status add_to_path(struct filling *f, const struct stored_row *row, const struct profile_weight *w,
                              pfr_error *err) {
    uint32_t group;
    if (row->stack == 0)
        return add_to_node(f, row, w, err);
    PFR_TRY(find_group(f, row, &group, err));
    const size_t count = u64_map_count(&f->node_of);
    bool is_new;
    const uint64_t *const index = u64_map_at(&f->node_of, (uint64_t)group << 32 | row->stack, count, &is_new);
    void *more = mem_grow(f->profile->memory, f->paths, count, &f->paths_room, 1024, sizeof *f->paths);
    f->paths = more ? more : f->paths;
    if (!index || !more)
        return mem_fail(f->profile->memory, err, "store");
    if (is_new)
        f->paths[*index] = (struct grouped_path){.group = group, .stack = row->stack};
    weight_add(&f->paths[*index].self, w);
    return PFR_OK;
}

/* Adds the weight of a stack to the sums of its frames. */
static pfr_status add_path(struct filling *f, struct sample_counter *c, size_t index, pfr_error *err) {
    const struct grouped_path *const path = &f->paths[index];
    struct summed stack = {.group = path->group, .place = index};
    PFR_TRY(read_chain(f, &f->stored->stacks[path->stack], &stack.count, err));
    stack.frames = f->chain;
    PFR_TRY(sums_expect(&c->sums, &stack, err));
    sums_turn(&c->sums);
    return sums_add(c, &stack, &path->self, err);
}

static pfr_status add_paths(struct filling *f, pfr_error *err) {
    struct profile *p = f->profile;
    struct sample_counter *const c = mem_zeroed(p->memory, 1, sizeof *c);
    if (!c)
        return mem_fail(p->memory, err, "store");
    c->profile = p;
    c->memory = p->memory;
    c->cache.frames = &f->frames;
    pfr_status st = sums_begin(c, err);
    for (size_t i = 0; i < u64_map_count(&f->node_of) && st >= 0; i++)
        st = add_path(f, c, i, err);
    if (st >= 0)
        st = sums_give(&c->sums, true, p, err);
    sums_free(&c->sums);
    mem_free(p->memory, c, 1, sizeof *c);
    return st;
}

/* --- Rows. */

static pfr_status add_rows(struct filling *f, pfr_error *err) {
    const struct stored *s = f->stored;
    struct profile *p = f->profile;
    const bool sums = p->request.shape == PROFILE_SUMS;
    for (size_t i = 0; i < s->nr_rows; i++) {
        const struct profile_weight w = {stored_amount(s, &s->rows[i]), s->rows[i].n};
        PFR_TRY(sums ? add_to_path(f, &s->rows[i], &w, err) : add_to_node(f, &s->rows[i], &w, err));
        struct profile_weight *const total = &p->totals[s->rows[i].event - 1];
        total->samples += w.samples;
        if (__builtin_add_overflow(total->weight, w.weight, &total->weight))
            total->weight = UINT64_MAX;
    }
    return sums ? add_paths(f, err) : PFR_OK;
}

/* --- The steps. */

static pfr_status make_room(struct filling *f, pfr_error *err) {
    const struct stored *s = f->stored;
    struct memory *m = f->profile->memory;
    f->object_of = mem_zeroed(m, (size_t)s->object_ids.count + 1, sizeof *f->object_of);
    f->frame_of = mem_zeroed(m, (size_t)s->frame_ids.count + 1, sizeof *f->frame_of);
    f->text_of = mem_zeroed(m, (size_t)s->comm_ids.count + 1, sizeof *f->text_of);
    return f->object_of && f->frame_of && f->text_of ? PFR_OK : mem_fail(m, err, "store");
}

static pfr_status fill(struct filling *f, pfr_error *err) {
    struct profile *p = f->profile;
    p->nr_events = f->stored->event_ids.count;
    p->ticks_per_second = f->stored->source.traced ? f->stored->frequency : 0;
    p->totals = mem_zeroed(p->memory, (size_t)p->nr_events + 1, sizeof *p->totals);
    if (!p->totals)
        return mem_fail(p->memory, err, "profile");
    PFR_TRY(state_begin(&p->state, p->reader, p->memory, &no_jit, err));
    PFR_TRY(make_room(f, err));
    PFR_TRY(profile_tree_begin_weights(&f->tree, err));
    PFR_TRY(add_rows(f, err));
    profile_tree_give(&f->tree, p);
    return PFR_OK;
}

/* Reports what was lost when the recordings were made. */
static void report_losses(const struct stored *s, struct profile *p) {
    const struct profile_request *r = &p->request;
    uint64_t lost = 0, holes = 0;
    char text[160];
    for (size_t i = 0; i < s->uploads.count; i++) {
        lost += s->uploads.at[i].lost;
        holes += s->uploads.at[i].holes > 0;
    }
    p->facts.lossy = holes > 0;
    if (!r->note || !(lost || holes))
        return;
    snprintf(text, sizeof text,
             "%zu uploads: %" PRIu64 " records were lost while recording, %" PRIu64
             " had parts that could not be used (perfray store list)",
             s->uploads.count, lost, holes);
    r->note(r->context, text);
}

pfr_status stored_profile(const struct stored_source *source, struct profile *p, pfr_error *err) {
    struct filling f = {.stored = (const struct stored *)(const void *)source, .profile = p};
    PFR_TRY(check(f.stored, &p->request, err));
    profile_frames_init(&f.frames, p);
    profile_tree_init(&f.tree, p, p->memory);
    u64_map_init(&f.group_of, p->memory);
    u64_map_init(&f.node_of, p->memory);
    const pfr_status st = fill(&f, err);
    if (st >= 0)
        report_losses(f.stored, p);
    mem_free(p->memory, f.object_of, f.object_of ? (size_t)f.stored->object_ids.count + 1 : 0, sizeof *f.object_of);
    mem_free(p->memory, f.frame_of, f.frame_of ? (size_t)f.stored->frame_ids.count + 1 : 0, sizeof *f.frame_of);
    mem_free(p->memory, f.text_of, f.text_of ? (size_t)f.stored->comm_ids.count + 1 : 0, sizeof *f.text_of);
    mem_free(p->memory, f.chain, f.chain_room, sizeof *f.chain);
    mem_free(p->memory, f.paths, f.paths_room, sizeof *f.paths);
    u64_map_free(&f.group_of);
    u64_map_free(&f.node_of);
    profile_tree_free(&f.tree);
    profile_frames_free(&f.frames);
    return st;
}

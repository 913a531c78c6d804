/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds lines to frames, and makes inlined functions frames and nodes of their own, after counting. A frame is an
 * address here (profile_request.unit); each function inlined there becomes a frame with the same address and another
 * name, and each node of the frame becomes a row of nodes:
 *
 *    main > kitchen               main > kitchen > bowl > stir > (kitchen, apart)
 *
 * Samples taken there stay with the containing function, as in perf: it is NODE_APART below the inlined functions.
 */
#include "model/profile/profile_lines.h"

#include "model/names/address_lines.h"

/* State of replacing nodes. Frames inlined at frame f are `first[f]` up to `first[f + 1]`, outermost first. */
struct unfolding {
    struct profile *p;
    uint32_t nr_frames; /* number of frames before inlined functions are added */
    uint32_t *first;
    struct profile_node *nodes;
    struct profile_weight *self;
    uint32_t *new_of;  /* by node: the new node that is the parent of its children */
    uint32_t *self_of; /* by node: the new node that has its own samples, for request.each; otherwise NULL */
    size_t room;
    uint32_t count;
};

static pfr_status put_file(struct profile *p, const char *file, uint32_t *text, pfr_error *err) {
    *text = NO_TEXT;
    return file ? intern_put(&p->texts, file, strlen(file), text, err) : PFR_OK;
}

static pfr_status put_line(struct profile *p, const char *file, uint32_t line, struct profile_line *to,
                           pfr_error *err) {
    to->line = line;
    return put_file(p, file, &to->file, err);
}

/* The place of a frame. Its `offset` is the offset in the object; for a kernel frame, it is the address itself. */
static struct place place_of(const struct profile_frame *f) {
    return (struct place){.object = f->object, .offset = f->address};
}

static pfr_status room_for_frames(struct profile *p, pfr_error *err) {
    const size_t before = p->rooms.frames;
    void *frames = mem_grow(p->memory, p->frames, p->nr_frames, &p->rooms.frames, 256, sizeof *p->frames);
    if (!frames)
        return mem_fail(p->memory, err, "frames");
    p->frames = frames;
    if (p->rooms.frames == before)
        return PFR_OK;
    struct frame_lines *lines = mem_zeroed(p->memory, p->rooms.frames, sizeof *lines);
    if (!lines)
        return mem_fail(p->memory, err, "frames");
    memcpy(lines, p->lines, p->nr_frames * sizeof *lines);
    mem_free(p->memory, p->lines, p->rooms.lines, sizeof *lines);
    p->lines = lines;
    p->rooms.lines = p->rooms.frames;
    return PFR_OK;
}

static pfr_status add_inlined(struct profile *p, uint32_t frame, const struct inlined_call *call, pfr_error *err) {
    PFR_TRY(room_for_frames(p, err));
    if (p->nr_frames == NODE_APART - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^31 frames");
    struct profile_frame made = p->frames[frame];
    struct frame_lines *lines = &p->lines[p->nr_frames];
    made.is_inlined = true;
    made.mangled = NO_TEXT;
    PFR_TRY(intern_put(&p->texts, call->function, call->length, &made.text, err));
    PFR_TRY(put_line(p, call->file, call->line, &lines->own, err));
    lines->sampled = lines->function = lines->own;
    p->frames[p->nr_frames++] = made;
    return PFR_OK;
}

static pfr_status learn_inlined(struct profile *p, uint32_t frame, pfr_error *err) {
    const struct place place = place_of(&p->frames[frame]);
    struct frame_lines *lines = &p->lines[frame];
    struct address_calls calls = {0};
    PFR_TRY(address_calls_at(&p->names, &place, place.offset, &calls, err));
    PFR_TRY(put_line(p, calls.at.file, calls.at.line, &lines->own, err));
    lines->sampled = lines->function = lines->own;
    lines->has_names = calls.at.has_names;
    if (!calls.count)
        return PFR_OK;
    PFR_TRY(put_line(p, calls.inlined[0].file, calls.inlined[0].line, &lines->sampled, err));
    while (calls.count-- > 0)
        PFR_TRY(add_inlined(p, frame, &calls.inlined[calls.count], err));
    return PFR_OK;
}

static pfr_status learn_line(struct profile *p, uint32_t frame, pfr_error *err) {
    const struct place place = place_of(&p->frames[frame]);
    struct address_line line;
    PFR_TRY(address_line_at(&p->names, &place, place.offset, &line, err));
    PFR_TRY(put_line(p, line.file, line.line, &p->lines[frame].own, err));
    PFR_TRY(put_line(p, line.function_file, line.function_line, &p->lines[frame].function, err));
    p->lines[frame].sampled = p->lines[frame].own;
    p->lines[frame].has_names = line.has_names;
    return PFR_OK;
}

/* Whether the frame has an offset in an object. An address in code that was known only at one timestamp has none. */
static bool has_place(const struct profile *p, uint32_t frame) {
    const uint32_t object = p->frames[frame].object;
    return object != NO_OBJECT && p->state.objects.at[object].kind != OBJECT_KSYMBOL;
}

/* Appends frames for inlined functions after the existing ones. */
static pfr_status learn_lines(struct unfolding *u, pfr_error *err) {
    struct profile *p = u->p;
    static const struct profile_line none = {.file = NO_TEXT};
    for (uint32_t f = 0; f < u->nr_frames; f++) {
        u->first[f] = p->nr_frames;
        p->lines[f] = (struct frame_lines){.own = none, .sampled = none, .function = none};
        if (has_place(p, f))
            PFR_TRY((p->request.lines == PROFILE_INLINED ? learn_inlined : learn_line)(p, f, err));
    }
    u->first[u->nr_frames] = p->nr_frames;
    return PFR_OK;
}

/* --- Nodes --- */

static uint32_t inlined_at(const struct unfolding *u, uint32_t n) {
    const struct profile_node *node = &u->p->nodes[n];
    if (node->parent == NO_NODE || node->frame & NODE_APART)
        return 0;
    return u->first[node->frame + 1] - u->first[node->frame];
}

static bool is_sampled(const struct unfolding *u, uint32_t n) {
    const struct profile_weight *self = node_weight(&u->p->self, n);
    return self->samples || self->weight;
}

static uint32_t push_node(struct unfolding *u, uint32_t parent, uint32_t frame) {
    u->nodes[u->count] = (struct profile_node){parent, frame};
    return u->count++;
}

static void unfold_node(struct unfolding *u, uint32_t n) {
    const struct profile_node node = u->p->nodes[n];
    const uint32_t inlined = inlined_at(u, n);
    uint32_t at = push_node(u, node.parent == NO_NODE ? NO_NODE : u->new_of[node.parent], node.frame);
    for (uint32_t i = 0; i < inlined; i++)
        at = push_node(u, at, u->first[node.frame] + i);
    u->new_of[n] = at;
    if (inlined && is_sampled(u, n))
        at = push_node(u, at, node.frame | NODE_APART);
    u->self[at] = *node_weight(&u->p->self, n);
    if (u->self_of)
        u->self_of[n] = at;
}

static uint64_t count_nodes(const struct unfolding *u) {
    uint64_t count = 0;
    for (uint32_t n = 0; n < u->p->nr_nodes; n++) {
        const uint32_t inlined = inlined_at(u, n);
        count += 1 + inlined + (inlined && is_sampled(u, n));
    }
    return count;
}

static void swap_nodes(struct unfolding *u) {
    struct profile *p = u->p;
    for (uint32_t g = 0; g < p->nr_groups; g++)
        p->groups[g]->root = u->new_of[p->groups[g]->root];
    mem_free(p->memory, p->nodes, p->rooms.nodes, sizeof *p->nodes);
    node_weights_free(&p->self, p->memory);
    p->nodes = u->nodes;
    p->self = (struct node_weights){.at = u->self, .room = u->room};
    p->rooms.nodes = u->room;
    p->nr_nodes = u->count;
}

static pfr_status unfold_nodes(struct unfolding *u, pfr_error *err) {
    struct profile *p = u->p;
    const uint32_t before = p->nr_nodes;
    const uint64_t count = count_nodes(u);
    if (count == before)
        return PFR_OK;
    if (count > NODE_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "there are more than 2^32 stacks");
    u->room = (size_t)count;
    u->nodes = mem_alloc(p->memory, u->room, sizeof *u->nodes);
    u->self = mem_zeroed(p->memory, u->room, sizeof *u->self);
    u->new_of = mem_alloc(p->memory, before, sizeof *u->new_of);
    u->self_of = p->request.each ? mem_alloc(p->memory, before, sizeof *u->self_of) : NULL;
    const bool has_room = u->nodes && u->self && u->new_of && (u->self_of || !p->request.each);
    for (uint32_t n = 0; has_room && n < before; n++)
        unfold_node(u, n);
    const pfr_status st = has_room ? PFR_OK : mem_fail(p->memory, err, "inlined functions");
    if (has_room && u->self_of)
        p->request.each->moved(p->request.each->context, u->self_of);
    if (has_room)
        swap_nodes(u);
    else {
        mem_free(p->memory, u->nodes, u->room, sizeof *u->nodes);
        mem_free(p->memory, u->self, u->room, sizeof *u->self);
    }
    mem_free(p->memory, u->new_of, before, sizeof *u->new_of);
    mem_free(p->memory, u->self_of, before, sizeof *u->self_of);
    return st;
}

pfr_status profile_learn_lines(struct profile *p, pfr_error *err) {
    struct unfolding u = {.p = p, .nr_frames = p->nr_frames};
    if (!p->request.lines || !p->nr_frames)
        return PFR_OK;
    u.first = mem_alloc(p->memory, (size_t)u.nr_frames + 1, sizeof *u.first);
    p->lines = mem_zeroed(p->memory, p->rooms.frames, sizeof *p->lines);
    p->rooms.lines = p->lines ? p->rooms.frames : 0;
    pfr_status st = u.first && p->lines ? PFR_OK : mem_fail(p->memory, err, "lines");
    if (st >= 0)
        st = learn_lines(&u, err);
    if (st >= 0 && p->request.lines == PROFILE_INLINED)
        st = unfold_nodes(&u, err);
    mem_free(p->memory, u.first, (size_t)u.nr_frames + 1, sizeof *u.first);
    return st;
}

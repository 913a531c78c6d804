/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of a trace: self costs of calls. The weight of a node is the self time of its calls, its number of
   samples is the number of calls. Each worker sums by group and path (profile_tally.h); at the end these sums become
   groups and nodes. */
#include "model/profile/profile_calls.h"

#include "base/memory/capped_sum.h"
#include "model/profile/count/profile_values.h"
#include "model/profile/profile_tally.h"

#include <inttypes.h>
#include <stdio.h>

struct calls_profile {
    struct profile *profile;
    struct tally *workers;
    unsigned count;
    struct xray_clock clock; /* clock of exits, if tally_needs_each */
    struct function_names names;
    struct frames_of frames;
    struct node_tree tree;
    struct u64_map frame_of;   /* function -> frame */
    uint32_t *node_of, *stamp; /* by path of the worker: its node in the current group, valid if its stamp is `now` */
    uint32_t *frame_at;        /* by path: frame of its function; NO_FRAME: not looked up yet */
    uint32_t *depth_of;        /* by path: number of functions in it */
    uint32_t *cut_of;          /* by path: the path that remains after its depth is limited */
    uint32_t *chain;           /* working memory: paths from a call outwards, or frames */
    size_t paths, chain_room;
    uint32_t now;        /* current stamp */
    uint64_t below_zero; /* number of nodes with a negative self time */
    uint64_t cut;        /* calls deeper than the default limit; not counted if the request sets the limit */
};

/* --- Results of workers. */

static void free_workers(struct calls_profile *all) {
    for (unsigned i = 0; i < all->count; i++)
        tally_free(&all->workers[i]);
    mem_free(all->profile->memory, all->workers, all->count, sizeof *all->workers);
    all->workers = NULL;
    all->count = 0;
}

static pfr_status on_begin(void *context, unsigned workers, pfr_error *err) {
    struct calls_profile *all = context;
    struct profile *p = all->profile;
    free_workers(all);
    all->workers = mem_zeroed(p->memory, workers, sizeof *all->workers);
    if (!all->workers)
        return mem_fail(p->memory, err, "profile");
    for (; all->count < workers; all->count++)
        tally_init(&all->workers[all->count], &p->request, &all->clock, p->memory);
    return PFR_OK;
}

static struct tally *tally_of(void *context, const struct calls_worker *worker) {
    return &((struct calls_profile *)context)->workers[worker->number];
}

static pfr_status on_thread(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                            pfr_error *err) {
    return tally_thread(tally_of(context, worker), thread, err);
}

static pfr_status on_calls(void *context, const struct calls_worker *worker, const struct call *calls, size_t count,
                           pfr_error *err) {
    return tally_calls(tally_of(context, worker), worker->paths->count, calls, count, err);
}

static pfr_status on_sum(void *context, const struct calls_worker *worker, const struct call_sum *sum, pfr_error *err) {
    return tally_sum(tally_of(context, worker), worker->paths->count, sum, err);
}

/* --- Frames. */

static pfr_status find_object(struct calls_profile *all, const struct function_name *name, uint32_t *object,
                              pfr_error *err) {
    const char *path = name->path;
    const pfr_text text = {.at = path, .length = path ? (uint32_t)strlen(path) : 0};
    *object = NO_OBJECT;
    return path ? objects_of_map(&all->profile->state.objects, &text, 0, MAP_OF_CODE, NULL, 0, object, err) : PFR_OK;
}

/* The frame of a function. A function without a map has its number as address, so that frames are sorted by number. */
static pfr_status make_frame(struct calls_profile *all, uint32_t function, uint32_t *number, pfr_error *err) {
    struct profile *p = all->profile;
    const struct function_name *name;
    struct profile_frame frame = {.mangled = NO_TEXT, .cpumode = PFR_CPUMODE_USER};
    PFR_TRY(function_names_find(&all->names, function, &name, err));
    PFR_TRY(find_object(all, name, &frame.object, err));
    PFR_TRY(intern_put(&p->texts, name->text, name->length, &frame.text, err));
    frame.address = frame.ip = frame.start = name->mapped ? name->address : function;
    return profile_frames_put(&all->frames, &frame, number, err);
}

static pfr_status find_frame(struct calls_profile *all, uint32_t function, uint32_t *frame, pfr_error *err) {
    uint64_t known;
    if (u64_map_get(&all->frame_of, function, &known))
        return *frame = (uint32_t)known, PFR_OK;
    PFR_TRY(make_frame(all, function, frame, err));
    return u64_map_put(&all->frame_of, function, *frame, err);
}

/* --- Nodes. */

/* Number of frames of a path that count: all, only the innermost, or the requested number from one end. */
static uint32_t frames_requested(const struct profile_request *request) {
    return !request_has_frames(request)   ? 0
           : !request_has_chains(request) ? 1
           : request->max_stack           ? request->max_stack
                                          : PROFILE_CALLS_DEEP;
}

/* Whether the node of a path is also an ancestor of the nodes of its callees. It is not if the request limits the
   number of frames, counted from the innermost. */
static bool shares_nodes(const struct profile_request *request) {
    return frames_requested(request) == UINT32_MAX || (request_has_chains(request) && request->from_outermost);
}

static void free_by_path(struct calls_profile *all) {
    struct memory *m = all->profile->memory;
    mem_free(m, all->node_of, all->paths, sizeof *all->node_of);
    mem_free(m, all->stamp, all->paths, sizeof *all->stamp);
    mem_free(m, all->frame_at, all->paths, sizeof *all->frame_at);
    mem_free(m, all->depth_of, all->paths, sizeof *all->depth_of);
    mem_free(m, all->cut_of, all->paths, sizeof *all->cut_of);
    all->node_of = all->stamp = all->frame_at = all->depth_of = all->cut_of = NULL;
    all->paths = 0;
}

static pfr_status make_path_room(struct calls_profile *all, const struct call_paths *paths, pfr_error *err) {
    struct memory *m = all->profile->memory;
    free_by_path(all);
    all->paths = paths->count;
    all->now = 0;
    all->node_of = mem_alloc(m, all->paths, sizeof *all->node_of);
    all->stamp = mem_zeroed(m, all->paths, sizeof *all->stamp);
    all->frame_at = mem_alloc(m, all->paths, sizeof *all->frame_at);
    all->depth_of = mem_zeroed(m, all->paths, sizeof *all->depth_of);
    all->cut_of = mem_zeroed(m, all->paths, sizeof *all->cut_of);
    if (!all->node_of || !all->stamp || !all->frame_at || !all->depth_of || !all->cut_of)
        return mem_fail(m, err, "profile");
    memset(all->frame_at, 0xff, all->paths * sizeof *all->frame_at);
    const uint32_t most = frames_requested(&all->profile->request);
    for (uint32_t path = 1; path < paths->count; path++) {
        const uint32_t parent = paths->at[path].parent;
        all->depth_of[path] = all->depth_of[parent] + 1;
        all->cut_of[path] = all->depth_of[path] <= most ? path : all->cut_of[parent];
    }
    return PFR_OK;
}

static pfr_status make_chain_room(struct calls_profile *all, size_t count, pfr_error *err) {
    if (count <= all->chain_room)
        return PFR_OK;
    void *more = mem_grow(all->profile->memory, all->chain, count - 1, &all->chain_room, 256, sizeof *all->chain);
    all->chain = more ? more : all->chain;
    return more ? PFR_OK : mem_fail(all->profile->memory, err, "profile");
}

static inline pfr_status frame_of_path(struct calls_profile *all, const struct call_paths *paths, uint32_t path,
                                       uint32_t *frame, pfr_error *err) {
    uint32_t *known = &all->frame_at[path];
    if (*known == NO_FRAME)
        PFR_TRY(find_frame(all, paths->at[path].function, known, err));
    *frame = *known;
    return PFR_OK;
}

/* If the inner end of the path is cut off, the called function is added as a NODE_APART child of the remaining path. */
static pfr_status find_apart(struct calls_profile *all, const struct call_paths *paths, uint32_t path, uint32_t *node,
                             pfr_error *err) {
    uint32_t frame;
    PFR_TRY(frame_of_path(all, paths, path, &frame, err));
    return profile_tree_child(&all->tree, *node, frame | NODE_APART, node, err);
}

/* The node of a path, starting from the nearest caller that has a node. */
static pfr_status find_shared(struct calls_profile *all, const struct call_paths *paths, uint32_t path, uint32_t root,
                              uint32_t *node, pfr_error *err) {
    size_t count = 0;
    uint32_t at = all->cut_of[path], frame;
    PFR_TRY(make_chain_room(all, all->depth_of[at], err));
    for (; at != PATH_ROOT && all->stamp[at] != all->now; at = paths->at[at].parent)
        all->chain[count++] = at;
    *node = at != PATH_ROOT ? all->node_of[at] : root;
    while (count > 0) {
        at = all->chain[--count];
        PFR_TRY(frame_of_path(all, paths, at, &frame, err));
        PFR_TRY(profile_tree_child(&all->tree, *node, frame, node, err));
        all->node_of[at] = *node;
        all->stamp[at] = all->now;
    }
    return all->depth_of[path] > frames_requested(&all->profile->request) ? find_apart(all, paths, path, node, err)
                                                                          : PFR_OK;
}

/* The node of a path's own function and its nearest callers. */
static pfr_status find_own(struct calls_profile *all, const struct call_paths *paths, uint32_t path, uint32_t root,
                           uint32_t *node, pfr_error *err) {
    const uint32_t most = frames_requested(&all->profile->request), depth = all->depth_of[path];
    const uint32_t count = depth < most ? depth : most;
    PFR_TRY(make_chain_room(all, count, err));
    for (uint32_t i = count, at = path; i > 0; at = paths->at[at].parent)
        PFR_TRY(frame_of_path(all, paths, at, &all->chain[--i], err));
    *node = root;
    for (uint32_t at = 0; at < count;)
        PFR_TRY(profile_tree_descend(&all->tree, node, all->chain, count, &at, err));
    return PFR_OK;
}

static pfr_status find_node(struct calls_profile *all, const struct call_paths *paths, uint32_t path, uint32_t root,
                            uint32_t *node, pfr_error *err) {
    return shares_nodes(&all->profile->request) ? find_shared(all, paths, path, root, node, err)
                                                : find_own(all, paths, path, root, node, err);
}

/* The name of a thread without a name: ":12". */
static pfr_status comm_text(struct calls_profile *all, uint32_t tid, uint64_t *value, pfr_error *err) {
    char text[16];
    uint32_t number;
    const int length = snprintf(text, sizeof text, ":%d", (int32_t)tid);
    PFR_TRY(intern_put(&all->profile->texts, text, (size_t)length, &number, err));
    *value = number;
    return PFR_OK;
}

static pfr_status unknown_place(struct calls_profile *all, uint64_t *value, pfr_error *err) {
    uint32_t frame;
    PFR_TRY(profile_frames_put_words(&all->frames, "[unknown]", &frame, err));
    return profile_frames_put_place(&all->frames, frame, 0, value, err);
}

static pfr_status find_group(struct calls_profile *all, const struct tally *t, uint32_t number, uint32_t *root,
                             pfr_error *err) {
    struct profile *p = all->profile;
    uint64_t values[PROFILE_KEYS];
    unsigned count = 0;
    const struct intern_text bytes = intern_get(&t->groups, number);
    memcpy(values, bytes.bytes, bytes.length);
    for (uint32_t keys = p->request.keys; keys; keys &= keys - 1, count++) {
        const enum profile_key key = (enum profile_key)__builtin_ctz(keys);
        if (key == PROFILE_COMM)
            PFR_TRY(comm_text(all, (uint32_t)values[count], &values[count], err));
        else if (profile_kind_of(key) == PROFILE_PLACE)
            PFR_TRY(unknown_place(all, &values[count], err));
    }
    return profile_tree_root(&all->tree, 0, values, count, root, err);
}

/* `root` NO_NODE: there was no memory for the group. */
static pfr_status take_entry(struct calls_profile *all, struct tally *t, const struct call_paths *paths,
                             const struct tally_entry *entry, uint32_t root, pfr_error *err) {
    uint32_t node;
    const pfr_status st = entry->path == PATH_LIMIT || root == NO_NODE
                              ? PFR_ERR_LIMIT
                              : find_node(all, paths, entry->path, root, &node, err);
    if (st == PFR_ERR_LIMIT) {
        t->no_room += entry->count;
        t->no_room_ticks += entry->ticks;
        return PFR_OK;
    }
    PFR_TRY(st);
    profile_tree_weigh(&all->tree, node, &(struct profile_weight){entry->ticks, entry->count});
    if (request_has_chains(&all->profile->request) && !all->profile->request.max_stack &&
        all->depth_of[entry->path] > PROFILE_CALLS_DEEP)
        all->cut += entry->count;
    return PFR_OK;
}

/* Bytes that are freed when all calls are counted. */
static uint64_t bytes_to_spare(const struct calls_profile *all, const struct call_paths *paths) {
    uint64_t bytes = all->paths * (sizeof *all->node_of + sizeof *all->stamp + sizeof *all->frame_at +
                                   sizeof *all->depth_of + sizeof *all->cut_of) +
                     paths->room * sizeof *paths->at + paths->slot_count * sizeof *paths->slots;
    for (unsigned i = 0; i < all->count; i++)
        bytes += all->workers[i].memory.used;
    return bytes;
}

static pfr_status on_end(void *context, const struct calls_worker *worker, pfr_error *err) {
    struct calls_profile *all = context;
    struct tally *t = &all->workers[worker->number];
    uint32_t root = NO_NODE, group = INTERN_NONE;
    PFR_TRY(tally_settle(t, err));
    if (t->nr_entries == 0)
        return PFR_OK;
    PFR_TRY(make_path_room(all, worker->paths, err));
    all->tree.spare = bytes_to_spare(all, worker->paths);
    for (size_t i = 0; i < t->nr_entries; i++) {
        if (t->entries[i].group != group) {
            group = t->entries[i].group;
            all->now++; /* in another group, paths have other nodes */
            const pfr_status st = find_group(all, t, group, &root, err);
            if (st < 0 && st != PFR_ERR_LIMIT)
                return st;
            root = st < 0 ? NO_NODE : root;
        }
        PFR_TRY(take_entry(all, t, worker->paths, &t->entries[i], root, err));
    }
    return PFR_OK;
}

/* --- The end. */

static pfr_status take_limited(struct calls_profile *all, pfr_error *err) {
    struct profile_weight limited = {0, 0};
    all->tree.whole = NULL;
    all->tree.until = 0;
    for (unsigned i = 0; i < all->count; i++) {
        limited.weight += all->workers[i].no_room_ticks;
        limited.samples += all->workers[i].no_room;
        all->profile->facts.left_out += all->workers[i].left_out;
    }
    return limited.samples ? values_put_limited(all->profile, &all->frames, &all->tree, 0, &limited, err) : PFR_OK;
}

/* If clocks stepped back, a path may have taken less time than its callees. */
static void add_up(struct calls_profile *all) {
    struct profile *p = all->profile;
    profile_tree_give(&all->tree, p);
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        struct profile_weight *self = node_weights_own(&p->self, n);
        const bool below = (int64_t)self->weight < 0;
        self->weight = below ? 0 : self->weight;
        all->below_zero += below;
        p->totals[0].weight = capped_sum(p->totals[0].weight, self->weight);
        p->totals[0].samples += self->samples;
    }
}

static pfr_status add_note(struct profile *p, const char *text, pfr_error *err) {
    const size_t length = strlen(text) + 1;
    struct profile_note *note = arena_take(&p->arena, sizeof *note, _Alignof(struct profile_note));
    char *own = note ? arena_take(&p->arena, length, 1) : NULL;
    if (!own)
        return mem_fail(p->memory, err, "profile");
    memcpy(own, text, length);
    *note = (struct profile_note){.text = own};
    struct profile_note **last = &p->notes;
    while (*last)
        last = &(*last)->next;
    *last = note;
    return PFR_OK;
}

static pfr_status note_count(struct profile *p, uint64_t count, const char *one, const char *more, pfr_error *err) {
    char text[200];
    if (count == 0)
        return PFR_OK;
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, count == 1 ? one : more);
    return add_note(p, text, err);
}

static pfr_status note_threshold(struct profile *p, const struct calls_totals *t, pfr_error *err) {
    char text[CALLS_SENTENCE_MOST];
    const bool has_threshold = calls_describe_threshold(p->reader, t, profile_event(p->reader, 0)->unit, text);
    return has_threshold ? add_note(p, text, err) : PFR_OK;
}

static pfr_status note_all(struct calls_profile *all, const struct calls_totals *t, pfr_error *err) {
    const struct {
        uint64_t count;
        const char *one, *more;
    } notes[] = {
        {t->open, "unfinished call: its callees are counted, but not its own time",
         "unfinished calls: their callees are counted, but not their own time"},
        {t->lone, "unmatched exit", "unmatched exits"},
        {t->backward, "call without a duration: the clock stepped back",
         "calls without a duration: the clock stepped back"},
        {all->below_zero, "path took less time than its callees: its self time counts as 0",
         "paths took less time than their callees: their self time counts as 0"},
        {all->cut, "call is nested deeper than --max-stack", "calls are nested deeper than --max-stack"},
        {t->untimed, "enter or exit without a time; its buffer's time starts at 0",
         "enters and exits without a time; their buffers' time starts at 0"},
    };
    struct profile *p = all->profile;
    if (t->frequency == 0)
        PFR_TRY(add_note(p, "the clock frequency is unknown: times are ticks", err));
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        PFR_TRY(note_count(p, notes[i].count, notes[i].one, notes[i].more, err));
    PFR_TRY(note_threshold(p, t, err));
    pfr_trace_loss loss;
    for (uint32_t i = 0; pfr_get_trace_loss(p->reader, i, &loss); i++)
        PFR_TRY(add_note(p, loss.sentence, err));
    return PFR_OK;
}

static void report_hole(void *context, const pfr_error *hole) {
    const struct calls_profile *all = context;
    if (all->profile->request.hole)
        all->profile->request.hole(all->profile->request.context, hole);
}

static void report_depth(struct profile *p, uint64_t too_deep) {
    pfr_error why;
    if (!too_deep)
        return;
    p->facts.lossy = true;
    pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "depth",
             "%" PRIu64 " call%s part of the caller: more than %u were open at once", too_deep,
             too_deep == 1 ? " is" : "s are", CALLS_DEEPEST);
    if (p->request.hole)
        p->request.hole(p->request.context, &why);
}

static void report_name_doubt(const struct calls_profile *all) {
    char text[1024];
    pfr_error why;
    if (name_limits_met(&all->names.limits, &why)) {
        all->profile->facts.lossy = true;
        report_hole((void *)(uintptr_t)all, &why);
    }
    const struct profile_request *request = &all->profile->request;
    if (request->note && function_names_doubt(&all->names, text, sizeof text))
        request->note(request->context, text);
    if (request->note)
        symbol_texts_note(&all->names.texts, request->note, request->context);
}

static const struct calls_sink sink = {
    .begin = on_begin, .thread = on_thread, .calls = on_calls, .sum = on_sum, .end = on_end};

static pfr_status read_calls(struct calls_profile *all, pfr_error *err) {
    struct profile *p = all->profile;
    const struct calls_request request = {.sink = &sink,
                                          .gather = tally_needs_each(&p->request) ? CALLS_SINGLY : CALLS_SUMMED,
                                          .reach = frames_requested(&p->request) < 2 ? 1 : 0,
                                          .jobs = p->request.jobs,
                                          .mixed = !tally_needs_threads(&p->request),
                                          .hole = report_hole,
                                          .context = all};
    struct calls_totals totals;
    PFR_TRY(calls_read(p->reader, &request, &totals, err));
    PFR_TRY(take_limited(all, err));
    add_up(all);
    p->facts.lossy = totals.lossy;
    report_depth(p, totals.too_deep);
    report_name_doubt(all);
    return note_all(all, &totals, err);
}

static pfr_status load(struct calls_profile *all, pfr_error *err) {
    struct profile *p = all->profile;
    p->ticks_per_second = all->clock.frequency;
    p->nr_events = profile_event_count(p->reader);
    p->totals = mem_zeroed(p->memory, (size_t)p->nr_events + 1, sizeof *p->totals);
    if (!p->totals)
        return mem_fail(p->memory, err, "profile");
    PFR_TRY(state_begin(&p->state, p->reader, p->memory, &no_jit, err));
    const struct function_names_options how = {
        .naming = p->request.names.naming, .trace = p->reader, .parameters = p->request.names.naming.parameters};
    PFR_TRY(function_names_open(&all->names, p->memory, &how, err));
    return read_calls(all, err);
}

pfr_status profile_load_calls(struct profile *p, pfr_error *err) {
    struct calls_profile all = {.profile = p};
    if (tally_needs_each(&p->request))
        PFR_TRY(xray_clock_learn(p->reader, err));
    all.clock = xray_clock_of(p->reader);
    profile_frames_init(&all.frames, p);
    profile_tree_init(&all.tree, p, p->memory);
    u64_map_init(&all.frame_of, p->memory);
    pfr_status st = profile_tree_begin_weights(&all.tree, err);
    if (st >= 0)
        st = load(&all, err);
    free_workers(&all);
    free_by_path(&all);
    mem_free(p->memory, all.chain, all.chain_room, sizeof *all.chain);
    u64_map_free(&all.frame_of);
    profile_tree_free(&all.tree);
    profile_frames_free(&all.frames);
    function_names_close(&all.names);
    return st;
}

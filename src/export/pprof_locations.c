/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings, locations and functions.
 *
 * Each object (file, kernel, module, anonymous memory of a process) becomes one mapping. Its addresses are offsets in
 * the file, so one mapping covers all processes, whatever their load addresses. For the kernel and anonymous memory,
 * they are the addresses in memory. A mapping extends from the page of its first location to the page of its last
 * location. Locations of one object are adjacent, because labels start with the object.
 */
#include "export/pprof.h"

#include "base/memory/fail.h"
#include "base/tables/radix.h"

#define PAGE ((uint64_t)4096)

struct mapping {
    uint32_t id, object; /* NO_OBJECT: no object */
    uint32_t label, end; /* range of labels; `end` is exclusive */
    uint64_t start, limit;
    uint64_t samples; /* number of self samples of its labels */
    bool has_functions;
};

struct mappings {
    struct memory *memory;
    struct mapping *at;
    size_t room;
    uint32_t count;
};

static void put_u64(struct output *to, uint64_t value) {
    const uint64_t word = __builtin_bswap64(value); /* big-endian, so that bytewise order is numeric */
    out_write(to, &word, sizeof word);
}

static void name_object(const struct profile *p, const struct object *o, struct output *to) {
    const struct intern_text path = intern_get(&p->state.names, o->path);
    out_write(to, path.bytes, path.length);
    out_char(to, '\0');
    out_write(to, o->build_id, o->build_id_size);
    out_char(to, (char)o->build_id_size);
    put_u64(to, o->kind == OBJECT_ANONYMOUS ? o->pid : 0);
}

static pfr_status name_objects(struct exporting *e, struct output *name, pfr_error *err) {
    const struct profile *p = e->profile;
    for (uint32_t i = 0; i < p->state.objects.keys.count; i++) {
        size_t length;
        name_object(p, &p->state.objects.at[i], name);
        if (name->status < 0)
            return mem_fail(e->memory, err, "names");
        const char *bytes = out_bytes(name, &length);
        PFR_TRY(labels_put(&e->objects, bytes, length, i, &e->object_rank[i], err));
        out_clear(name);
    }
    return labels_sort(&e->objects, err);
}

pfr_status pprof_name_objects(struct exporting *e, pfr_error *err) {
    const uint32_t count = e->profile->state.objects.keys.count;
    struct output name;
    e->object_rank = mem_alloc(e->memory, count, sizeof *e->object_rank);
    if (!e->object_rank)
        return mem_fail(e->memory, err, "names");
    out_open_memory(&name, e->memory);
    const pfr_status st = name_objects(e, &name, err);
    out_close(&name, NULL);
    for (uint32_t i = 0; st >= 0 && i < count; i++)
        e->object_rank[i] = e->objects.rank[e->object_rank[i]];
    return st;
}

void pprof_key_frame(const void *exporting, const struct profile_frame *frame, struct label_key *key) {
    const struct exporting *e = exporting;
    const bool is_in_none = frame->object == NO_OBJECT;
    *key = (struct label_key){is_in_none ? UINT64_MAX : e->object_rank[frame->object],
                              is_in_none ? frame->ip : frame->address};
}

#define AHEAD 16u /* number of labels to prefetch ahead */

/* Prefetches a frame: frames are stored in the order of their first occurrence, so access by label would miss the
   cache. */
static void fetch_frame(const struct exporting *e, uint32_t label) {
    if (label + AHEAD < e->stacks.frames.count)
        __builtin_prefetch(&e->profile->frames[label_source(&e->stacks.frames, label + AHEAD)]);
}

static const struct profile_frame *frame_of(const struct exporting *e, uint32_t label) {
    return &e->profile->frames[label_source(&e->stacks.frames, label)];
}

static bool is_same_object(const struct exporting *e, uint32_t a, uint32_t b) {
    if (a == b || a == NO_OBJECT || b == NO_OBJECT)
        return a == b;
    const struct object *x = &e->profile->state.objects.at[a], *y = &e->profile->state.objects.at[b];
    return x->path == y->path && x->build_id_size == y->build_id_size && x->kind == y->kind && x->pid == y->pid &&
           memcmp(x->build_id, y->build_id, x->build_id_size) == 0;
}

/* Returns the mapping of one object, whose first label is `label`. */
static struct mapping find_mapping(const struct exporting *e, uint32_t label, const uint64_t *samples) {
    const struct profile_frame *first = frame_of(e, label), *frame = first;
    const uint32_t count = e->stacks.frames.count;
    struct mapping m = {.object = first->object, .label = label, .end = label, .start = first->address & ~(PAGE - 1)};
    uint64_t last = first->address;
    for (; m.end < count && is_same_object(e, (frame = frame_of(e, m.end))->object, m.object); m.end++) {
        fetch_frame(e, m.end);
        m.has_functions = m.has_functions || frame->text != NO_TEXT;
        m.samples += samples[m.end];
        last = frame->address > last ? frame->address : last;
    }
    m.limit = last < UINT64_MAX - PAGE ? (last | (PAGE - 1)) + 1 : UINT64_MAX;
    return m;
}

static pfr_status find_mappings(const struct exporting *e, const uint64_t *samples, struct mappings *all,
                                pfr_error *err) {
    for (uint32_t label = 0; label < e->stacks.frames.count; label = all->at[all->count++].end) {
        void *more = mem_grow(all->memory, all->at, all->count, &all->room, 16, sizeof *all->at);
        if (!more)
            return mem_fail(all->memory, err, "export");
        all->at = more;
        all->at[all->count] = find_mapping(e, label, samples);
    }
    return PFR_OK;
}

static pfr_status write_build_id(struct exporting *e, const struct object *o, pfr_error *err) {
    struct pprof *p = e->state;
    char text[2 * BUILD_ID_ROOM];
    uint32_t number;
    for (unsigned i = 0; i < o->build_id_size; i++) {
        text[2 * i] = "0123456789abcdef"[o->build_id[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[o->build_id[i] & 15];
    }
    PFR_TRY(pprof_string(e, text, 2 * (size_t)o->build_id_size, &number, err));
    proto_u64(&p->part, MAPPING_BUILD_ID, number);
    return PFR_OK;
}

static pfr_status write_mapping(struct exporting *e, const struct mapping *m, pfr_error *err) {
    struct pprof *p = e->state;
    const struct object *o = &e->profile->state.objects.at[m->object];
    const struct intern_text path = intern_get(&e->profile->state.names, o->path);
    uint32_t number;
    PFR_TRY(pprof_string(e, path.bytes, path.length, &number, err));
    proto_u64(&p->part, MAPPING_ID, m->id);
    proto_u64(&p->part, MAPPING_START, m->start);
    proto_u64(&p->part, MAPPING_LIMIT, m->limit);
    proto_u64(&p->part, MAPPING_OFFSET, o->kind == OBJECT_FILE ? m->start : 0);
    proto_u64(&p->part, MAPPING_FILENAME, number);
    PFR_TRY(write_build_id(e, o, err));
    proto_u64(&p->part, MAPPING_HAS_FUNCTIONS, m->has_functions);
    proto_message(p->out, PPROF_MAPPING, &p->part);
    return PFR_OK;
}

/* An unnamed location gets a function named after its object in brackets, because readers drop locations without a
 * function. Mapping.has_functions remains false, so pprof may still look up the names. */
static pfr_status name_function(struct exporting *e, const struct profile_frame *frame, uint32_t *name,
                                uint32_t *system_name, pfr_error *err) {
    struct pprof *p = e->state;
    if (frame->text == NO_TEXT) {
        write_frame_name(e, frame, &p->inner);
        PFR_TRY(pprof_string(e, p->inner.used ? p->inner.buffer : "", p->inner.used, name, err));
        out_clear(&p->inner);
        *system_name = *name;
        return PFR_OK;
    }
    const struct intern_text text = intern_get(&e->profile->texts, frame->text);
    const struct intern_text mangled =
        intern_get(&e->profile->texts, frame->mangled != NO_TEXT ? frame->mangled : frame->text);
    PFR_TRY(pprof_string(e, text.bytes, text.length, name, err));
    return pprof_string(e, mangled.bytes, mangled.length, system_name, err);
}

/* Writes the function on its first occurrence and returns its id. The same function in two mappings has two ids.
   Functions with the same demangled but different mangled names are distinct. */
static pfr_status write_function(struct exporting *e, const struct profile_frame *frame, uint32_t mapping, uint32_t *id,
                                 pfr_error *err) {
    struct pprof *p = e->state;
    struct pprof_function *last = &p->last;
    if (last->id && frame->text != NO_TEXT && last->text == frame->text && last->mangled == frame->mangled &&
        last->mapping == mapping)
        return *id = last->id, PFR_OK; /* locations of one function are adjacent */
    const uint32_t before = p->functions.count;
    uint32_t key[3] = {0, mapping, 0};
    PFR_TRY(name_function(e, frame, &key[0], &key[2], err));
    PFR_TRY(intern_put(&p->functions, key, sizeof key, id, err));
    if (++*id == before + 1) {
        proto_u64(&p->part, FUNCTION_ID, *id);
        proto_u64(&p->part, FUNCTION_NAME, key[0]);
        proto_u64(&p->part, FUNCTION_SYSTEM_NAME, key[2]);
        proto_message(p->out, PPROF_FUNCTION, &p->part);
    }
    *last = (struct pprof_function){frame->text, frame->mangled, mapping, *id};
    return PFR_OK;
}

static pfr_status write_location(struct exporting *e, uint32_t label, const struct mapping *m, pfr_error *err) {
    struct pprof *p = e->state;
    const struct profile_frame *frame = frame_of(e, label);
    const uint64_t address = frame->object == NO_OBJECT ? frame->ip : frame->address;
    uint32_t function = 0;
    PFR_TRY(write_function(e, frame, m->id, &function, err));
    proto_u64(&p->part, LOCATION_ID, p->location_of[label]);
    proto_u64(&p->part, LOCATION_MAPPING, address < m->limit ? m->id : 0);
    proto_u64(&p->part, LOCATION_ADDRESS, address);
    proto_u64(&p->inner, LINE_FUNCTION, function);
    proto_message(&p->part, LOCATION_LINE, &p->inner);
    proto_message(p->out, PPROF_LOCATION, &p->part);
    return p->part.status < 0 || p->inner.status < 0 ? mem_fail(e->memory, err, "export") : PFR_OK;
}

/* `id` is the id of the next mapping. */
static pfr_status write_object(struct exporting *e, struct mapping *m, uint32_t *id, pfr_error *err) {
    m->id = m->object == NO_OBJECT ? 0 : (*id)++;
    if (m->object != NO_OBJECT)
        PFR_TRY(write_mapping(e, m, err));
    for (uint32_t i = m->label; i < m->end; i++) {
        fetch_frame(e, i);
        PFR_TRY(write_location(e, i, m, err));
    }
    return PFR_OK;
}

/* --- The main program must be the first mapping: it is the file with the most samples that is not a library. */

static bool may_be_main(const struct exporting *e, uint32_t object) {
    if (object == NO_OBJECT || e->profile->state.objects.at[object].kind != OBJECT_FILE)
        return false;
    return !strstr(intern_chars(&e->profile->state.names, e->profile->state.objects.at[object].path), ".so");
}

/* Index of the main program's mapping; 0 if no mapping qualifies. */
static uint32_t find_main(const struct exporting *e, const struct mappings *all) {
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->at[i].samples > most && may_be_main(e, all->at[i].object)) {
            most = all->at[i].samples;
            best = i;
        }
    }
    return best;
}

/* Gives small ids, which take few bytes, to the locations used most: counts how many nodes and stacks use each
   location. */
static pfr_status number_locations(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    struct radix_item *used = mem_alloc(e->memory, p->nr_labels, 2 * sizeof *used);
    if (!used)
        return mem_fail(e->memory, err, "export");
    for (uint32_t i = 0; i < p->nr_labels; i++)
        used[i] = (struct radix_item){UINT64_MAX, i};
    for (uint32_t n = e->stacks.nr_roots; n < e->stacks.count; n++)
        used[e->stacks.label[n]].key--;
    for (uint32_t i = 0; i < e->stacks.nr_frames; i++)
        if (e->stacks.frame_uses[i])
            used[e->stacks.frame_label[i]].key -= e->stacks.frame_uses[i];
    const struct radix_item *order = radix_sort(used, used + p->nr_labels, p->nr_labels);
    for (uint32_t i = 0; i < p->nr_labels; i++)
        p->location_of[order[i].value] = i + 1;
    mem_free(e->memory, used, p->nr_labels, 2 * sizeof *used);
    return PFR_OK;
}

static pfr_status write_all(struct exporting *e, const struct mappings *all, pfr_error *err) {
    const uint32_t main_object = find_main(e, all);
    uint32_t id = 1;
    if (all->count)
        PFR_TRY(write_object(e, &all->at[main_object], &id, err));
    for (uint32_t i = 0; i < all->count; i++)
        if (i != main_object)
            PFR_TRY(write_object(e, &all->at[i], &id, err));
    return PFR_OK;
}

static void count_leaf(const struct exporting *e, const struct profile_stack *stack, uint64_t *samples) {
    const uint32_t depth = stack_depth(stack);
    if (depth && stacks_wants(&e->stacks, stack))
        samples[e->stacks.frame_label[stack->frames[depth - 1] & ~NODE_APART]] += stack->self.samples;
}

static void count_samples(const struct exporting *e, uint64_t *samples) {
    for (uint32_t n = e->stacks.nr_roots; n < e->stacks.count; n++)
        samples[e->stacks.label[n]] += node_weight(&e->stacks.self, n)->samples;
    for (uint32_t i = 0; i < e->profile->nr_stacks; i++)
        count_leaf(e, &e->profile->stacks[i], samples);
}

pfr_status pprof_write_places(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    struct mappings all = {.memory = e->memory};
    uint64_t *samples = mem_zeroed(e->memory, p->nr_labels, sizeof *samples);
    if (!samples)
        return mem_fail(e->memory, err, "export");
    count_samples(e, samples);
    pfr_status st = find_mappings(e, samples, &all, err);
    mem_free(e->memory, samples, p->nr_labels, sizeof *samples);
    if (st >= 0)
        st = number_locations(e, err);
    if (st >= 0)
        st = write_all(e, &all, err);
    mem_free(e->memory, all.at, all.room, sizeof *all.at);
    return st;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes samples in pprof's form: locations (innermost first), a value per type, and labels. The locations of a node
 * precede those of its callers, so a path is written from the end of the buffer towards the start.
 *
 * After the budget for deep stacks is used up (stack_fits), a stack of more than STACK_BYTES keeps only its outermost
 * locations; the location [limit] replaces the others.
 */
#include "export/pprof.h"

#include "base/memory/fail.h"

#define LOCATION_ROOM sizeof(struct pprof_location) /* an id takes up to 5 bytes, but the whole struct is copied */
#define NOT_RECORDED UINT32_MAX

static void put_u32(struct output *to, uint64_t value) {
    const uint32_t word = __builtin_bswap32((uint32_t)value); /* big-endian, so that bytewise order is numeric */
    out_write(to, &word, sizeof word);
}

static void name_group(const void *exporting, const struct profile_group *group, struct output *to) {
    static const enum profile_key keys[] = {PROFILE_PID, PROFILE_TID, PROFILE_CPU};
    const struct exporting *e = exporting;
    const struct intern_text comm = comm_of(e, group);
    put_u32(to, group->event);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put_u32(to, profile_value(e->profile, group, keys[i]));
    out_write(to, comm.bytes, comm.length);
}

static pfr_status take_tables(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    p->levels = e->stacks.levels > e->stacks.depth + 1 ? e->stacks.levels : e->stacks.depth + 1;
    p->nr_labels = e->stacks.frames.count;
    p->nr_events = e->profile->nr_events;
    p->location_of = mem_alloc(e->memory, p->nr_labels, sizeof *p->location_of);
    p->value_of = mem_zeroed(e->memory, p->nr_events, sizeof *p->value_of);
    p->path = mem_alloc(e->memory, (size_t)p->levels + 1, LOCATION_ROOM);
    p->path_length = mem_zeroed(e->memory, p->levels, sizeof *p->path_length);
    p->groups = mem_zeroed(e->memory, e->stacks.nr_groups, sizeof *p->groups);
    p->location = mem_alloc(e->memory, e->stacks.nr_frames, sizeof *p->location);
    if (!p->location_of || !p->value_of || !p->path || !p->path_length || !p->groups || !p->location)
        return mem_fail(e->memory, err, "export");
    p->path_end = p->path + (size_t)p->levels * LOCATION_ROOM;
    return PFR_OK;
}

static pfr_status begin(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t empty;
    out_open_memory(&p->part, e->memory);
    out_open_memory(&p->inner, e->memory);
    out_open_memory(&p->labels, e->memory);
    out_open_memory(&p->group_labels, e->memory);
    intern_init(&p->strings, e->memory);
    intern_init(&p->functions, e->memory);
    PFR_TRY(take_tables(e, err));
    PFR_TRY(gzip_output_open(&p->gzip, &e->to->out, e->memory, err));
    p->open = true;
    p->out = &p->gzip.out;
    PFR_TRY(intern_put(&p->strings, "", 0, &empty, err));
    PFR_TRY(pprof_write_facts(e, err));
    PFR_TRY(pprof_write_places(e, err));
    for (uint32_t i = 0; i < e->stacks.nr_frames; i++)
        if (e->stacks.frame_uses[i])
            p->location[i].length = (uint8_t)proto_put(p->location[i].bytes, p->location_of[e->stacks.frame_label[i]]);
    return PFR_OK;
}

/* --- Labels of a group. */

static pfr_status add_label(struct exporting *e, const char *key, unsigned field, uint64_t value, pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t name;
    PFR_TRY(pprof_string(e, key, strlen(key), &name, err));
    proto_u64(&p->inner, LABEL_KEY, name);
    proto_u64(&p->inner, field, value);
    proto_message(&p->labels, SAMPLE_LABEL, &p->inner);
    return PFR_OK;
}

static pfr_status begin_group(struct exporting *e, const struct profile_group *group, pfr_error *err) {
    static const struct {
        const char *name;
        enum profile_key key;
    } numbers[] = {{"pid", PROFILE_PID}, {"tid", PROFILE_TID}, {"cpu", PROFILE_CPU}};
    struct pprof *p = e->state;
    const struct intern_text comm = comm_of(e, group);
    uint32_t name;
    out_clear(&p->labels);
    PFR_TRY(pprof_string(e, comm.bytes, comm.length, &name, err));
    PFR_TRY(add_label(e, "comm", LABEL_STR, name, err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const uint64_t value = profile_value(e->profile, group, numbers[i].key);
        if ((uint32_t)value != NOT_RECORDED)
            PFR_TRY(add_label(e, numbers[i].name, LABEL_NUM, value, err));
    }
    p->event = group->event;
    return PFR_OK;
}

/* --- Samples. */

static uint64_t signed_most(uint64_t value) {
    return value < INT64_MAX ? value : INT64_MAX;
}

/* Data common to all samples of a group. */
struct sample_of {
    uint32_t event;
    const char *labels;
    size_t labels_length;
};

/* Writes the id of the location [limit], which is one more than the greatest id of a label's location; returns the
   length of the id. */
static size_t put_limit(const struct pprof *p, uint8_t *to) {
    return proto_put(to, (uint64_t)p->nr_labels + 1);
}

/* Number of bytes to cut from the path of a stack: complete ids, innermost first. */
static size_t skip_inner(struct exporting *e, const uint8_t *path, size_t length) {
    if (stack_fits(e, length))
        return 0;
    size_t skipped = length - STACK_BYTES;
    while (path[skipped - 1] & 0x80)
        skipped++;
    e->cut_stacks++;
    return skipped;
}

static void write_path(struct exporting *e, const uint8_t *path, size_t length, size_t skipped) {
    struct pprof *p = e->state;
    uint8_t limit[PROTO_VARINT_MOST];
    const size_t own = skipped ? put_limit(p, limit) : 0;
    proto_head(p->out, SAMPLE_LOCATIONS, own + length - skipped);
    out_write(p->out, limit, own);
    out_write(p->out, path + skipped, length - skipped);
}

static void write_sample(struct exporting *e, const struct sample_of *of, const uint8_t *path, size_t length,
                         const struct profile_weight *self) {
    struct pprof *p = e->state;
    const uint64_t samples = signed_most(self->samples);
    const uint64_t weight = signed_most(profile_amount(e->profile, self->weight));
    const size_t values = proto_length(samples) + p->nr_values - 1 + proto_length(weight);
    const size_t skipped = skip_inner(e, path, length);
    const size_t path_length = length - skipped + (skipped ? proto_length((uint64_t)p->nr_labels + 1) : 0);
    const size_t places = 1 + proto_length(path_length) + path_length, numbers = 1 + proto_length(values) + values;
    proto_head(p->out, PPROF_SAMPLE, places + numbers + of->labels_length);
    write_path(e, path, length, skipped);
    proto_head(p->out, SAMPLE_VALUES, values);
    proto_varint(p->out, samples);
    for (uint32_t i = 1; i <= p->nr_values; i++)
        proto_varint(p->out, i == p->value_of[of->event] ? weight : 0);
    out_write(p->out, of->labels, of->labels_length);
}

static pfr_status check(struct exporting *e, pfr_error *err) {
    const struct pprof *p = e->state;
    if (p->labels.status < 0 || p->inner.status < 0 || p->group_labels.status < 0)
        return mem_fail(e->memory, err, "export");
    return e->to->out.status < 0 ? out_flush(&e->to->out, err) : PFR_OK;
}

static pfr_status visit(struct exporting *e, uint32_t node, uint32_t depth, pfr_error *err) {
    struct pprof *p = e->state;
    const uint32_t label = e->stacks.label[node];
    const struct profile_weight *self = node_weight(&e->stacks.self, node);
    uint8_t number[PROTO_VARINT_MOST];
    size_t own = 0;
    if (depth) {
        own = proto_put(number, p->location_of[label]);
        p->path_length[depth] = p->path_length[depth - 1] + own;
        memcpy(p->path_end - p->path_length[depth], number, own);
    } else {
        PFR_TRY(begin_group(e, e->profile->groups[label_source(&e->stacks.groups, label)], err));
    }
    const struct sample_of of = {p->event, p->labels.buffer, p->labels.used};
    if (self->samples)
        write_sample(e, &of, p->path_end - p->path_length[depth], p->path_length[depth], self);
    return check(e, err);
}

/* --- Single stacks. */

static pfr_status find_labels(struct exporting *e, uint32_t number, struct sample_of *of, pfr_error *err) {
    struct pprof *p = e->state;
    struct pprof_group *group = &p->groups[number];
    if (!group->end) {
        PFR_TRY(begin_group(e, e->profile->groups[number], err));
        group->begin = p->group_labels.used;
        out_write(&p->group_labels, p->labels.buffer, p->labels.used);
        group->end = p->group_labels.used;
    }
    *of = (struct sample_of){e->profile->groups[number]->event, p->group_labels.buffer + group->begin,
                             group->end - group->begin};
    return check(e, err);
}

static pfr_status write_stack(struct exporting *e, const struct profile_stack *stack, pfr_error *err) {
    struct pprof *p = e->state;
    const uint32_t *frames = stack->frames;
    struct sample_of of;
    uint8_t *at = p->path;
    PFR_TRY(find_labels(e, stack->group, &of, err));
    for (uint32_t i = stack_depth(stack); i-- > 0;) {
        const struct pprof_location *location = &p->location[frames[i] & ~NODE_APART];
        memcpy(at, location, sizeof *location); /* copies too much; the next location overwrites the surplus */
        at += location->length;
    }
    write_sample(e, &of, p->path, (size_t)(at - p->path), &stack->self);
    return PFR_OK;
}

static pfr_status write_limit(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    const uint32_t function = p->functions.count + 1;
    uint32_t name;
    PFR_TRY(pprof_string(e, "[limit]", strlen("[limit]"), &name, err));
    proto_u64(&p->part, FUNCTION_ID, function);
    proto_u64(&p->part, FUNCTION_NAME, name);
    proto_u64(&p->part, FUNCTION_SYSTEM_NAME, name);
    proto_message(p->out, PPROF_FUNCTION, &p->part);
    proto_u64(&p->part, LOCATION_ID, (uint64_t)p->nr_labels + 1);
    proto_u64(&p->inner, LINE_FUNCTION, function);
    proto_message(&p->part, LOCATION_LINE, &p->inner);
    proto_message(p->out, PPROF_LOCATION, &p->part);
    return PFR_OK;
}

static pfr_status end(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    if (e->cut_stacks)
        PFR_TRY(write_limit(e, err));
    if (p->part.status < 0 || p->inner.status < 0)
        return mem_fail(e->memory, err, "export");
    for (uint32_t i = 0; i < p->strings.count; i++) {
        const struct intern_text text = intern_get(&p->strings, i);
        proto_bytes(p->out, PPROF_STRING, text.bytes, text.length);
    }
    p->open = false;
    return gzip_output_close(&p->gzip, err);
}

static void clear(struct exporting *e) {
    struct pprof *p = e->state;
    if (p->open)
        gzip_output_close(&p->gzip, NULL);
    out_close(&p->part, NULL);
    out_close(&p->inner, NULL);
    out_close(&p->labels, NULL);
    out_close(&p->group_labels, NULL);
    mem_free(e->memory, p->groups, e->stacks.nr_groups, sizeof *p->groups);
    mem_free(e->memory, p->location, e->stacks.nr_frames, sizeof *p->location);
    intern_free(&p->strings);
    intern_free(&p->functions);
    mem_free(e->memory, p->location_of, p->nr_labels, sizeof *p->location_of);
    mem_free(e->memory, p->value_of, p->nr_events, sizeof *p->value_of);
    mem_free(e->memory, p->path, (size_t)p->levels + 1, LOCATION_ROOM);
    mem_free(e->memory, p->path_length, p->levels, sizeof *p->path_length);
}

const struct sink_type sink_pprof = {
    .format = {.name = "pprof",
               .suffix = ".pb.gz",
               .about = "one gzip-compressed profile.proto message, for go tool pprof and similar tools",
               .binary = true,
               .reader = "go tool pprof, Parca, Pyroscope, speedscope",
               .losses = "times of samples, lost records"},
    .addresses = true,
    .mangled = true,
    .keys = PROFILE_BIT(PROFILE_PID) | PROFILE_BIT(PROFILE_TID) | PROFILE_BIT(PROFILE_CPU),
    .state_size = sizeof(struct pprof),
    .name_group = name_group,
    .key_frame = pprof_key_frame,
    .loaded = pprof_name_objects,
    .begin = begin,
    .visit = visit,
    .stack = write_stack,
    .end = end,
    .clear = clear,
};

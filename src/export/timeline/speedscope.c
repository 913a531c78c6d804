/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's file format (file-format-schema.json of its package). The first profile is merged: each distinct stack
 * of the recording is listed once, with its weight. Each thread has one more profile: its samples in time order, or its
 * calls as events that open and close.
 *
 * Frames are functions; functions with the same name in two objects are two frames.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "export/rows/row_sinks.h"

/* Samples of threads, or merged stacks of all threads. Most weights are equal, so weights are stored only after a
 * different weight has occurred. */
struct taken {
    uint32_t *stacks;
    uint64_t *weights; /* NULL: all are `weight` */
    uint64_t weight;
    size_t room;
};

struct speedscope {
    struct row_weights weights;
    struct taken samples; /* samples of all threads, one thread after the other */
    size_t nr_samples, nr_taken;
    size_t *ends; /* by thread: where its samples end */
    size_t nr_threads;
    uint32_t *frame_of; /* by symbol: frame number in the file, from 1; 0: the symbol is in no stack */
    uint32_t nr_frames, nr_symbols;
    uint32_t *path; /* frames of the current stack */
    size_t path_room;
    struct row_frames frames;
    uint64_t at;    /* time of the last event; never decreases */
    bool has_event; /* the next event needs a comma before it */
    bool has_profile;
};

static void put_text(struct output *to, const char *text) {
    out_json_string(to, text, strlen(text));
}

/* --- Frames. */

/* Marks the function of a call. Stacks do not contain it if the memory limit left no room for the call's path. */
static pfr_status note_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    struct speedscope *s = r->state;
    (void)err;
    s->frame_of[call->symbol] = 1;
    return PFR_OK;
}

static pfr_status number_frames(struct rows *r, struct speedscope *s, pfr_error *err) {
    const struct row_visit calls = {.call = note_call, .open_calls = true};
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    s->nr_symbols = pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    s->frame_of = mem_zeroed(r->memory, s->nr_symbols, sizeof *s->frame_of);
    if (!s->frame_of)
        return mem_fail(r->memory, err, "export");
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_STACK); id++)
        s->frame_of[stacks[id].symbol] = 1;
    PFR_TRY(r->is_traced ? rows_walk(r, &calls, err) : PFR_OK);
    for (uint32_t id = 1; id < s->nr_symbols; id++)
        s->frame_of[id] = s->frame_of[id] ? ++s->nr_frames : 0;
    return PFR_OK;
}

static void put_frames(struct rows *r, const struct speedscope *s) {
    bool any = false;
    out_text(r->out, "\"shared\":{\"frames\":[");
    for (uint32_t id = 1; id < s->nr_symbols; id++) {
        if (!s->frame_of[id])
            continue;
        out_text(r->out, any ? ",\n{\"name\":" : "\n{\"name\":");
        const struct intern_text name = rows_symbol(r, id);
        out_json_string(r->out, name.bytes, name.length);
        out_text(r->out, ",\"file\":");
        const struct intern_text object = rows_object_of(r, id);
        out_json_string(r->out, object.bytes, object.length);
        out_char(r->out, '}');
        any = true;
    }
    out_text(r->out, "]}");
}

/* --- Sampled profiles. */

static pfr_status put_stack(struct rows *r, struct speedscope *s, uint32_t stack, pfr_error *err) {
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    size_t depth = 0;
    out_char(r->out, '[');
    for (uint32_t id = stack; id; id = stacks[id].parent) {
        uint32_t *grown = mem_grow(r->memory, s->path, depth, &s->path_room, 256, sizeof *s->path);
        if (!grown)
            return mem_fail(r->memory, err, "export");
        s->path = grown;
        s->path[depth++] = s->frame_of[stacks[id].symbol] - 1;
    }
    while (depth > 0) {
        out_u64(r->out, s->path[--depth]);
        if (depth)
            out_char(r->out, ',');
    }
    out_char(r->out, ']');
    return PFR_OK;
}

static void begin_profile(struct rows *r, const char *type, const char *unit) {
    struct speedscope *s = r->state;
    out_text(r->out, s->has_profile ? ",\n{\"type\":\"" : "\n{\"type\":\"");
    out_text(r->out, type);
    out_text(r->out, "\",\"unit\":\"");
    out_text(r->out, unit);
    out_text(r->out, "\",\"name\":");
    s->has_profile = true;
}

static const char *unit_of(const struct rows *r) {
    const pfr_model_event *event;
    const uint32_t id = r->is_traced ? r->traced_event : r->event;
    if (!r->by_weight || pfr_model_ticks(r->model))
        return "none";
    for (uint32_t i = id ? id : 1; (event = pfr_model_get_event(r->model, i)); i++)
        if (event->samples || id)
            return event->unit && strcmp(event->unit, "ns") == 0 ? "nanoseconds" : "none";
    return "none";
}

static uint64_t weight_at(const struct taken *taken, size_t i) {
    return taken->weights ? taken->weights[i] : taken->weight;
}

static pfr_status put_taken(struct rows *r, const struct taken *taken, size_t from, size_t end, pfr_error *err) {
    struct speedscope *s = r->state;
    uint64_t sum = 0;
    out_text(r->out, ",\"samples\":[");
    for (size_t i = from; i < end; i++) {
        if (i > from)
            out_char(r->out, ',');
        PFR_TRY(put_stack(r, s, taken->stacks[i], err));
        sum += weight_at(taken, i);
    }
    out_text(r->out, "],\n\"weights\":[");
    for (size_t i = from; i < end; i++) {
        if (i > from)
            out_char(r->out, ',');
        out_u64(r->out, weight_at(taken, i));
    }
    out_text(r->out, "],\"startValue\":0,\"endValue\":");
    out_u64(r->out, sum);
    out_char(r->out, '}');
    return PFR_OK;
}

static pfr_status take_room(struct rows *r, struct taken *taken, size_t room, pfr_error *err) {
    *taken = (struct taken){.stacks = mem_alloc(r->memory, room, sizeof *taken->stacks), .room = room};
    return taken->stacks ? PFR_OK : mem_fail(r->memory, err, "export");
}

static void give_room_back(struct rows *r, struct taken *taken) {
    mem_free(r->memory, taken->stacks, taken->stacks ? taken->room : 0, sizeof *taken->stacks);
    mem_free(r->memory, taken->weights, taken->weights ? taken->room : 0, sizeof *taken->weights);
}

/* Makes the array of weights; called when the first different weight occurs. All elements get the common weight first,
   because samples may be stored in any order. */
static pfr_status take_weights(struct rows *r, struct taken *taken, pfr_error *err) {
    taken->weights = mem_alloc(r->memory, taken->room, sizeof *taken->weights);
    if (!taken->weights)
        return mem_fail(r->memory, err, "export");
    for (size_t i = 0; i < taken->room; i++)
        taken->weights[i] = taken->weight;
    return PFR_OK;
}

static pfr_status take(struct rows *r, struct taken *taken, size_t at, uint32_t stack, uint64_t weight, bool is_first,
                       pfr_error *err) {
    taken->stacks[at] = stack;
    if (is_first)
        taken->weight = weight;
    if (!taken->weights && weight != taken->weight)
        PFR_TRY(take_weights(r, taken, err));
    if (taken->weights)
        taken->weights[at] = weight;
    return PFR_OK;
}

static pfr_status put_merged(struct rows *r, struct speedscope *s, pfr_error *err) {
    struct taken taken;
    size_t count = 0;
    pfr_status st = take_room(r, &taken, s->weights.count, err);
    for (size_t i = 0; st >= 0 && i < s->weights.count; i++) {
        const struct row_weight *w = &s->weights.at[i];
        const uint64_t weight = r->by_weight ? w->weight : w->samples;
        if (weight) {
            st = take(r, &taken, count, w->stack, weight, count == 0, err);
            count++;
        }
    }
    begin_profile(r, "sampled", unit_of(r));
    put_text(r->out, "all threads");
    if (st >= 0)
        st = put_taken(r, &taken, 0, count, err);
    give_room_back(r, &taken);
    return st;
}

static void put_thread_name(struct rows *r, uint32_t thread) {
    char number[24] = " ";
    const struct intern_text name = rows_thread_name(r, thread);
    number[1 + format_u64(number + 1, rows_tid(r, thread))] = 0;
    struct output text;
    out_open_memory(&text, r->memory);
    out_write(&text, name.bytes, name.length);
    out_text(&text, number + (name.length == 0));
    out_json_string(r->out, text.buffer ? text.buffer : "", text.used);
    if (out_close(&text, NULL) < 0)
        r->out->status = r->out->status < 0 ? r->out->status : PFR_ERR_MEMORY;
}

/* --- Samples by thread: first counted, then stored at the place of their thread. */

static pfr_status count_sample(struct rows *r, const pfr_sample *sample, pfr_error *err) {
    struct speedscope *s = r->state;
    (void)err;
    s->ends[sample->thread]++;
    s->nr_samples++;
    return PFR_OK;
}

static pfr_status keep_sample(struct rows *r, const pfr_sample *sample, pfr_error *err) {
    struct speedscope *s = r->state;
    const bool is_first = s->nr_taken++ == 0;
    return take(r, &s->samples, s->ends[sample->thread]++, sample->stack, r->by_weight ? sample->weight : 1, is_first,
                err);
}

static pfr_status take_samples(struct rows *r, struct speedscope *s, pfr_error *err) {
    const struct row_visit counting = {.sample = count_sample};
    const struct row_visit keeping = {.sample = keep_sample, .in_time_order = true};
    s->nr_threads = (size_t)pfr_model_count(r->model, PFR_TABLE_THREAD) + 1;
    s->ends = mem_zeroed(r->memory, s->nr_threads, sizeof *s->ends);
    if (!s->ends)
        return mem_fail(r->memory, err, "export");
    PFR_TRY(rows_walk(r, &counting, err));
    size_t before = 0;
    for (size_t i = 0; i < s->nr_threads; i++) {
        const size_t count = s->ends[i];
        s->ends[i] = before;
        before += count;
    }
    PFR_TRY(take_room(r, &s->samples, s->nr_samples, err));
    return rows_walk(r, &keeping, err);
}

static pfr_status put_sampled_threads(struct rows *r, struct speedscope *s, pfr_error *err) {
    size_t from = 0;
    for (uint32_t id = 0; id < s->nr_threads; id++) {
        const size_t end = s->ends[id];
        if (end > from) {
            begin_profile(r, "sampled", unit_of(r));
            put_thread_name(r, id);
            PFR_TRY(put_taken(r, &s->samples, from, end, err));
        }
        from = end;
    }
    return PFR_OK;
}

/* --- Calls by thread. */

static void put_event(struct rows *r, char type, uint64_t at, uint32_t symbol) {
    struct speedscope *s = r->state;
    at = at > r->begin ? at - r->begin : 0;
    s->at = at > s->at ? at : s->at;
    out_text(r->out, s->has_event ? ",\n{\"type\":\"" : "\n{\"type\":\"");
    out_char(r->out, type);
    out_text(r->out, "\",\"at\":");
    out_u64(r->out, s->at);
    out_text(r->out, ",\"frame\":");
    out_u64(r->out, s->frame_of[symbol] - 1);
    out_char(r->out, '}');
    s->has_event = true;
}

/* Closes the calls that end before a call of this depth begins. */
static void close_until(struct rows *r, uint32_t depth) {
    struct speedscope *s = r->state;
    struct row_frame left;
    while (row_frames_pop(&s->frames, depth, &left))
        put_event(r, 'C', left.end, left.symbol);
}

static pfr_status put_events(struct rows *r, struct row_calls *calls, pfr_error *err) {
    struct speedscope *s = r->state;
    const struct row_call *c;
    pfr_status st = row_calls_begin(calls, err);
    while (st >= 0 && (st = row_calls_next(calls, &c, err)) == PFR_OK) {
        close_until(r, c->depth);
        put_event(r, 'O', c->start, c->symbol);
        st = row_frames_push(r, &s->frames, c, err);
    }
    close_until(r, 0);
    return st < 0 ? st : r->out->status < 0 ? out_flush(r->out, err) : PFR_OK;
}

static pfr_status put_calls(struct rows *r, struct row_calls *calls, pfr_error *err) {
    struct speedscope *s = r->state;
    begin_profile(r, "evented", pfr_model_ticks(r->model) ? "none" : "nanoseconds");
    put_thread_name(r, calls->thread);
    out_text(r->out, ",\"startValue\":0,\"events\":[");
    s->at = 0;
    s->has_event = false;
    PFR_TRY(put_events(r, calls, err));
    out_text(r->out, "],\"endValue\":");
    out_u64(r->out, s->at);
    out_char(r->out, '}');
    return PFR_OK;
}

/* --- The file. */

static pfr_status write_speedscope(struct rows *r, pfr_error *err) {
    struct speedscope *s = r->state;
    const char *program = rows_meta(r, "cmdline");
    PFR_TRY(number_frames(r, s, err));
    PFR_TRY(rows_weigh(r, &s->weights, 0, err));
    out_text(r->out,
             "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"perfray\",\"name\":");
    put_text(r->out, program[0] ? program : "perfray");
    out_text(r->out, ",\n");
    put_frames(r, s);
    out_text(r->out, ",\n\"profiles\":[");
    PFR_TRY(put_merged(r, s, err));
    rows_weights_free(r, &s->weights); /* freed before samples are taken: together they would be the memory peak */
    if (!r->is_traced)
        PFR_TRY(take_samples(r, s, err));
    PFR_TRY(r->is_traced ? rows_each_thread(r, put_calls, err) : put_sampled_threads(r, s, err));
    out_text(r->out, "]}\n");
    return PFR_OK;
}

static void clear(struct rows *r) {
    struct speedscope *s = r->state;
    rows_weights_free(r, &s->weights);
    give_room_back(r, &s->samples);
    mem_free(r->memory, s->ends, s->nr_threads, sizeof *s->ends);
    mem_free(r->memory, s->frame_of, s->nr_symbols, sizeof *s->frame_of);
    mem_free(r->memory, s->path, s->path_room, sizeof *s->path);
    row_frames_free(r, &s->frames);
}

const struct row_sink sink_speedscope = {
    .format = {.name = "speedscope",
               .suffix = ".speedscope.json",
               .about = "a merged profile, then one per thread",
               .reader = "speedscope.app",
               .losses = "times and CPUs of samples, addresses, lost records"},
    .no_marks = true,
    .sums_events = true,
    .state_size = sizeof(struct speedscope),
    .write = write_speedscope,
    .clear = clear,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenTelemetry's profiles signal, release 1.11.0 (opentelemetry.proto.profiles.v1development): one ProfilesData
 * message. Each event has two profiles: one with the number of its samples, one with the weights of these samples. An
 * entry of a profile belongs to one pair of stack and thread. It has either one sum over the samples of that pair, or
 * (option `times`) a value and a time for each of these samples. A dictionary stores everything that the profiles refer
 * to by index. Entry 0 of each table of the dictionary is empty; the other entries are those in use, each stored once.
 */
#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/proto.h"
#include "export/rows/row_sinks.h"
#include "query/ranges.h"

#include "base/tables/hashmap.h"

enum { DATA_RESOURCE = 1, DATA_DICTIONARY };
enum { DICTIONARY_MAPPING = 1, DICTIONARY_LOCATION, DICTIONARY_FUNCTION, DICTIONARY_LINK, DICTIONARY_STRING };
enum { DICTIONARY_ATTRIBUTE = 6, DICTIONARY_STACK };
enum { RESOURCE_SCOPES = 2, SCOPE_SCOPE = 1, SCOPE_PROFILES, SCOPE_NAME = 1 };
enum { OTLP_TYPE = 1, OTLP_SAMPLES, OTLP_TIME, OTLP_DURATION, OTLP_PERIOD_TYPE };
enum { VALUE_TYPE = 1, VALUE_UNIT, SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_VALUES = 4, SAMPLE_TIMES };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES, LINE_FUNCTION = 1 };
enum { FUNCTION_NAME_FIELD = 1, FUNCTION_SYSTEM, FUNCTION_FILE, MAPPING_FILE = 4 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE, ANY_STRING = 1, ANY_INT = 3 };

struct otlp_sum {
    uint64_t weight, count;
    uint32_t stack, thread, event;
    uint32_t first, last; /* first and last otlp_moment of the sum, numbered from 1 */
};

struct otlp_moment { /* a sample or a call */
    uint64_t time, weight;
    uint32_t next; /* next moment of the same sum; 0: this is the last one */
};

enum otlp_value { OTLP_COUNTS, OTLP_WEIGHTS };

struct otlp {
    bool times; /* value of the option `times` */
    struct otlp_moment *moments;
    size_t nr_moments, moments_room;
    uint64_t ahead;         /* ns that the wall clock is ahead of the recording's clock */
    struct u64_map *sum_of; /* by event: map from stack << 32 | thread to the sum */
    struct otlp_sum *sums;
    size_t nr_sums, sums_room, nr_events;
    struct intern_table strings;
    struct output samples, profile, scopes, part, inner, text, dictionary;
    uint32_t *location_of, *mapping_of, *attributes_of; /* by symbol, object and thread; 0: not written yet */
    uint32_t *stacks;        /* the stacks in use, which are few: most stacks are only callers */
    struct u64_map stack_of; /* their numbers in the dictionary */
    size_t nr_stacks, stacks_room;
    size_t nr_symbols, nr_objects, nr_threads;
    uint32_t locations, mappings, attributes; /* number of entries in each table */
    bool has_begun;
};

/* --- Sums. */

static pfr_status add_moment(struct rows *r, struct otlp_sum *sum, uint64_t time, uint64_t weight, pfr_error *err) {
    struct otlp *o = r->state;
    if (time == PFR_NO_TIME)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "times", "samples were recorded without a time");
    struct otlp_moment *grown = o->nr_moments < UINT32_MAX ? mem_grow(r->memory, o->moments, o->nr_moments,
                                                                      &o->moments_room, 4096, sizeof *grown)
                                                           : NULL;
    if (!grown)
        return mem_fail(r->memory, err, "export");
    o->moments = grown;
    o->moments[o->nr_moments++] = (struct otlp_moment){.time = time, .weight = weight};
    const uint32_t number = (uint32_t)o->nr_moments;
    if (sum->last)
        o->moments[sum->last - 1].next = number;
    else
        sum->first = number;
    sum->last = number;
    return PFR_OK;
}

static pfr_status add(struct rows *r, uint32_t event, uint32_t stack, uint32_t thread, uint64_t time, uint64_t weight,
                      pfr_error *err) {
    struct otlp *o = r->state;
    bool is_new;
    uint64_t *at = u64_map_at(&o->sum_of[event], (uint64_t)stack << 32 | thread, o->nr_sums, &is_new);
    struct otlp_sum *grown =
        at && is_new ? mem_grow(r->memory, o->sums, o->nr_sums, &o->sums_room, 1024, sizeof *grown) : o->sums;
    if (!at || !grown)
        return mem_fail(r->memory, err, "export");
    o->sums = grown;
    if (is_new)
        o->sums[o->nr_sums++] = (struct otlp_sum){.stack = stack, .thread = thread, .event = event};
    o->sums[*at].weight = capped_sum(o->sums[*at].weight, weight);
    o->sums[*at].count++;
    return o->times ? add_moment(r, &o->sums[*at], time, weight, err) : PFR_OK;
}

static pfr_status add_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    return add(r, s->event, s->stack, s->thread, s->time, s->weight, err);
}

static pfr_status add_call(struct rows *r, const pfr_call *c, pfr_error *err) {
    return add(r, r->traced_event, c->stack, c->thread, c->start, c->self > 0 ? (uint64_t)c->self : 0, err);
}

/* --- The dictionary. An entry is written when something refers to it for the first time. */

static pfr_status string_of(struct rows *r, struct intern_text text, uint64_t *number, pfr_error *err) {
    struct otlp *o = r->state;
    uint32_t id;
    out_clear(&o->text);
    out_escaped(&o->text, text.bytes, text.length);
    PFR_TRY(intern_put(&o->strings, o->text.used ? o->text.buffer : "", o->text.used, &id, err));
    *number = id;
    return PFR_OK;
}

static pfr_status constant(struct rows *r, const char *text, uint64_t *number, pfr_error *err) {
    return string_of(r, (struct intern_text){(const uint8_t *)text, (uint32_t)strlen(text)}, number, err);
}

static pfr_status mapping_of(struct rows *r, uint32_t object, uint64_t *number, pfr_error *err) {
    struct otlp *o = r->state;
    uint64_t file;
    if (object && !o->mapping_of[object]) {
        const pfr_model_object *is = pfr_model_get_object(r->model, object);
        PFR_TRY(constant(r, is->path ? is->path : is->name, &file, err));
        proto_u64(&o->part, MAPPING_FILE, file);
        proto_message(&o->dictionary, DICTIONARY_MAPPING, &o->part);
        o->mapping_of[object] = ++o->mappings;
    }
    *number = o->mapping_of[object];
    return PFR_OK;
}

/* A function has the same number as its location. */
static pfr_status location_of(struct rows *r, uint32_t symbol, uint64_t *number, pfr_error *err) {
    struct otlp *o = r->state;
    uint64_t name, mapping;
    if (!o->location_of[symbol]) {
        const pfr_model_symbol *is = pfr_model_get_symbol(r->model, symbol);
        PFR_TRY(mapping_of(r, is ? is->object : 0, &mapping, err));
        PFR_TRY(string_of(r, rows_symbol(r, symbol), &name, err));
        o->location_of[symbol] = ++o->locations;
        proto_u64(&o->part, FUNCTION_NAME_FIELD, name);
        proto_u64(&o->part, FUNCTION_SYSTEM, is && is->mangled ? 0 : name);
        proto_message(&o->dictionary, DICTIONARY_FUNCTION, &o->part);
        proto_u64(&o->part, LOCATION_MAPPING, mapping);
        proto_u64(&o->part, LOCATION_ADDRESS, is ? is->address : 0);
        proto_u64(&o->inner, LINE_FUNCTION, o->location_of[symbol]);
        proto_message(&o->part, LOCATION_LINES, &o->inner);
        proto_message(&o->dictionary, DICTIONARY_LOCATION, &o->part);
    }
    *number = o->location_of[symbol];
    return PFR_OK;
}

/* The entries of stacks are much longer than the list of their ids, so they are written only at the end. */
static pfr_status note_stack(struct rows *r, uint32_t stack, pfr_error *err) {
    struct otlp *o = r->state;
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    uint64_t location;
    uint32_t *grown = mem_grow(r->memory, o->stacks, o->nr_stacks, &o->stacks_room, 1024, sizeof *grown);
    if (!grown)
        return mem_fail(r->memory, err, "export");
    o->stacks = grown;
    o->stacks[o->nr_stacks++] = stack;
    for (uint32_t id = stack; id; id = stacks[id].parent)
        PFR_TRY(location_of(r, stacks[id].symbol, &location, err));
    return PFR_OK;
}

static pfr_status stack_of(struct rows *r, uint32_t stack, uint64_t *number, pfr_error *err) {
    struct otlp *o = r->state;
    bool is_new;
    *number = 0;
    if (!stack)
        return PFR_OK;
    const uint64_t *at = u64_map_at(&o->stack_of, stack, o->nr_stacks + 1, &is_new);
    if (!at)
        return mem_fail(r->memory, err, "export");
    *number = *at;
    return is_new ? note_stack(r, stack, err) : PFR_OK;
}

static pfr_status put_attribute(struct rows *r, const char *key, const struct intern_text *text, uint64_t value,
                                pfr_error *err) {
    struct otlp *o = r->state;
    uint64_t name;
    PFR_TRY(constant(r, key, &name, err));
    proto_u64(&o->part, ATTRIBUTE_KEY, name);
    out_clear(&o->text);
    if (text) {
        out_escaped(&o->text, text->bytes, text->length);
        proto_bytes(&o->inner, ANY_STRING, o->text.used ? o->text.buffer : "", o->text.used);
    } else {
        proto_number(&o->inner, ANY_INT, value);
    }
    proto_message(&o->part, ATTRIBUTE_VALUE, &o->inner);
    proto_message(&o->dictionary, DICTIONARY_ATTRIBUTE, &o->part);
    return PFR_OK;
}

/* Writes the three attributes of a thread, which have consecutive numbers; *number is the first number. */
static pfr_status attributes_of(struct rows *r, uint32_t thread, uint64_t *number, pfr_error *err) {
    struct otlp *o = r->state;
    const struct intern_text name = rows_thread_name(r, thread);
    if (thread && !o->attributes_of[thread]) {
        o->attributes_of[thread] = o->attributes + 1;
        PFR_TRY(put_attribute(r, "process.pid", NULL, rows_pid(r, thread), err));
        PFR_TRY(put_attribute(r, "thread.id", NULL, rows_tid(r, thread), err));
        PFR_TRY(put_attribute(r, "thread.name", &name, 0, err));
        o->attributes += 3;
    }
    *number = o->attributes_of[thread];
    return PFR_OK;
}

/* --- Profiles. */

static uint64_t signed_most(uint64_t number) {
    return number < INT64_MAX ? number : INT64_MAX;
}

/* Writes a value (the count 1, or the weight) and a time for each moment of the sum. */
static void put_moments(struct otlp *o, const struct otlp_sum *sum, enum otlp_value value) {
    out_clear(&o->text);
    for (uint32_t at = sum->first; at; at = o->moments[at - 1].next)
        proto_varint(&o->text, value == OTLP_COUNTS ? 1 : signed_most(o->moments[at - 1].weight));
    proto_bytes(&o->part, SAMPLE_VALUES, o->text.buffer, o->text.used);
    out_clear(&o->text);
    for (uint32_t at = sum->first; at; at = o->moments[at - 1].next)
        proto_element64(&o->text, o->moments[at - 1].time + o->ahead);
    proto_bytes(&o->part, SAMPLE_TIMES, o->text.buffer, o->text.used);
}

static pfr_status put_sum(struct rows *r, const struct otlp_sum *sum, enum otlp_value value, pfr_error *err) {
    struct otlp *o = r->state;
    uint64_t stack, attributes;
    uint8_t numbers[3 * PROTO_VARINT_MOST];
    size_t length = 0;
    PFR_TRY(stack_of(r, sum->stack, &stack, err));
    PFR_TRY(attributes_of(r, sum->thread, &attributes, err));
    proto_u64(&o->part, SAMPLE_STACK, stack);
    for (uint64_t i = 0; attributes && i < 3; i++)
        length += proto_put(numbers + length, attributes + i);
    if (length)
        proto_bytes(&o->part, SAMPLE_ATTRIBUTES, numbers, length);
    length = proto_put(numbers, value == OTLP_COUNTS ? sum->count : signed_most(sum->weight));
    if (o->times)
        put_moments(o, sum, value);
    else
        proto_bytes(&o->part, SAMPLE_VALUES, numbers, length);
    proto_message(&o->samples, OTLP_SAMPLES, &o->part);
    return PFR_OK;
}

static pfr_status put_type(struct rows *r, unsigned field, const char *name, const char *unit, pfr_error *err) {
    struct otlp *o = r->state;
    uint64_t type, unit_number;
    PFR_TRY(constant(r, name, &type, err));
    PFR_TRY(constant(r, unit, &unit_number, err));
    proto_u64(&o->part, VALUE_TYPE, type);
    proto_u64(&o->part, VALUE_UNIT, unit_number);
    proto_message(&o->profile, field, &o->part);
    return PFR_OK;
}

static void put_times(struct rows *r) {
    struct otlp *o = r->state;
    if (o->ahead) {
        proto_fixed64(&o->profile, OTLP_TIME, r->begin + o->ahead);
    }
    proto_u64(&o->profile, OTLP_DURATION, r->end > r->begin ? r->end - r->begin : 0);
}

/* Frees the buffer of a large part that was copied. A failure is kept. */
static void drop_buffer(struct rows *r, struct output *part) {
    const pfr_status status = part->status;
    out_close(part, NULL);
    out_open_memory(part, r->memory);
    part->status = status;
}

static pfr_status put_profile(struct rows *r, uint32_t event, enum otlp_value value, pfr_error *err) {
    struct otlp *o = r->state;
    const pfr_model_event *is = pfr_model_get_event(r->model, event);
    const char *name = is->name ? is->name : "events", *unit = is->unit && strcmp(is->unit, "ns") == 0 ? "ns" : "1";
    for (size_t i = 0; i < o->nr_sums; i++)
        if (o->sums[i].event == event)
            PFR_TRY(put_sum(r, &o->sums[i], value, err));
    if (!o->samples.used)
        return PFR_OK;
    if (value == OTLP_WEIGHTS)
        PFR_TRY(put_type(r, OTLP_TYPE, name, unit, err));
    else
        PFR_TRY(put_type(r, OTLP_TYPE, is->is_traced ? "calls" : "samples", "1", err));
    out_write(&o->profile, o->samples.buffer, o->samples.used);
    drop_buffer(r, &o->samples);
    put_times(r);
    PFR_TRY(put_type(r, OTLP_PERIOD_TYPE, name, unit, err));
    proto_message(&o->scopes, SCOPE_PROFILES, &o->profile);
    drop_buffer(r, &o->profile);
    return PFR_OK;
}

static void make_stack(struct rows *r, uint32_t stack) {
    struct otlp *o = r->state;
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    out_clear(&o->text);
    out_clear(&o->part);
    for (uint32_t id = stack; id; id = stacks[id].parent)
        proto_varint(&o->text, o->location_of[stacks[id].symbol]);
    proto_bytes(&o->part, STACK_LOCATIONS, o->text.buffer, o->text.used);
}

static uint64_t stacks_length(struct rows *r) {
    struct otlp *o = r->state;
    uint64_t length = 0;
    for (size_t i = 0; i < o->nr_stacks; i++) {
        make_stack(r, o->stacks[i]);
        length += 1 + proto_length(o->part.used) + o->part.used; /* 1: the field number */
    }
    return length;
}

static pfr_status put_dictionary(struct rows *r, pfr_error *err) {
    struct otlp *o = r->state;
    for (uint32_t i = 0; i < o->strings.count; i++) {
        const struct intern_text text = intern_get(&o->strings, i);
        proto_bytes(&o->dictionary, DICTIONARY_STRING, text.bytes, text.length);
    }
    proto_head(r->out, DATA_DICTIONARY, o->dictionary.used + stacks_length(r));
    out_write(r->out, o->dictionary.buffer, o->dictionary.used);
    for (size_t i = 0; i < o->nr_stacks; i++) {
        make_stack(r, o->stacks[i]);
        proto_message(r->out, DICTIONARY_STACK, &o->part);
    }
    const struct output *const all[] = {&o->samples, &o->profile, &o->scopes,    &o->part,
                                        &o->inner,   &o->text,    &o->dictionary};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->status < 0)
            return mem_fail(r->memory, err, "export");
    return PFR_OK;
}

/* --- The whole message. */

static pfr_status begin(struct rows *r, struct otlp *o, pfr_error *err) {
    static const unsigned tables[] = {DICTIONARY_MAPPING, DICTIONARY_LOCATION,  DICTIONARY_FUNCTION,
                                      DICTIONARY_LINK,    DICTIONARY_ATTRIBUTE, DICTIONARY_STACK};
    struct output *const all[] = {&o->samples, &o->profile, &o->scopes, &o->part, &o->inner, &o->text, &o->dictionary};
    uint64_t empty;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        out_open_memory(all[i], r->memory);
    intern_init(&o->strings, r->memory);
    u64_map_init(&o->stack_of, r->memory);
    o->has_begun = true;
    o->nr_events = (size_t)pfr_model_count(r->model, PFR_TABLE_EVENT) + 1;
    o->nr_symbols = (size_t)pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    o->nr_objects = (size_t)pfr_model_count(r->model, PFR_TABLE_OBJECT) + 1;
    o->nr_threads = (size_t)pfr_model_count(r->model, PFR_TABLE_THREAD) + 1;
    o->location_of = mem_zeroed(r->memory, o->nr_symbols, sizeof *o->location_of);
    o->mapping_of = mem_zeroed(r->memory, o->nr_objects, sizeof *o->mapping_of);
    o->attributes_of = mem_zeroed(r->memory, o->nr_threads, sizeof *o->attributes_of);
    o->sum_of = mem_zeroed(r->memory, o->nr_events, sizeof *o->sum_of);
    if (!o->location_of || !o->mapping_of || !o->attributes_of || !o->sum_of)
        return mem_fail(r->memory, err, "export");
    for (size_t i = 0; i < o->nr_events; i++)
        u64_map_init(&o->sum_of[i], r->memory);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        proto_bytes(&o->dictionary, tables[i], "", 0);
    return constant(r, "", &empty, err);
}

static void drop_maps(struct otlp *o) {
    for (size_t i = 0; o->sum_of && i < o->nr_events; i++)
        if (o->sum_of[i].memory)
            u64_map_free(&o->sum_of[i]);
}

/* The scopes may be large, so they are not copied into a resource first. */
static void put_resource(struct rows *r) {
    struct otlp *o = r->state;
    proto_head(&o->part, RESOURCE_SCOPES, o->scopes.used);
    proto_head(r->out, DATA_RESOURCE, o->part.used + o->scopes.used);
    out_clear(&o->part);
    proto_message(r->out, RESOURCE_SCOPES, &o->scopes);
    drop_buffer(r, &o->scopes);
}

static pfr_status write_otlp(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = add_sample, .call = add_call};
    struct otlp *o = r->state;
    struct times_known known = {0};
    PFR_TRY(begin(r, o, err));
    times_learn(r->reader, &known);
    o->ahead = known.walled ? known.ahead : 0;
    if (o->times && !known.walled)
        rows_note(r, "the wall clock is not known: times are those of the recording's clock");
    PFR_TRY(rows_walk(r, &visit, err));
    drop_maps(o);
    proto_bytes(&o->part, SCOPE_NAME, "perfray", strlen("perfray"));
    proto_message(&o->scopes, SCOPE_SCOPE, &o->part);
    for (uint32_t id = 1; id < o->nr_events; id++)
        for (enum otlp_value value = OTLP_COUNTS; value <= OTLP_WEIGHTS; value++)
            PFR_TRY(put_profile(r, id, value, err));
    put_resource(r);
    return put_dictionary(r, err);
}

static void clear(struct rows *r) {
    struct otlp *o = r->state;
    struct output *const all[] = {&o->samples, &o->profile, &o->scopes, &o->part, &o->inner, &o->text, &o->dictionary};
    if (!o->has_begun)
        return;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        out_close(all[i], NULL);
    drop_maps(o);
    intern_free(&o->strings);
    mem_free(r->memory, o->sum_of, o->sum_of ? o->nr_events : 0, sizeof *o->sum_of);
    mem_free(r->memory, o->sums, o->sums_room, sizeof *o->sums);
    mem_free(r->memory, o->moments, o->moments_room, sizeof *o->moments);
    mem_free(r->memory, o->location_of, o->location_of ? o->nr_symbols : 0, sizeof *o->location_of);
    mem_free(r->memory, o->mapping_of, o->mapping_of ? o->nr_objects : 0, sizeof *o->mapping_of);
    u64_map_free(&o->stack_of);
    mem_free(r->memory, o->stacks, o->stacks_room, sizeof *o->stacks);
    mem_free(r->memory, o->attributes_of, o->attributes_of ? o->nr_threads : 0, sizeof *o->attributes_of);
}

static const struct row_option options[] = {{"times", ROW_FLAG, offsetof(struct otlp, times)}, {0}};

const struct row_sink sink_otlp = {
    .format = {.name = "otlp",
               .suffix = ".otlp",
               .about = "OpenTelemetry profiles, release 1.11.0: one message ProfilesData",
               .binary = true,
               .reader = "OpenTelemetry Collector and back ends of that release",
               .losses = "CPUs of samples, lost records; times, unless --set times"},
    .no_marks = true,
    .options = options,
    .state_size = sizeof(struct otlp),
    .write = write_otlp,
    .clear = clear,
};

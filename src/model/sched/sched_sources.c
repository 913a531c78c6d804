/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the scheduler events of a recording, and the offsets of the needed fields in their raw bytes. Offsets and the
 * bits of prev_state come from the formats in the recording, because they differ between kernels. A recording without
 * formats is read by the layout that 64-bit kernels have had since 2.6.
 */
#include "model/sched/sched_event.h"

#include "base/memory/arena.h"
#include "base/text/text.h"
#include "file/read/recording.h"
#include "file/read/tracing_blob.h"
#include "model/tracepoint/tracepoint_formats.h"
#include "wire/feature_bits.h"
#include "wire/layout_length.h"
#include "wire/record_bits.h"

#include <stdlib.h>

enum { SW_CONTEXT_SWITCHES = 3 };
#define FLAGS_AT 2u /* common_flags: offset in the raw bytes of every tracepoint */

/* --- Known tracepoints and their fields. */

struct known_tracepoint {
    const char *system, *name;
    enum sched_kind kind;
    const char *tid, *other, *state, *value;
    struct raw_place tid_at, other_at, state_at, value_at; /* offsets if there is no format */
};

static const struct known_tracepoint known[] = {
    {"sched", "sched_switch", SCHED_SWITCH, "prev_pid", "next_pid", "prev_state", NULL, {24, 4}, {56, 4}, {32, 8}, {0}},
    {"sched", "sched_waking", SCHED_WAKING, NULL, "pid", NULL, NULL, {0}, {24, 4}, {0}, {0}},
    {"sched", "sched_wakeup", SCHED_WAKING, NULL, "pid", NULL, NULL, {0}, {24, 4}, {0}, {0}},
    {"sched", "sched_wakeup_new", SCHED_NEW, NULL, "pid", NULL, NULL, {0}, {24, 4}, {0}, {0}},
    {"raw_syscalls", "sys_enter", SCHED_ENTER, NULL, NULL, NULL, "id", {0}, {0}, {0}, {8, 8}},
    {"raw_syscalls", "sys_exit", SCHED_LEAVE, NULL, NULL, NULL, NULL, {0}, {0}, {0}, {0}},
    {"syscalls", "sys_enter_futex", SCHED_ADDRESS, NULL, NULL, NULL, "uaddr", {0}, {0}, {0}, {16, 8}},
    {"syscalls", "sys_exit_futex", SCHED_LEAVE, NULL, NULL, NULL, NULL, {0}, {0}, {0}, {0}},
};

static bool text_is(pfr_text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static const struct known_tracepoint *find_known(const char *name) {
    const char *colon = strchr(name, ':');
    for (size_t i = 0; colon && i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].system) == (size_t)(colon - name) &&
            strncmp(known[i].system, name, (size_t)(colon - name)) == 0 && strcmp(known[i].name, colon + 1) == 0)
            return &known[i];
    return NULL;
}

static const struct known_tracepoint *known_of_format(const struct tracing_format *format) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(format->system, known[i].system) && text_is(format->name, known[i].name))
            return &known[i];
    return NULL;
}

/* --- Formats. */

static struct raw_place place_of(const struct event_format *format, const char *name) {
    const struct format_field *f = name ? find_format_field(format, name) : NULL;
    const bool fits = f && !f->is_array && !f->data_loc && !f->rel_loc && (f->size == 4 || f->size == 8);
    return fits ? (struct raw_place){f->offset, f->size} : (struct raw_place){0, 0};
}

/* Learns the bits of prev_state from the letters in the print format: { 0x01, "S" }, ... X, Z and x are threads that
   ended. */
static void learn_states(struct sched_sources *s, const char *print) {
    uint64_t asleep = 0, dead = 0;
    for (const char *at = strchr(print, '{'); at; at = strchr(at + 1, '{')) {
        char *end;
        const uint64_t bits = strtoull(at + 1, &end, 0);
        end += strspn(end, ", ");
        if (!bits || end[0] != '"' || end[1] == '\0' || end[2] != '"')
            continue;
        asleep |= bits;
        dead |= strchr("XZx", end[1]) ? bits : 0;
    }
    if (asleep)
        s->asleep = asleep;
    if (dead)
        s->dead = dead;
}

static pfr_status read_format(struct sched_sources *s, uint32_t event, const struct tracing_format *f,
                              struct arena *arena, pfr_error *err) {
    const struct known_tracepoint *k = known_of_format(f);
    struct event_format format;
    if (!k)
        return PFR_OK;
    const pfr_status st = text_format_source.read(f->text.at, f->text.length, k->system, arena, &format, err);
    if (st == PFR_ERR_DAMAGE)
        return PFR_OK;
    PFR_TRY(st);
    s->of[event] = (struct sched_source){.kind = k->kind,
                                         .tid = place_of(&format, k->tid),
                                         .other = place_of(&format, k->other),
                                         .state = place_of(&format, k->state),
                                         .value = place_of(&format, k->value)};
    if (k->kind == SCHED_SWITCH)
        learn_states(s, format.print_fmt);
    return PFR_OK;
}

static pfr_status read_formats(struct sched_sources *s, pfr_reader *reader, pfr_bytes bytes, struct arena *arena,
                               pfr_error *err) {
    struct tracing_blob blob;
    struct tracing_format format;
    if (blob_open(&blob, bytes.at, bytes.length, 0, NULL) != PFR_OK)
        return PFR_OK;
    s->raw_swap = blob.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    while (blob_next_ftrace(&blob, &format, NULL) == PFR_OK)
        ;
    while (blob_next(&blob, &format, NULL) == PFR_OK)
        for (uint32_t i = 0; i < s->count; i++) {
            const struct pfr_rec_attr *attr = &reader->events.list[i].public.attr;
            if (attr->type == PFR_ATTR_TYPE_TRACEPOINT && attr->config == format.id)
                PFR_TRY(read_format(s, i, &format, arena, err));
        }
    return PFR_OK;
}

/* --- Events. */

static void learn_without_format(struct sched_sources *s, const pfr_event *event, uint32_t number,
                                 const struct known_tracepoint *described) {
    const struct known_tracepoint *named = event->name ? find_known(event->name) : NULL;
    const struct known_tracepoint *k = named ? named : described;
    if (k && s->of[number].kind == SCHED_KINDS)
        s->of[number] = (struct sched_source){
            .kind = k->kind, .tid = k->tid_at, .other = k->other_at, .state = k->state_at, .value = k->value_at};
}

static bool has_fields(const struct sched_source *source) {
    switch (source->kind) {
    case SCHED_SWITCH:
        return source->tid.size && source->other.size && source->state.size;
    case SCHED_WAKING:
    case SCHED_NEW:
        return source->other.size;
    case SCHED_ENTER:
    case SCHED_ADDRESS:
        return source->value.size;
    default:
        return true;
    }
}

static bool is_sampled(const struct sched_source *source, const struct pfr_rec_attr *attr) {
    const bool matters = source->kind == SCHED_SWITCH || source->kind == SCHED_WAKING || source->kind == SCHED_AWAY;
    return matters && (attr->flags.freq || attr->sample_period > 1);
}

/* Determines which kind of scheduler event the samples are. Events without the necessary fields are not used. */
static void learn_event(struct sched_sources *s, const pfr_event *event, uint32_t number,
                        const struct known_tracepoint *described) {
    const uint64_t type = event->attr.sample_type, needed = PFR_SAMPLE_TIME | PFR_SAMPLE_TID;
    struct sched_source *source = &s->of[number];
    const bool is_tracepoint = event->attr.type == PFR_ATTR_TYPE_TRACEPOINT;
    if (is_tracepoint)
        learn_without_format(s, event, number, described);
    else if (event->attr.type == PFR_ATTR_TYPE_SOFTWARE && event->attr.config == SW_CONTEXT_SWITCHES)
        source->kind = SCHED_STACK;
    const bool has_raw = type & PFR_SAMPLE_RAW;
    if ((type & needed) != needed || (is_tracepoint && !has_raw && source->kind != SCHED_SWITCH) || !has_fields(source))
        source->kind = SCHED_KINDS;
    else if (is_tracepoint && !has_raw)
        source->kind = SCHED_AWAY;
    source->has_cpu = type & PFR_SAMPLE_CPU;
    source->cgroup = source->kind != SCHED_KINDS && type & PFR_SAMPLE_CGROUP;
    s->cgroups |= source->cgroup;
    s->away |= source->kind == SCHED_AWAY;
    s->sampled |= is_sampled(source, &event->attr);
    s->switches |= source->kind == SCHED_SWITCH;
    s->wakings |= source->kind == SCHED_WAKING;
    s->stacks |= source->kind == SCHED_STACK;
    s->syscalls |= source->kind == SCHED_ENTER;
    s->futexes |= source->kind == SCHED_ADDRESS;
    s->records |= event->attr.flags.context_switch && (type & needed) == needed && event->attr.flags.sample_id_all;
}

/* The raw bytes must contain all fields, and common_flags. */
static uint64_t least_of(const struct sched_source *source) {
    const struct raw_place *const places[] = {&source->tid, &source->other, &source->state, &source->value};
    uint64_t least = FLAGS_AT + 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t end = (uint64_t)places[i]->offset + places[i]->size;
        least = places[i]->size && end > least ? end : least;
    }
    return least;
}

/* Offset in the record of a 4-byte member of samples; false: it varies. */
static bool find_place(const struct event *e, uint64_t bit, size_t member, uint32_t *place) {
    *place = 0;
    if (!(e->public.attr.sample_type & bit))
        return true;
    const bool is_fixed = layout_place_u32(layout_at(L_sample), &e->context, (uint16_t)member, place);
    *place += RECORD_HEADER;
    return is_fixed;
}

/* Tracepoints without call chains have everything at fixed offsets: these samples need not be decoded. */
static void learn_places(struct sched_source *source, const struct event *e) {
    struct sched_places *p = &source->places;
    source->raw_least = least_of(source);
    if (source->kind == SCHED_KINDS || !sched_has_raw(source->kind))
        return;
    const bool is_sized = e->length.known && e->length.sized;
    p->raw = is_sized ? RECORD_HEADER + e->length.count_at : 0;
    if (!is_sized && e->public.attr.sample_type & PFR_SAMPLE_CALLCHAIN &&
        layout_place(layout_at(L_sample), &e->context, offsetof(struct pfr_rec_sample, nr_chain), &p->chain))
        p->chain += RECORD_HEADER;
    p->time = e->time_at;
    const bool are_fixed = find_place(e, PFR_SAMPLE_TID, offsetof(struct pfr_rec_sample, tid), &p->tid) &&
                           find_place(e, PFR_SAMPLE_CPU, offsetof(struct pfr_rec_sample, cpu), &p->cpu);
    p->fixed = is_sized && !source->cgroup && p->time && are_fixed;
}

/* If there are SWITCH records, these show when threads ran; samples then only show where threads left their CPUs. */
static void learn_away(struct sched_sources *s) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->of[i].kind == SCHED_AWAY)
            s->of[i].kind = SCHED_STACK;
    s->stacks = true;
    s->away = false;
}

/* Uses the samples of an event to notice that a thread runs again. */
static void learn_seen(struct sched_sources *s, const struct pfr_rec_attr *attr, uint32_t number) {
    const uint64_t needed = PFR_SAMPLE_TIME | PFR_SAMPLE_TID;
    if (s->of[number].kind == SCHED_KINDS && (attr->sample_type & needed) == needed)
        s->of[number].kind = SCHED_SEEN;
}

/* --- simpleperf, which names events by "NAME,TYPE,CONFIG" lines of its meta data, and records no raw bytes. */

static pfr_text find_meta(pfr_reader *reader, const char *key) {
    struct pfr_rec_feature_simpleperf_meta_info info;
    struct pfr_rec_meta_info_pair pair;
    const pfr_feature *f = pfr_find_feature(reader, BIT_SIMPLEPERF_META_INFO, NULL);
    if (!f || pfr_decode_feature(reader, f, &info, sizeof info, NULL) != PFR_OK)
        return (pfr_text){.length = 0};
    pfr_items_iter it = pfr_items_begin(&info.pairs);
    while (pfr_items_next(&it, &pair, sizeof pair, NULL) == PFR_OK)
        if (text_is(pair.key, key))
            return pair.value;
    return (pfr_text){.length = 0};
}

/* The tracepoint of a line such as "sched:sched_switch,2,47". */
static const struct known_tracepoint *known_of_line(const char *line, size_t length, uint64_t config) {
    const char *const end = line + length, *const comma = memchr(line, ',', length);
    const char *const second = comma ? memchr(comma + 1, ',', (size_t)(end - comma) - 1) : NULL;
    char name[64];
    uint64_t value;
    if (!second || (size_t)(comma - line) >= sizeof name ||
        !parse_u64_part(second + 1, (size_t)(end - second) - 1, &value) || value != config)
        return NULL;
    memcpy(name, line, (size_t)(comma - line));
    name[comma - line] = '\0';
    return find_known(name);
}

static const struct known_tracepoint *find_described(pfr_reader *reader, const struct pfr_rec_attr *attr) {
    const pfr_text all =
        attr->type == PFR_ATTR_TYPE_TRACEPOINT ? find_meta(reader, "event_type_info") : (pfr_text){.length = 0};
    const struct known_tracepoint *found = NULL;
    for (size_t at = 0; at < all.length && !found;) {
        const char *line = all.at + at, *end = memchr(line, '\n', all.length - at);
        const size_t length = end ? (size_t)(end - line) : all.length - at;
        found = known_of_line(line, length, attr->config);
        at += length + 1;
    }
    return found;
}

/* Reads a stream up to its first sample: the records with events and formats come before it. */
static pfr_status read_front(pfr_reader *reader, pfr_error *err) {
    pfr_record rec;
    pfr_status st = pfr_rewind(reader, err);
    while (st >= 0 && (st = pfr_next(reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_OK && rec.type == PFR_RECORD_SAMPLE)
            break;
    return st < 0 ? st : pfr_rewind(reader, err);
}

pfr_status sched_sources_learn(struct sched_sources *s, pfr_reader *reader, struct memory *memory, pfr_error *err) {
    struct arena arena;
    *s = (struct sched_sources){.memory = memory};
    if (pfr_get_header(reader)->container == PFR_PIPE)
        PFR_TRY(read_front(reader, err));
    const pfr_feature *feature = pfr_find_feature(reader, BIT_TRACING_DATA, NULL);
    *s = (struct sched_sources){.memory = memory, .count = pfr_event_count(reader), .asleep = 0xff, .dead = 0x70};
    s->raw_swap = reader->context.swap;
    sched_namespace_begin(s);
    s->of = mem_alloc(memory, s->count, sizeof *s->of);
    if (!s->of)
        return mem_fail(memory, err, "events");
    for (uint32_t i = 0; i < s->count; i++)
        s->of[i] = (struct sched_source){.kind = SCHED_KINDS};
    arena_init(&arena, memory);
    const pfr_status st = feature ? read_formats(s, reader, feature->bytes, &arena, err) : PFR_OK;
    arena_free(&arena);
    for (uint32_t i = 0; st >= 0 && i < s->count; i++)
        learn_event(s, &reader->events.list[i].public, i, find_described(reader, &reader->events.list[i].public.attr));
    for (uint32_t i = 0; st >= 0 && i < s->count; i++)
        learn_places(&s->of[i], &reader->events.list[i]);
    if (s->away && s->records)
        learn_away(s);
    for (uint32_t i = 0; st >= 0 && s->away && i < s->count; i++)
        learn_seen(s, &reader->events.list[i].public.attr, i);
    return st;
}

void sched_sources_free(struct sched_sources *s) {
    sched_namespace_end(s);
    mem_free(s->memory, s->of, s->count, sizeof *s->of);
    *s = (struct sched_sources){.memory = s->memory};
}

bool sched_sources_any(const struct sched_sources *s) {
    return s->switches || s->records || s->away;
}

/* --- Records to events. */

/* An absent field leaves *number as it is. */
static inline void read_number(const struct sched_sources *s, pfr_bytes raw, struct raw_place place, uint64_t *number) {
    const uint8_t *at = raw.at + place.offset;
    if (place.size)
        *number = place.size == 4 ? load_u32(at, s->raw_swap) : load_u64(at, s->raw_swap);
}

static inline bool take_fields(const struct sched_sources *s, const struct sched_source *source, pfr_bytes raw,
                               struct sched_event *event) {
    uint64_t tid = event->tid, other = 0, state = 0;
    if (raw.length < source->raw_least)
        return false;
    read_number(s, raw, source->tid, &tid);
    read_number(s, raw, source->other, &other);
    read_number(s, raw, source->state, &state);
    read_number(s, raw, source->value, &event->value);
    event->tid = source->tid.size && s->namespaced ? sched_namespace_tid(s, (uint32_t)tid) : (uint32_t)tid;
    event->other = s->namespaced ? sched_namespace_tid(s, (uint32_t)other) : (uint32_t)other;
    event->left = state & s->dead ? SCHED_LEFT_DEAD : state & s->asleep ? SCHED_LEFT_BLOCKED : SCHED_LEFT_RUNNABLE;
    event->flags = raw.at[FLAGS_AT];
    return true;
}

bool sched_of_sample(const struct sched_sources *s, uint32_t number, const struct pfr_rec_sample *sample,
                     struct sched_event *event) {
    if (number >= s->count || s->of[number].kind == SCHED_KINDS || sample->time - 1 >= UINT64_MAX - 1)
        return false;
    const struct sched_source *source = &s->of[number];
    *event = (struct sched_event){.time = sample->time,
                                  .kind = (uint8_t)source->kind,
                                  .tid = sched_namespace_own(s, sample),
                                  .own = sample->tid,
                                  .value = source->cgroup ? sample->cgroup : 0,
                                  .cpu = sample->cpu};
    return !sched_has_raw(source->kind) || take_fields(s, source, sample->raw.data, event);
}

/* --- Records other than samples. */

static bool of_fork(const pfr_record *rec, struct sched_event *event) {
    struct pfr_rec_fork body;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK || body.tid == 0)
        return false;
    event->time = event->time ? event->time : body.time; /* the time of sample_id has precedence, as in model/state */
    event->tid = body.ptid;
    event->other = body.tid;
    event->kind = SCHED_FORK;
    return true;
}

static bool of_exit(const pfr_record *rec, struct sched_event *event) {
    struct pfr_rec_exit body;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return false;
    event->time = body.time;
    event->tid = body.tid;
    event->kind = SCHED_EXIT;
    return true;
}

static bool of_lost(const pfr_record *rec, struct sched_event *event) {
    (void)rec;
    event->kind = SCHED_LOST;
    return true;
}

/* SWITCH records have no tid of their own; event->tid is that of sample_id. */
static bool of_switch(const pfr_record *rec, struct sched_event *event) {
    event->kind = has_bit(rec->misc, MISC_BIT_13) ? SCHED_OUT : SCHED_IN;
    event->left = has_bit(rec->misc, MISC_BIT_14) ? SCHED_LEFT_RUNNABLE : SCHED_LEFT_BLOCKED;
    return event->tid != SCHED_NOBODY;
}

typedef bool record_fn(const pfr_record *rec, struct sched_event *event);

static record_fn *const functions[] = {
    [PFR_RECORD_LOST] = of_lost,
    [PFR_RECORD_EXIT] = of_exit,
    [PFR_RECORD_FORK] = of_fork,
    [PFR_RECORD_SWITCH] = of_switch,
    [PFR_RECORD_SWITCH_CPU_WIDE] = of_switch,
};

bool sched_of_record(const struct sched_sources *s, const pfr_reader *reader, const pfr_record *rec,
                     struct sched_event *event) {
    struct pfr_rec_sample_id id = {0};
    (void)s;
    if (rec->type >= sizeof functions / sizeof *functions || !functions[rec->type] || rec->event < 0)
        return false;
    const uint64_t type = reader->events.list[rec->event].public.attr.sample_type;
    const bool has_id = rec->tail && pfr_decode_id(rec, &id, NULL) == PFR_OK;
    *event = (struct sched_event){.time = has_id && type & PFR_SAMPLE_TIME ? id.time : 0,
                                  .tid = has_id && type & PFR_SAMPLE_TID ? id.tid : SCHED_NOBODY,
                                  .cpu = has_id && type & PFR_SAMPLE_CPU ? id.cpu : SCHED_NO_CPU};
    return functions[rec->type](rec, event);
}

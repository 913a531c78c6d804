/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the fields that an event prints: those chosen for its kind, minus those not recorded. As in perf, the
 * first event of each kind decides for the whole kind.
 */
#include "view/script/script_events.h"
#include "view/script/script_address_fields.h"
#include "view/script/script_event_names.h"
#include "view/script/script_fields.h"
#include "view/script/script_files.h"
#include "view/script/script_reads.h"
#include "view/script/script_sample.h"
#include "view/script/script_switch.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "wire/feature_bits.h"

#define ATTR_KINDS 6u /* values of attr.type; larger ones are dynamic PMUs */
#define PID_BEHIND_IP 8u
#define SOFTWARE 1u
#define PAGE_FAULTS 2u
#define MINOR_FAULTS 5u
#define MAJOR_FAULTS 6u

void script_events_free(struct script *s) {
    mem_free(s->memory, s->own->events, s->own->events_room, sizeof *s->own->events);
    s->own->events = NULL;
    s->own->nr_events = 0;
    s->own->events_room = 0;
    script_labels_free(s);
}

static enum script_type type_of(const pfr_event *event) {
    return event->attr.type < ATTR_KINDS ? (enum script_type)event->attr.type : TYPE_OTHER;
}

static bool is_stream(const struct script *s) {
    return pfr_get_header(s->own->reader)->container == PFR_PIPE;
}

/* Whether an event has callchains; each event is checked once. */
static bool any_chains(struct script *s) {
    for (uint32_t i = s->own->nr_events; i < pfr_event_count(s->own->reader) && !s->own->has_chains; i++)
        s->own->has_chains = SAMPLE_HAS(pfr_get_event(s->own->reader, i)->attr.sample_type, S_CHAIN);
    return s->own->has_chains && !s->own->options->hide_call_graph;
}

#define LENIENT                                                                                                        \
    (FIELD(F_ADDR) | FIELD(F_CPU) | FIELD(F_WEIGHT) | FIELD(F_DATA_SRC) | FIELD(F_PHYS_ADDR) | FIELD(F_IREGS))

/* Fields that a decoder of AUX data can provide: allowed although they were not recorded. */
static uint64_t lenient_fields(const struct script *s) {
    const pfr_header *h = pfr_get_header(s->own->reader);
    return h->features[0] >> BIT_AUXTRACE & 1 ? LENIENT : 0;
}

/* Recordings of `perf stat` contain no samples, so no fields can be missing. */
static bool is_stat(const struct script *s) {
    const pfr_header *h = pfr_get_header(s->own->reader);
    return h->features[0] >> BIT_STAT & 1;
}

/* Removes fields that were not recorded, or refuses them if the user named them. */
static pfr_status check_recorded(struct script_choice *choice, uint64_t lenient, const pfr_event *event,
                                 pfr_error *err) {
    for (unsigned f = 0; f < SCRIPT_FIELDS; f++) {
        const struct script_row *row = &script_rows[f];
        if (!(choice->fields >> f & 1) || row->needs == 0 || (event->attr.sample_type & row->needs))
            continue;
        if ((choice->asked >> f & 1) && lenient >> f & 1)
            continue;
        if (choice->asked >> f & 1)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                            "Samples for '%.60s' event do not have %s attribute set. Cannot print '%s' field",
                            event->name, row->attribute, row->name);
        choice->fields &= ~FIELD(f);
    }
    return PFR_OK;
}

static bool learn_wall(struct script *s) {
    struct times_known known = {0};
    if (!s->own->wall.known)
        times_learn(s->own->reader, &known);
    if (known.walled)
        s->own->wall = (struct script_wall){.ahead = known.ahead, .moment = known.day, .known = true};
    return s->own->wall.known;
}

static pfr_status check_wall(struct script *s, struct script_choice *choice, pfr_error *err) {
    if (!(choice->fields & FIELD(F_TOD)) || learn_wall(s))
        return PFR_OK;
    if (!(choice->asked & FIELD(F_TOD))) {
        choice->fields &= ~FIELD(F_TOD);
        return PFR_OK;
    }
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                    "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option");
}

static pfr_status check_sense(const struct script_choice *choice, pfr_error *err) {
    if ((choice->fields & FIELD(F_SYMOFF)) && !(choice->fields & FIELD(F_SYM)))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                        "Display of offsets requested but symbol is not selected");
    if ((choice->fields & FIELD(F_SRCLINE)) && !(choice->fields & FIELD(F_IP)))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                        "Display of source lines requested but ip is not selected");
    return PFR_OK;
}

/* Tracepoints print addresses only if callchains were recorded. */
static void add_places(struct script *s, bool has_chains) {
    const uint64_t placed = FIELD(F_IP) | FIELD(F_SYM) | FIELD(F_SYMOFF) | FIELD(F_DSO);
    struct script_choice *trace = &s->own->choices[TYPE_TRACE];
    if (has_chains && !trace->set && !is_stream(s))
        trace->fields |= placed;
}

/* perf reads -F before it knows the events of a stream, and afterwards adds the fields that callchains need. */
static void add_stream_places(struct script *s, const pfr_event *event, bool has_chains) {
    if (is_stream(s) && has_chains)
        s->own->choices[type_of(event)].fields |= FIELD(F_IP) | FIELD(F_SYM);
}

/* Only the first event of each kind is checked. */
static pfr_status check_event(struct script *s, const pfr_event *event, bool has_chains, pfr_error *err) {
    const enum script_type type = type_of(event);
    add_stream_places(s, event, has_chains);
    if (s->own->seen >> type & 1 ||
        (is_stream(s) && event->attr.sample_type == 0)) /* such a stream has only counts, no samples */
        return PFR_OK;
    s->own->seen |= 1u << type;
    if (is_stat(s))
        return PFR_OK;
    PFR_TRY(check_recorded(&s->own->choices[type], lenient_fields(s), event, err));
    PFR_TRY(check_sense(&s->own->choices[type], err));
    return check_wall(s, &s->own->choices[type], err);
}

/* Checks new events; if the first event with callchains is among them, checks all events again. */
static pfr_status check_events(struct script *s, pfr_error *err) {
    const bool had_chains = s->own->has_chains, has_chains = any_chains(s), again = s->own->has_chains != had_chains;
    s->own->seen = again ? 0 : s->own->seen;
    add_places(s, has_chains);
    for (uint32_t i = again ? 0 : s->own->nr_events; i < pfr_event_count(s->own->reader); i++)
        PFR_TRY(check_event(s, pfr_get_event(s->own->reader, i), has_chains, err));
    if (!is_stat(s))
        PFR_TRY(samples_check_cpus(s->own->reader, s->own->options->cpus, err));
    for (unsigned t = 0; t < SCRIPT_TYPES; t++)
        if (!(s->own->seen >> t & 1) && s->own->choices[t].set && s->own->choices[t].fields == 0 && t < TYPE_SYNTH)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                            "%s events do not exist. Remove corresponding -F option to proceed",
                            script_type_name((enum script_type)t));
    return PFR_OK;
}

static bool has_place_in_addr(const pfr_event *event) {
    const uint64_t config = event->attr.config;
    return event->attr.type == SOFTWARE && (config == PAGE_FAULTS || config == MINOR_FAULTS || config == MAJOR_FAULTS);
}

static uint8_t name_form(uint64_t fields) {
    return (uint8_t)((fields & FIELD(F_SYM) ? NAME_SYM : 0) | (fields & FIELD(F_SYMOFF) ? NAME_OFFSET : 0) |
                     (fields & FIELD(F_DSO) ? NAME_DSO : 0) | (fields & FIELD(F_SRCLINE) ? NAME_LINE : 0));
}

/* One printer handles comm, pid and tid, which are adjacent. */
static uint8_t who_form(const struct script_event *e) {
    return (uint8_t)((e->fields & FIELD(F_COMM) ? WHO_COMM : 0) | (e->fields & FIELD(F_PID) ? WHO_PID : 0) |
                     (e->fields & FIELD(F_TID) ? WHO_TID : 0) | (e->chains ? WHO_UNPADDED : 0));
}

static void list_printers(struct script_event *e) {
    size_t begins = 0, rest = 0;
    bool has_who = false;
    for (unsigned f = 0; f < SCRIPT_FIELDS; f++) {
        const struct script_row *row = &script_rows[f];
        script_printer *print = row->print;
        if (!(e->fields >> f & 1) || !print)
            continue;
        if (print == print_who && has_who)
            continue;
        has_who |= print == print_who;
        if (f == F_IP && e->chains)
            print = print_chain;
        if (row->begins)
            e->begin[begins++] = print;
        else
            e->rest[rest++] = print;
    }
}

static void describe(struct script *s, struct script_event *e, const pfr_event *event, uint32_t ip_at) {
    *e = (struct script_event){.event = event, .sample_type = event->attr.sample_type, .type = type_of(event)};
    e->fields = s->own->choices[e->type].fields;
    e->makes_chains = chain_is_made(e->event);
    e->stitches = s->own->options->stitched && chain_has_calls(e->event);
    e->chains = (e->fields & FIELD(F_IP)) && SAMPLE_HAS(e->sample_type, S_CHAIN) && !s->own->options->hide_call_graph;
    e->addr_is_place = has_place_in_addr(event);
    e->name_form = name_form(e->fields);
    e->chain_form = (uint8_t)(e->name_form | (s->own->options->inlined && e->name_form & NAME_SYM ? NAME_INLINED : 0));
    e->who_form = who_form(e);
    e->reads = script_has_reads(e);
    if (SAMPLE_HAS(e->sample_type, S_IP) && SAMPLE_HAS(e->sample_type, S_TID)) {
        e->ip_at = ip_at;
        e->tid_at = ip_at + PID_BEHIND_IP + sizeof(uint32_t);
    }
    list_printers(e);
}

static void keep_text(char *to, size_t room, const pfr_text *text) {
    const size_t length = text->length < room - 1 ? text->length : room - 1;
    if (length)
        memcpy(to, text->at, length);
    to[length] = '\0';
}

static void learn_machine(struct script *s) {
    struct pfr_rec_feature_arch arch;
    const pfr_feature *feature = pfr_find_feature(s->own->reader, BIT_ARCH, NULL);
    if (feature && pfr_decode_feature(s->own->reader, feature, &arch, sizeof arch, NULL) == PFR_OK)
        keep_text(s->own->arch, sizeof s->own->arch, &arch.arch);
    kernel_release_of(s->own->reader, s->own->release);
    if (s->own->options->stitched)
        s->own->branch_registers = branch_registers(s->own->reader);
}

static bool choices_differ(const struct script *s, const uint64_t before[SCRIPT_TYPES]) {
    for (unsigned t = 0; t < SCRIPT_TYPES; t++)
        if (s->own->choices[t].fields != before[t])
            return true;
    return false;
}

static pfr_status make_room(struct script *s, uint32_t count, pfr_error *err) {
    while (s->own->events_room < count) {
        struct script_event *more =
            mem_grow(s->memory, s->own->events, s->own->events_room, &s->own->events_room, 4, sizeof *s->own->events);
        if (!more)
            return mem_fail(s->memory, err, "script");
        s->own->events = more;
    }
    return PFR_OK;
}

/* The reader moves its array of events when it grows. */
static void follow_events(struct script *s) {
    if (s->own->nr_events == 0 || s->own->events[0].event == pfr_get_event(s->own->reader, 0))
        return;
    for (uint32_t i = 0; i < s->own->nr_events; i++)
        s->own->events[i].event = pfr_get_event(s->own->reader, i);
}

/* For existing events, updates only what depends on the choice of fields. */
static void describe_from(struct script *s, uint32_t from, uint32_t count) {
    for (uint32_t i = from; i < count; i++) {
        const bool is_new = i >= s->own->nr_events;
        const struct script_event old = is_new ? (struct script_event){0} : s->own->events[i];
        describe(s, &s->own->events[i], pfr_get_event(s->own->reader, i), s->own->reader->events.list[i].ip_at);
        s->own->events[i].label = old.label;
        s->own->events[i].label_length = old.label_length;
        s->own->events[i].name_length = old.name_length;
    }
}

pfr_status script_prepare(struct script *s, pfr_error *err) {
    const uint32_t count = pfr_event_count(s->own->reader), had = s->own->nr_events;
    uint64_t before[SCRIPT_TYPES];
    for (unsigned t = 0; t < SCRIPT_TYPES; t++)
        before[t] = s->own->choices[t].fields;
    learn_machine(s);
    follow_events(s);
    PFR_TRY(check_events(s, err));
    PFR_TRY(make_room(s, count, err));
    describe_from(s, choices_differ(s, before) ? 0 : had, count);
    s->own->nr_events = count;
    PFR_TRY(script_labels_make(s, had, err));
    PFR_TRY(script_switch_make(s, err));
    return script_files_make(s, err);
}

const struct script_event *script_event_of_id(const struct script *s, uint64_t id) {
    const int32_t event = pfr_event_of_id(s->shared->reader, id);
    return event < 0 || (uint32_t)event >= s->shared->nr_events ? NULL : &s->shared->events[event];
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts records by type in one pass. A table has a function for each type from which more facts are collected. The
 * events of a stream are added during the pass, so the array of events grows.
 */
#include "view/info/info_facts.h"

#include "base/memory/capped_sum.h"
#include "base/memory/fail.h"
#include "file/read/header_walk.h"

#define READ_GROUP (1u << 3)

typedef pfr_status fact_action(struct info_facts *facts, const pfr_record *rec, pfr_error *err);

void facts_init(struct info_facts *facts, pfr_reader *reader, struct memory *memory) {
    *facts = (struct info_facts){.memory = memory, .reader = reader, .first_time = UINT64_MAX};
    u64_map_init(&facts->last_values, memory);
    xray_facts_init(&facts->traced, reader, memory);
}

void facts_free(struct info_facts *facts) {
    mem_free(facts->memory, facts->events, facts->events_room, sizeof *facts->events);
    u64_map_free(&facts->last_values);
    xray_facts_free(&facts->traced);
}

static pfr_status make_room(struct info_facts *facts, uint32_t event, pfr_error *err) {
    const size_t room = (size_t)event + 1 > 2 * facts->events_room ? (size_t)event + 1 : 2 * facts->events_room;
    struct event_count *more =
        mem_resize(facts->memory, facts->events, facts->events_room, room, sizeof *facts->events);
    if (!more)
        return mem_fail(facts->memory, err, "events");
    facts->events = more;
    for (size_t i = facts->events_room; i < room; i++) {
        const pfr_event *known = i <= UINT32_MAX ? pfr_get_event(facts->reader, (uint32_t)i) : NULL;
        more[i] = (struct event_count){.reads = !known || (known->attr.sample_type & PFR_SAMPLE_READ)};
    }
    facts->events_room = room;
    return PFR_OK;
}

static pfr_status count_of(struct info_facts *facts, int32_t event, struct event_count **count, pfr_error *err) {
    if ((size_t)event >= facts->events_room)
        PFR_TRY(make_room(facts, (uint32_t)event, err));
    *count = &facts->events[event];
    return PFR_OK;
}

/* Counts a counter value in a sample as one sample of the counter's event, if the value changed. */
static pfr_status count_value(struct info_facts *facts, uint64_t id, uint64_t value, pfr_error *err) {
    const int32_t event = pfr_event_of_id(facts->reader, id);
    struct event_count *count;
    if (event == PFR_NO_EVENT)
        return PFR_OK;
    uint64_t *last = u64_map_at(&facts->last_values, id, 0, NULL);
    if (!last)
        return mem_fail(facts->memory, err, "counter values");
    const bool grew = value != *last;
    *last = value;
    PFR_TRY(count_of(facts, event, &count, err));
    count->samples += grew;
    return PFR_OK;
}

static pfr_status count_values(struct info_facts *facts, const pfr_record *rec, const pfr_event *event,
                               pfr_error *err) {
    struct pfr_rec_sample sample;
    struct pfr_rec_read_entry entry;
    if (pfr_decode(rec, &sample, sizeof sample, err) != PFR_OK)
        return PFR_OK;
    if (!(event->attr.read_format & READ_GROUP))
        return count_value(facts, sample.read.id, sample.read.value, err);
    pfr_items_iter it = pfr_items_begin(&sample.read.values);
    while (pfr_items_next(&it, &entry, sizeof entry, err) == PFR_OK)
        PFR_TRY(count_value(facts, entry.id, entry.value, err));
    return PFR_OK;
}

static void note_time(struct info_facts *facts, const pfr_record *rec, const pfr_event *event) {
    struct pfr_rec_sample sample;
    if (!(event->attr.sample_type & PFR_SAMPLE_TIME) || pfr_decode(rec, &sample, sizeof sample, NULL) != PFR_OK)
        return;
    facts->first_time = sample.time < facts->first_time ? sample.time : facts->first_time;
    facts->last_time = sample.time > facts->last_time ? sample.time : facts->last_time;
}

static pfr_status count_sample(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    struct event_count *count;
    if (rec->event == PFR_NO_EVENT)
        return PFR_OK;
    PFR_TRY(count_of(facts, rec->event, &count, err));
    const pfr_event *event = NULL;
    if (count->reads || facts->wants_times)
        event = pfr_get_event(facts->reader, (uint32_t)rec->event);
    if (event && facts->wants_times)
        note_time(facts, rec, event);
    if (event && (event->attr.sample_type & PFR_SAMPLE_READ))
        return count_values(facts, rec, event, err);
    count->samples++;
    return PFR_OK;
}

/* The id in the sample_id determines the event; a recording with a single event needs no id. */
static pfr_status count_lost_samples(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_lost_samples body;
    struct event_count *count;
    const int32_t event = rec->event == PFR_NO_EVENT ? 0 : rec->event;
    if (pfr_event_count(facts->reader) == 0 || pfr_decode(rec, &body, sizeof body, err) != PFR_OK)
        return PFR_OK;
    PFR_TRY(count_of(facts, event, &count, err));
    count->lost = capped_sum(count->lost, body.lost);
    return PFR_OK;
}

static pfr_status count_aux(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    (void)err;
    facts->aux_buffers++;
    facts->aux_bytes += rec->payload;
    return PFR_OK;
}

static pfr_status count_compressed(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    (void)err;
    facts->compressed_bytes += rec->size;
    return PFR_OK;
}

static fact_action *const fact_actions[FACT_TYPES] = {
    [PFR_RECORD_SAMPLE] = count_sample,          [PFR_RECORD_LOST_SAMPLES] = count_lost_samples,
    [PFR_RECORD_AUXTRACE] = count_aux,           [PFR_RECORD_COMPRESSED] = count_compressed,
    [PFR_RECORD_COMPRESSED2] = count_compressed,
};

static void count_other(struct info_facts *facts, uint32_t type, uint64_t count) {
    for (uint32_t i = 0; i < facts->nr_others; i++) {
        if (facts->others[i].type == type) {
            facts->others[i].count += count;
            return;
        }
    }
    if (facts->nr_others < FACT_OTHERS)
        facts->others[facts->nr_others++] = (struct type_count){type, count};
    else
        facts->untold += count;
}

/* Record types from FACT_TYPES on, which perf.data uses rarely or never. */
static pfr_status count_far_type(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    uint64_t more = 0;
    const pfr_status status = xray_facts_count(&facts->traced, rec, &more, err);
    facts->total += more;
    count_other(facts, rec->type, 1 + more);
    return status;
}

static pfr_status count_record(struct info_facts *facts, const pfr_record *rec, pfr_error *err) {
    facts->total++;
    if (rec->inside)
        facts->inner_bytes += rec->size;
    if (rec->type >= FACT_TYPES)
        return count_far_type(facts, rec, err);
    facts->by_type[rec->type]++;
    fact_action *const action = fact_actions[rec->type];
    return action ? action(facts, rec, err) : PFR_OK;
}

/* Fast path: samples of one event usually come in long runs, which are counted without decoding. */
static void count_run(struct info_facts *facts, int32_t event) {
    if (event == PFR_NO_EVENT || facts->wants_times || facts->events[event].reads)
        return;
    const uint64_t run = walk_samples(facts->reader, event, NULL);
    facts->total += run;
    facts->by_type[PFR_RECORD_SAMPLE] += run;
    facts->events[event].samples += run;
}

pfr_status facts_collect(struct info_facts *facts, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    while ((status = pfr_next(facts->reader, &rec, err)) >= 0 && status != PFR_END) {
        if (status != PFR_OK)
            continue;
        PFR_TRY(count_record(facts, &rec, err));
        if (rec.type == PFR_RECORD_SAMPLE && !rec.inside)
            count_run(facts, rec.event);
    }
    return status < 0 ? status : PFR_OK;
}

/* Index in facts->others of the smallest type above `type`; UINT32_MAX: there is no such type. */
static uint32_t next_other(const struct info_facts *facts, uint32_t type) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < facts->nr_others; i++)
        if (facts->others[i].type > type && (best == UINT32_MAX || facts->others[i].type < facts->others[best].type))
            best = i;
    return best;
}

void facts_each_type(const struct info_facts *facts, void (*use)(void *context, uint32_t type, uint64_t count),
                     void *context) {
    for (uint32_t type = 0; type < FACT_TYPES; type++)
        if (facts->by_type[type])
            use(context, type, facts->by_type[type]);
    uint32_t i = next_other(facts, 0);
    while (i != UINT32_MAX) {
        use(context, facts->others[i].type, facts->others[i].count);
        i = next_other(facts, facts->others[i].type);
    }
}

struct event_count facts_of_event(const struct info_facts *facts, uint32_t event) {
    return event < facts->events_room ? facts->events[event] : (struct event_count){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sort keys that are fields of tracepoints. A word that is not the name of another key selects one or several fields:
 *
 *     next_pid                     this field of all events that have it
 *     sched:sched_switch.next_pid  this field of one event
 *     switch.next_pid              the same, if no other event's name contains "switch"
 *     sched_switch.*               all fields of the event
 *     tracepoint_fields            all fields of all events
 *     next_pid/raw                 the recorded value instead of the event's text
 *
 * Each selected field becomes a struct report_field that the report owns.
 */
#include "view/report/fields/report_tracepoint.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"
#include "model/tracepoint/tracepoint_text.h"

#include <string.h>

/* State while one word is parsed. */
struct tracepoint_word {
    struct report *r;
    struct tracepoint_text *text;
    char name[TRACE_NAME_ROOM]; /* "": all fields */
    bool plain;
    report_add_field *add;
    void *context;
    uint32_t found;
};

/* --- cells --- */

static pfr_status put_text(struct report *r, struct intern_text text, uint32_t *id) {
    return intern_put(&r->profile->texts, text.bytes, text.length, id, NULL);
}

static uint64_t text_of_part(struct report *r, const struct cell_key *spot, uint32_t part) {
    const uint64_t whole = profile_value(r->profile, spot->group, PROFILE_TRACE);
    struct intern_text text;
    uint32_t id = NO_TEXT;
    if (!profile_tracepoint_part(r->profile, whole, part, &text))
        return NO_TEXT;
    const pfr_status st = put_text(r, text, &id);
    if (st < 0 && r->cell.out.status >= 0)
        r->cell.out.status = st; /* rows_find checks it */
    return id;
}

uint64_t identity_of_trace(struct report *r, const struct cell_key *spot) {
    if (!r->tracepoint.count)
        return profile_value(r->profile, spot->group, PROFILE_TRACE);
    return text_of_part(r, spot, 0);
}

static uint64_t identity_of_field(struct report *r, const struct cell_key *spot) {
    const struct report_tracepoint_field *f = (const void *)r->chosen.asked;
    return text_of_part(r, spot, (uint32_t)(f - r->tracepoint.asked) + 1);
}

/* Empty if the event has no such field. */
static void cell_field(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)row;
    write_text_cell(r, id, to, "");
}

/* --- parsing words --- */

static bool is_known(const struct report *r, const char *name, int32_t event, bool plain, uint32_t *at) {
    for (*at = 0; *at < r->tracepoint.count; ++*at) {
        const struct profile_tracepoint_field *f = &r->tracepoint.request[*at];
        if (strcmp(f->name, name) == 0 && f->event == event && f->plain == plain)
            return true;
    }
    return false;
}

static pfr_status add(struct tracepoint_word *w, const char *name, int32_t event, pfr_error *err) {
    struct report *r = w->r;
    uint32_t at;
    w->found++;
    if (!is_known(r, name, event, w->plain, &at)) {
        if (at == TRACE_FIELDS_ASKED)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort key", "more than %u fields of tracepoints",
                            TRACE_FIELDS_ASKED);
        struct report_tracepoint_field *f = &r->tracepoint.asked[r->tracepoint.count++];
        strcpy(f->name, name);
        f->field = (struct report_field){.name = f->name,
                                         .heading = f->name,
                                         .keys = PROFILE_BIT(PROFILE_TRACE),
                                         .right = true,
                                         .identity = identity_of_field,
                                         .collate = collate_texts,
                                         .print = cell_field};
        r->tracepoint.request[at] = (struct profile_tracepoint_field){f->name, event, w->plain};
    }
    w->add(w->context, &r->tracepoint.asked[at].field);
    return PFR_OK;
}

/* Adds a field of an event, or all of its fields except the common ones. */
static pfr_status add_of_event(struct tracepoint_word *w, uint32_t event, bool alone, pfr_error *err) {
    const uint64_t config = pfr_get_event(w->r->reader, event)->attr.config;
    const int32_t of = alone || !w->name[0] ? (int32_t)event : PFR_NO_EVENT;
    const char *name;
    bool is_common;
    for (size_t i = 0;; i++) {
        PFR_TRY(tracepoint_text_field_name(w->text, config, i, &name, &is_common, err));
        if (!name)
            return PFR_OK;
        if (strlen(name) < TRACE_NAME_ROOM && (w->name[0] ? strcmp(name, w->name) == 0 : !is_common))
            PFR_TRY(add(w, name, of, err));
    }
}

static bool is_tracepoint(const struct report *r, uint32_t event) {
    return pfr_get_event(r->reader, event)->attr.type == PFR_ATTR_TYPE_TRACEPOINT;
}

/* A name with a colon must match exactly; otherwise it must be a part of exactly one event's name. */
static int32_t find_event(const struct report *r, const char *name, size_t length) {
    int32_t found = PFR_NO_EVENT;
    const bool whole = memchr(name, ':', length) != NULL;
    for (uint32_t i = 0; i < pfr_event_count(r->reader); i++) {
        const char *known = pfr_get_event(r->reader, i)->name;
        if (whole ? strlen(known) != length || memcmp(known, name, length) != 0
                  : !memmem(known, strlen(known), name, length))
            continue;
        if (found != PFR_NO_EVENT)
            return whole ? found : PFR_NO_EVENT;
        found = (int32_t)i;
    }
    return found;
}

static pfr_status add_all(struct tracepoint_word *w, const char *event, size_t length, pfr_error *err) {
    const int32_t one = event ? find_event(w->r, event, length) : PFR_NO_EVENT;
    if (event)
        return one != PFR_NO_EVENT && is_tracepoint(w->r, (uint32_t)one) ? add_of_event(w, (uint32_t)one, true, err)
                                                                         : PFR_OK;
    for (uint32_t i = 0; i < pfr_event_count(w->r->reader); i++)
        if (is_tracepoint(w->r, i))
            PFR_TRY(add_of_event(w, i, false, err));
    return PFR_OK;
}

/* Splits "event.field/raw" into its parts; false if it cannot be the name of a field. */
static bool split_field_name(struct tracepoint_word *w, const char *word, size_t length, const char **event,
                             size_t *event_length) {
    const char *const slash = memchr(word, '/', length);
    const size_t before = slash ? (size_t)(slash - word) : length;
    const char *const dot = memchr(word, '.', before);
    const char *const name = dot ? dot + 1 : word;
    const size_t name_length = before - (size_t)(name - word);
    *event = dot ? word : NULL;
    *event_length = dot ? (size_t)(dot - word) : 0;
    w->plain = slash != NULL;
    if (!name_length || name_length >= TRACE_NAME_ROOM || (slash && (length - before != 4 || memcmp(slash, "/raw", 4))))
        return false;
    memcpy(w->name, name, name_length);
    if (strcmp(w->name, dot ? "*" : "trace_fields") == 0)
        w->name[0] = '\0';
    return true;
}

pfr_status report_tracepoint_word(struct report *r, const char *word, size_t length, report_add_field *add_field,
                                  void *context, bool *known, pfr_error *err) {
    struct tracepoint_word w = {.r = r, .add = add_field, .context = context};
    const char *event;
    size_t event_length;
    *known = false;
    if (r->mode != REPORT_SAMPLES || !split_field_name(&w, word, length, &event, &event_length))
        return PFR_OK;
    PFR_TRY(tracepoint_text_open(&w.text, r->reader, r->memory, err));
    if (!w.text)
        return PFR_OK;
    const pfr_status st = add_all(&w, event, event_length, err);
    tracepoint_text_close(w.text);
    *known = w.found > 0;
    return st;
}

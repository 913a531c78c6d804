/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the recording as a whole: its quality, and its metadata. */
#include "model/open/model_facts.h"
#include "model/open/model_tables.h"

#include "file/xray/xray_clock.h"
#include "wire/feature_bits.h"

#include <perfray/quality.h>

#include <inttypes.h>
#include <stdio.h>

struct fact_list {
    struct pfr_model *model;
    struct pfr_fact **at;
    size_t *count, *room;
};

static pfr_status put_fact(const struct fact_list *to, const char *key, const char *text, size_t length, uint64_t value,
                           pfr_error *err) {
    struct memory *memory = to->model->memory;
    pfr_fact fact = {.key = key, .value = value};
    PFR_TRY(model_text(to->model, text, length, &fact.text, err));
    void *grown = mem_grow(memory, *to->at, *to->count, to->room, 32, sizeof fact);
    if (!grown)
        return mem_fail(memory, err, "facts");
    *to->at = grown;
    (*to->at)[(*to->count)++] = fact;
    return PFR_OK;
}

static pfr_status put_number(const struct fact_list *to, const char *key, uint64_t value, pfr_error *err) {
    char text[24];
    const int length = snprintf(text, sizeof text, "%" PRIu64, value);
    return put_fact(to, key, text, (size_t)length, value, err);
}

static pfr_status put_text(const struct fact_list *to, const char *key, const char *text, pfr_error *err) {
    return put_fact(to, key, text, strlen(text), 0, err);
}

static pfr_status put_quality(const struct fact_list *to, pfr_error *err) {
    const struct profile *p = to->model->profile;
    const pfr_quality *q = pfr_get_quality(to->model->reader);
#define PUT(key, member, doc) PFR_TRY(put_number(to, key, (uint64_t)q->member, err));
    PFR_QUALITY_FIELDS(PUT)
#undef PUT
    PFR_TRY(put_number(to, "late", p ? p->facts.late : 0, err));
    PFR_TRY(put_number(to, "guests", p ? p->facts.guests : 0, err));
    PFR_TRY(put_number(to, "too_deep", p ? p->facts.too_deep : 0, err));
    PFR_TRY(put_number(to, "limited", (p ? p->facts.limited.samples : 0) + to->model->facts.limited_calls, err));
    PFR_TRY(put_number(to, "unmatched_exits", to->model->facts.unmatched_exits, err));
    PFR_TRY(put_number(to, "sampled_states", to->model->facts.sampled_states, err));
    PFR_TRY(put_number(to, "unknown_states", to->model->facts.unknown_states, err));
    return put_number(to, "lossy", to->model->lossy || (p && p->facts.lossy), err);
}

/* --- Events. */

static struct event_names names_of(const void *model, uint32_t number) {
    const pfr_model_event *const e = pfr_model_get_event(model, number + 1);
    const char *const name = e && e->name ? e->name : "";
    return (struct event_names){name, name};
}

bool model_event_is(const pfr_model *model, uint32_t id, const char *typed) {
    return event_is_meant(typed, id - 1, pfr_model_count(model, PFR_TABLE_EVENT), names_of, model);
}

/* --- Metadata. */

static const char *format_name(const pfr_reader *reader) {
    static const char *const names[] = {[PFR_PERF_DATA] = "perf.data",
                                        [PFR_XRAY_FDR] = "xray-fdr",
                                        [PFR_XRAY_BASIC] = "xray-basic",
                                        [PFR_XRAY_PROFILE] = "xray-profile"};
    return names[pfr_get_header(reader)->format];
}

/* Names of clocks by perf_event_attr.clockid; the numbers are those of linux/time.h. */
const char *model_clock_name(const pfr_reader *reader) {
    static const char *const names[] = {
        [0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw", [7] = "boottime", [11] = "tai"};
    const pfr_event *event = pfr_get_event(reader, 0);
    const struct xray_clock clock = xray_clock_of(reader);
    if (reader->trace)
        return xray_clock_name(&clock);
    if (!event || !event->attr.flags.use_clockid)
        return "perf";
    const int64_t id = (int32_t)event->attr.clockid;
    return id >= 0 && (uint64_t)id < sizeof names / sizeof *names && names[id] ? names[id] : "other";
}

/* Adds a fact from a feature that is one text. */
static pfr_status put_view(const struct fact_list *to, const char *key, const pfr_text *text, pfr_error *err) {
    return put_fact(to, key, (const char *)text->at, strnlen((const char *)text->at, text->length), 0, err);
}

/* Adds the feature that is one text. A feature that is absent or cannot be read gets no row. */
#define PUT_FEATURE(number, member)                                                                                    \
    do {                                                                                                               \
        struct pfr_rec_feature_##member body;                                                                          \
        const pfr_feature *f = pfr_find_feature(to->model->reader, number, NULL);                                      \
        if (f && f->bytes.length && pfr_decode_feature(to->model->reader, f, &body, sizeof body, NULL) == PFR_OK)      \
            PFR_TRY(put_view(to, #member, &body.member, err));                                                         \
    } while (0)

static pfr_status put_features(const struct fact_list *to, pfr_error *err) {
    PUT_FEATURE(BIT_HOSTNAME, hostname);
    PUT_FEATURE(BIT_OSRELEASE, osrelease);
    PUT_FEATURE(BIT_VERSION, version);
    PUT_FEATURE(BIT_ARCH, arch);
    PUT_FEATURE(BIT_CPUDESC, cpudesc);
    return PFR_OK;
}

/* The words of the recorder's command line, separated by blanks. */
static pfr_status put_command(const struct fact_list *to, pfr_error *err) {
    struct pfr_rec_feature_cmdline body;
    struct pfr_rec_string word;
    struct output text;
    size_t length;
    const pfr_feature *f = pfr_find_feature(to->model->reader, BIT_CMDLINE, NULL);
    if (!f || !f->bytes.length || pfr_decode_feature(to->model->reader, f, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    out_open_memory(&text, to->model->memory);
    pfr_items_iter it = pfr_items_begin(&body.words);
    for (bool first = true; pfr_items_next(&it, &word, sizeof word, NULL) == PFR_OK; first = false) {
        if (!first)
            out_char(&text, ' ');
        out_write(&text, word.text.at, strnlen((const char *)word.text.at, word.text.length));
    }
    const char *bytes = out_bytes(&text, &length);
    const pfr_status st = text.status < 0 ? mem_fail(to->model->memory, err, "facts")
                                          : put_fact(to, "cmdline", bytes ? bytes : "", length, 0, err);
    out_close(&text, NULL);
    return st;
}

/* The first and last time over the samples of all events. */
static pfr_status put_times(const struct fact_list *to, pfr_error *err) {
    uint64_t first = PFR_NO_TIME, last = 0;
    for (uint32_t id = 1; id <= to->model->events.count; id++) {
        const pfr_model_event *event = pfr_model_get_event(to->model, id);
        if (event->first == PFR_NO_TIME)
            continue;
        first = event->first < first ? event->first : first;
        last = event->last > last ? event->last : last;
    }
    if (first == PFR_NO_TIME)
        return PFR_OK;
    PFR_TRY(put_number(to, "first", first, err));
    return put_number(to, "last", last, err);
}

pfr_status model_make_facts(struct pfr_model *m, pfr_error *err) {
    static const char *const containers[] = {[PFR_FILE] = "file", [PFR_PIPE] = "stream", [PFR_DIRECTORY] = "directory"};
    const struct fact_list facts = {m, &m->facts.list, &m->facts.count, &m->facts.room};
    const struct fact_list meta = {m, &m->facts.meta, &m->facts.nr_meta, &m->facts.meta_room};
    const pfr_header *header = pfr_get_header(m->reader);
    PFR_TRY(put_quality(&facts, err));
    PFR_TRY(put_text(&meta, "format", format_name(m->reader), err));
    PFR_TRY(put_text(&meta, "container", containers[header->container], err));
    PFR_TRY(put_text(&meta, "byte_order", header->big_endian ? "big" : "little", err));
    PFR_TRY(put_text(&meta, "clock", model_clock_name(m->reader), err));
    PFR_TRY(put_times(&meta, err));
    PFR_TRY(put_features(&meta, err));
    return put_command(&meta, err);
}

const pfr_fact *pfr_model_fact(const pfr_model *m, uint32_t index) {
    return index < m->facts.count ? &m->facts.list[index] : NULL;
}

const pfr_fact *pfr_model_meta(const pfr_model *m, uint32_t index) {
    return index < m->facts.nr_meta ? &m->facts.meta[index] : NULL;
}

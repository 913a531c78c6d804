/* SPDX-License-Identifier: Apache-2.0 */
/* Writes facts about the whole recording into a pprof: value types, time, machine and command line. */
#include "export/pprof.h"

#include "base/memory/fail.h"
#include "file/read/features.h"
#include "query/ranges.h"
#include "wire/feature_bits.h"

enum { TYPE_SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 };

static const char *unit_of(const struct exporting *e, const pfr_event *event) {
    const bool is_clock = event->attr.type == TYPE_SOFTWARE && event->attr.config <= TASK_CLOCK;
    if (profile_measure(e->reader)->is_amount && strcmp(event->unit, "ns") != 0)
        return event->unit;
    return is_clock ? "nanoseconds" : "count";
}

static pfr_status write_type(struct exporting *e, unsigned field, const char *name, const char *unit, uint32_t *number,
                             pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t unit_number;
    PFR_TRY(pprof_string(e, name, strlen(name), number, err));
    PFR_TRY(pprof_string(e, unit, strlen(unit), &unit_number, err));
    proto_u64(&p->part, VALUE_TYPE, *number);
    proto_u64(&p->part, VALUE_UNIT, unit_number);
    proto_message(p->out, field, &p->part);
    return PFR_OK;
}

static pfr_status write_event(struct exporting *e, uint32_t i, uint32_t *number, pfr_error *err) {
    struct pprof *p = e->state;
    const pfr_event *event = profile_event(e->reader, i);
    p->value_of[i] = ++p->nr_values;
    p->newest_event = i;
    return write_type(e, PPROF_SAMPLE_TYPE, event->name, unit_of(e, event), number, err);
}

/* Writes the events that have samples; if no event has samples, the first one. */
static pfr_status write_types(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t number = 0;
    PFR_TRY(write_type(e, PPROF_SAMPLE_TYPE, profile_measure(e->reader)->counted, "count", &number, err));
    for (uint32_t i = 0; i < p->nr_events; i++)
        if (e->profile->totals[i].samples)
            PFR_TRY(write_event(e, i, &number, err));
    if (p->nr_values == 0 && p->nr_events)
        PFR_TRY(write_event(e, 0, &number, err));
    proto_u64(p->out, PPROF_DEFAULT_SAMPLE_TYPE, number);
    return PFR_OK;
}

/* Writes the period of the event whose values are shown by default, if it has a period. */
static pfr_status write_period(struct exporting *e, pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t number;
    if (p->nr_values == 0)
        return PFR_OK;
    const pfr_event *event = profile_event(e->reader, p->newest_event);
    PFR_TRY(write_type(e, PPROF_PERIOD_TYPE, event->name, unit_of(e, event), &number, err));
    if (!event->attr.flags.freq)
        proto_u64(p->out, PPROF_PERIOD, event->attr.sample_period);
    return PFR_OK;
}

static bool find(struct exporting *e, uint32_t bit, void *body, size_t size) {
    const pfr_feature *feature = pfr_find_feature(e->reader, bit, NULL);
    return feature && pfr_decode_feature(e->reader, feature, body, size, NULL) == PFR_OK;
}

static void write_moment(struct exporting *e) {
    struct pprof *p = e->state;
    struct times_known known = {0};
    times_learn(e->reader, &known);
    if (!known.bounded)
        return;
    if (known.walled)
        proto_u64(p->out, PPROF_TIME_NANOS, known.first + known.ahead);
    proto_u64(p->out, PPROF_DURATION_NANOS, known.last - known.first);
}

static pfr_status write_comment(struct exporting *e, const char *bytes, size_t length, pfr_error *err) {
    struct pprof *p = e->state;
    uint32_t number;
    PFR_TRY(pprof_string(e, bytes, length, &number, err));
    proto_u64(p->out, PPROF_COMMENT, number);
    return PFR_OK;
}

static pfr_status write_text(struct exporting *e, const char *what, const pfr_text *text, pfr_error *err) {
    struct output line;
    size_t length;
    out_open_memory(&line, e->memory);
    out_text(&line, what);
    out_write(&line, text->at, text->length);
    const char *bytes = out_bytes(&line, &length);
    const pfr_status st = line.status < 0 ? mem_fail(e->memory, err, "export") : write_comment(e, bytes, length, err);
    out_close(&line, NULL);
    return st;
}

static pfr_status write_command(struct exporting *e, const pfr_items *words, pfr_error *err) {
    struct pfr_rec_string word;
    struct output line;
    size_t length;
    out_open_memory(&line, e->memory);
    out_text(&line, "command:");
    for (pfr_items_iter it = pfr_items_begin(words); pfr_items_next(&it, &word, sizeof word, NULL) == PFR_OK;) {
        out_char(&line, ' ');
        out_write(&line, word.text.at, word.text.length);
    }
    const char *bytes = out_bytes(&line, &length);
    const pfr_status st = line.status < 0 ? mem_fail(e->memory, err, "export") : write_comment(e, bytes, length, err);
    out_close(&line, NULL);
    return st;
}

static pfr_status write_comments(struct exporting *e, pfr_error *err) {
    struct pfr_rec_feature_cmdline command;
    struct pfr_rec_feature_hostname host;
    struct pfr_rec_feature_osrelease release;
    if (find(e, BIT_CMDLINE, &command, sizeof command))
        PFR_TRY(write_command(e, &command.words, err));
    if (find(e, BIT_HOSTNAME, &host, sizeof host))
        PFR_TRY(write_text(e, "host: ", &host.hostname, err));
    if (find(e, BIT_OSRELEASE, &release, sizeof release))
        PFR_TRY(write_text(e, "kernel: ", &release.osrelease, err));
    return PFR_OK;
}

pfr_status pprof_write_facts(struct exporting *e, pfr_error *err) {
    PFR_TRY(write_types(e, err));
    PFR_TRY(write_period(e, err));
    write_moment(e);
    PFR_TRY(write_comments(e, err));
    return features_unread(e->reader, err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are printed, in perf's words:
 *
 *     cpus   0,2-3                 pids, tids   12,13          comms   sh,make
 *     time   12.5,13  12.5,  ,13   seconds, several with blanks between
 *            10%-20%,40%-50%       of the time from the first to the last sample, which the recording must say
 *            10%/2,10%/4           the second and the fourth tenth
 */
#include "view/script_parts.h"

#include "base/fail.h"
#include "base/text.h"

#define FEATURE_SAMPLE_TIME 21u

static pfr_status refuse(pfr_error *err, const char *option, const char *text) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter", "--%s does not take '%.60s'", option, text);
}

static pfr_status add_range(struct script *s, struct script_ranges *list, uint64_t first, uint64_t last,
                            pfr_error *err) {
    if (list->count == list->room) {
        void *more = mem_grow(s->memory, list->at, list->count, &list->room, 8, sizeof *list->at);
        if (!more)
            return mem_fail(s->memory, err, "filter");
        list->at = more;
    }
    list->at[list->count++] = (struct script_range){first, last};
    return PFR_OK;
}

/* "0,2-3" */
static pfr_status read_numbers(struct script *s, struct script_ranges *list, const char *option, const char *text,
                               pfr_error *err) {
    uint64_t first, last;
    list->any = !text;
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        const size_t length = strcspn(at, ","), dash = strcspn(at, "-,");
        if (!parse_u64_part(at, dash, &first))
            return refuse(err, option, text);
        last = first;
        if (dash < length && !parse_u64_part(at + dash + 1, length - dash - 1, &last))
            return refuse(err, option, text);
        PFR_TRY(add_range(s, list, first, last, err));
        at += length;
    }
    return PFR_OK;
}

/* One end of a stretch of time; an end that is left out stays as it is. */
static bool read_end(const char *at, size_t length, uint64_t *time) {
    char text[40];
    if (length == 0)
        return true;
    if (length >= sizeof text)
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    return parse_seconds(text, time);
}

static pfr_status read_seconds(struct script *s, const char *text, pfr_error *err) {
    for (const char *at = text; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " "), comma = strcspn(at, ",- ");
        uint64_t first = 0, last = UINT64_MAX;
        if (comma == length || !read_end(at, comma, &first) || !read_end(at + comma + 1, length - comma - 1, &last))
            return refuse(err, "time", text);
        PFR_TRY(add_range(s, &s->filter.times, first, last, err));
        at += length;
    }
    return PFR_OK;
}

/* A number with or without a fraction, and the sign behind it: how many millionths of the whole. */
static bool take_percent(const char **at, uint64_t *millionths) {
    const size_t length = strcspn(*at, "%");
    uint64_t nanoseconds = 0;
    if (!(*at)[length] || length == 0 || !read_end(*at, length, &nanoseconds) || nanoseconds > 100000000000u)
        return false;
    *at += length + 1;
    *millionths = nanoseconds / 100000;
    return true;
}

static uint64_t part_of(const struct pfr_rec_feature_sample_time *whole, uint64_t millionths) {
    return whole->first + (uint64_t)((double)(whole->last - whole->first) * (double)millionths / 1e6);
}

/* "10%-20%" or "10%/2" */
static bool take_part(const char **at, uint64_t *first, uint64_t *last) {
    uint64_t number;
    if (!take_percent(at, first))
        return false;
    if (**at == '-') {
        ++*at;
        return take_percent(at, last) && *last > *first;
    }
    if (**at != '/')
        return false;
    const size_t length = strcspn(++*at, ",");
    if (!parse_u64_part(*at, length, &number) || number == 0 || number > 1000000 || *first * number > 1000000)
        return false;
    *at += length;
    *last = *first * number;
    *first = *first * (number - 1);
    return true;
}

static pfr_status read_parts(struct script *s, const char *text, pfr_error *err) {
    struct pfr_rec_feature_sample_time whole;
    uint64_t first, last;
    const pfr_feature *f = pfr_find_feature(s->reader, FEATURE_SAMPLE_TIME, NULL);
    if (!f || pfr_decode_feature(s->reader, f, &whole, sizeof whole, NULL) != PFR_OK || whole.last <= whole.first)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                        "--time in percent: the recording does not say when its samples begin and end");
    for (const char *at = text; *at; at += *at == ',') {
        if (!take_part(&at, &first, &last) || (*at && *at != ','))
            return refuse(err, "time", text);
        PFR_TRY(add_range(s, &s->filter.times, part_of(&whole, first), part_of(&whole, last), err));
    }
    return PFR_OK;
}

pfr_status script_filter_make(struct script *s, pfr_error *err) {
    struct script_filter *f = &s->filter;
    const pfr_script_options *o = s->options;
    PFR_TRY(read_numbers(s, &f->cpus, "cpu", o->cpus, err));
    PFR_TRY(read_numbers(s, &f->pids, "pid", o->pids, err));
    PFR_TRY(read_numbers(s, &f->tids, "tid", o->tids, err));
    f->times.any = !o->time;
    if (!o->time)
        return PFR_OK;
    return strchr(o->time, '%') ? read_parts(s, o->time, err) : read_seconds(s, o->time, err);
}

void script_filter_free(struct script *s) {
    struct script_ranges *const lists[] = {&s->filter.cpus, &s->filter.pids, &s->filter.tids, &s->filter.times};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mem_free(s->memory, lists[i]->at, lists[i]->room, sizeof *lists[i]->at);
}

static bool has(const struct script_ranges *list, uint64_t value) {
    for (size_t i = 0; i < list->count; i++)
        if (value >= list->at[i].first && value <= list->at[i].last)
            return true;
    return list->any;
}

static bool is_listed(const char *list, const char *name, size_t length) {
    for (const char *at = list; *at; at += *at == ',') {
        const size_t own = strcspn(at, ",");
        if (own == length && memcmp(at, name, length) == 0)
            return true;
        at += own;
    }
    return false;
}

bool script_wants(const struct script *s, const struct moment *m) {
    const struct script_filter *f = &s->filter;
    const char *comms = s->options->comms;
    return has(&f->cpus, m->cpu) && has(&f->pids, m->pid) && has(&f->tids, m->tid) && has(&f->times, m->time) &&
           (!comms || is_listed(comms, m->thread->comm, m->thread->comm_length));
}

bool script_wants_cpu(const struct script *s, const struct moment *m) {
    return has(&s->filter.cpus, m->cpu);
}

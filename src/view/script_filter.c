/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are printed, in perf's words:
 *
 *     cpus  0,2-3    pids, tids  12,13    comms  sh,make    time  see script_times.h
 *     symbols  main,0x401136    objects  libc.so.6,/usr/bin/sh
 *
 * Symbols and objects are those of the sampled address, not of its chain. An address among the symbols is the sampled
 * one itself; with a length the stretch that begins there.
 */
#include "view/script_parts.h"

#include "base/fail.h"
#include "base/text.h"

#define FEATURE_SAMPLE_TIME 21u
#define CPUMODE 7u

static pfr_status refuse(pfr_error *err, const char *option, const char *text) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter", "--%s does not take '%.60s'", option, text);
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
        PFR_TRY(script_ranges_add(s->memory, list, first, last, err));
        at += length;
    }
    return PFR_OK;
}

static void learn_bounds(struct script *s, struct times_known *known) {
    struct pfr_rec_feature_sample_time whole;
    const pfr_feature *f = pfr_find_feature(s->reader, FEATURE_SAMPLE_TIME, NULL);
    if (!f || pfr_decode_feature(s->reader, f, &whole, sizeof whole, NULL) != PFR_OK || whole.last <= whole.first)
        return;
    known->bounded = true;
    known->first = whole.first;
    known->last = whole.last;
}

static pfr_status read_times(struct script *s, const char *text, pfr_error *err) {
    struct script_filter *f = &s->filter;
    struct times_known known = {0};
    f->times.any = !text;
    if (!text)
        return PFR_OK;
    learn_bounds(s, &known);
    known.walled = script_learn_wall(s);
    known.ahead = s->wall.ahead;
    known.day = s->wall.moment;
    PFR_TRY(script_times_read(s->memory, text, &known, &f->times, &f->waits_for_start, err));
    if (f->waits_for_start && known.bounded) {
        f->start = known.first;
        f->waits_for_start = false;
    }
    return PFR_OK;
}

/* Words that are hexadecimal numbers, with 0x or without, are addresses, each with what follows it. */
static pfr_status read_addresses(struct script *s, const char *text, pfr_error *err) {
    const uint64_t beyond = s->options->address_range ? s->options->address_range - 1 : 0;
    uint64_t first, last;
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        const size_t length = strcspn(at, ","), prefix = strncmp(at, "0x", 2) == 0 ? 2 : 0;
        if (length > prefix && parse_hex_part(at + prefix, length - prefix, &first)) {
            if (__builtin_add_overflow(first, beyond, &last))
                last = UINT64_MAX;
            PFR_TRY(script_ranges_add(s->memory, &s->filter.addresses, first, last, err));
        }
        at += length;
    }
    return PFR_OK;
}

pfr_status script_filter_make(struct script *s, pfr_error *err) {
    struct script_filter *f = &s->filter;
    const pfr_script_options *o = s->options;
    PFR_TRY(read_numbers(s, &f->cpus, "cpu", o->cpus, err));
    PFR_TRY(read_numbers(s, &f->pids, "pid", o->pids, err));
    PFR_TRY(read_numbers(s, &f->tids, "tid", o->tids, err));
    PFR_TRY(read_addresses(s, o->symbols, err));
    PFR_TRY(read_times(s, o->time, err));
    f->any = f->cpus.any && f->pids.any && f->tids.any && f->times.any && !o->comms && !o->symbols && !o->objects;
    return PFR_OK;
}

void script_filter_free(struct script *s) {
    struct script_filter *f = &s->filter;
    struct script_ranges *const lists[] = {&f->cpus, &f->pids, &f->tids, &f->times, &f->addresses};
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

/* An object goes by its path and by its last part. */
static bool is_listed_object(const struct script *s, const char *list, uint32_t object) {
    if (object == NO_OBJECT)
        return false;
    const struct object *o = &s->state->objects.at[object];
    const struct intern_text path = intern_get(&s->state->names, o->path),
                             part = intern_get(&s->state->names, o->short_name);
    return is_listed(list, (const char *)path.bytes, path.length) ||
           is_listed(list, (const char *)part.bytes, part.length);
}

static bool is_listed_symbol(struct script *s, const struct place *place, uint64_t address) {
    struct address_name name;
    if (s->filter.addresses.count && has(&s->filter.addresses, address))
        return true;
    script_name_at(s, place, address, &name);
    return name.text && is_listed(s->options->symbols, name.text, name.length);
}

static bool is_wanted_place(struct script *s, const struct moment *m) {
    const pfr_script_options *o = s->options;
    const uint64_t address = m->sample->ip;
    struct place place;
    if (!o->symbols && !o->objects)
        return true;
    script_place(s, m, m->rec->misc & CPUMODE, address, &place);
    return (!o->objects || is_listed_object(s, o->objects, place.ksymbol ? place.ksymbol->object : place.object)) &&
           (!o->symbols || is_listed_symbol(s, &place, address));
}

bool script_stops_at(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address) {
    struct place place;
    struct address_name name;
    script_place(s, m, cpumode, address, &place);
    script_name_at(s, &place, address, &name);
    return name.text && is_listed(s->options->stop_at, name.text, name.length);
}

/* Where the recording does not say when it began, its first sample does. */
static bool is_wanted_time(struct script *s, uint64_t time) {
    struct script_filter *f = &s->filter;
    if (f->waits_for_start) {
        f->waits_for_start = false;
        f->start = time;
    }
    return has(&f->times, time - f->start);
}

bool script_passes(struct script *s, const struct moment *m) {
    const struct script_filter *f = &s->filter;
    const char *comms = s->options->comms;
    return is_wanted_time(s, m->time) && has(&f->cpus, m->cpu) && has(&f->pids, m->pid) && has(&f->tids, m->tid) &&
           (!comms || is_listed(comms, m->thread->comm, m->thread->comm_length)) && is_wanted_place(s, m);
}

bool script_wants_cpu(const struct script *s, const struct moment *m) {
    return has(&s->filter.cpus, m->cpu);
}

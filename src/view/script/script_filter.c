/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are printed, in perf's words:
 *
 *     cpus  0,2-3    pids, tids  12,13    comms  sh,make    time  see ranges.h
 *     symbols  main,0x401136    objects  libc.so.6,/usr/bin/sh
 *
 * Symbols and objects are those of the sampled address, not of its chain. An address among the symbols is the sampled
 * one itself; with a length the stretch that begins there.
 */
#include "view/script/script_parts.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

static pfr_status read_times(struct script *s, const char *text, pfr_error *err) {
    struct script_filter *f = &s->filter;
    struct times_known known = {0};
    f->times.any = !text;
    if (!text)
        return PFR_OK;
    script_times_learn(s->reader, &known);
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
    PFR_TRY(script_ranges_read(s->memory, &f->cpus, "cpu", o->cpus, err));
    PFR_TRY(script_ranges_read(s->memory, &f->pids, "pid", o->pids, err));
    PFR_TRY(script_ranges_read(s->memory, &f->tids, "tid", o->tids, err));
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
    if (s->filter.addresses.count && script_ranges_have(&s->filter.addresses, address))
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
    script_place(s, m, m->rec->misc & PFR_CPUMODE_MASK, address, &place);
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
    return script_ranges_have(&f->times, time - f->start);
}

bool script_passes(struct script *s, const struct moment *m) {
    const struct script_filter *f = &s->filter;
    const char *comms = s->options->comms;
    return is_wanted_time(s, m->time) && script_ranges_have(&f->cpus, m->cpu) && script_ranges_have(&f->pids, m->pid) &&
           script_ranges_have(&f->tids, m->tid) &&
           (!comms || is_listed(comms, m->thread->comm, m->thread->comm_length)) && is_wanted_place(s, m);
}

bool script_wants_cpu(const struct script *s, const struct moment *m) {
    return script_ranges_have(&s->filter.cpus, m->cpu);
}

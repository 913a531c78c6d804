/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the samples to print; the options have perf's syntax: see query/sample_filter.h.
 *
 * Symbols and objects are those of the sampled address, not of its callchain. The list of symbols may contain addresses
 * (main,0x401136). An address selects samples at this address, or with --addr-range samples in the range that begins
 * there.
 */
#include "view/script/script_filter.h"
#include "view/script/script_frames.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

/* Hexadecimal numbers in the list, with or without 0x, are addresses; each selects the range that begins there. */
static pfr_status read_addresses(struct script *s, const char *text, pfr_error *err) {
    const uint64_t beyond = s->shared->options->address_range ? s->shared->options->address_range - 1 : 0;
    uint64_t first, last;
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        const size_t length = strcspn(at, ","), prefix = strncmp(at, "0x", 2) == 0 ? 2 : 0;
        if (length > prefix && parse_hex_part(at + prefix, length - prefix, &first)) {
            if (__builtin_add_overflow(first, beyond, &last))
                last = UINT64_MAX;
            PFR_TRY(ranges_add(s->memory, &s->own->filter.addresses, first, last, err));
        }
        at += length;
    }
    return PFR_OK;
}

pfr_status script_filter_make(struct script *s, pfr_error *err) {
    const pfr_script_options *o = s->shared->options;
    const struct sample_lists lists = {.cpus = o->cpus,
                                       .pids = o->pids,
                                       .tids = o->tids,
                                       .comms = o->comms,
                                       .objects = o->objects,
                                       .symbols = o->symbols};
    struct sample_filter *f = &s->own->filter.samples;
    struct times_known known = {0};
    PFR_TRY(sample_filter_read(f, s->memory, &lists, err));
    PFR_TRY(read_addresses(s, o->symbols, err));
    if (o->time)
        times_learn(s->shared->reader, &known);
    PFR_TRY(sample_filter_read_time(f, o->time, &known, err));
    s->own->filter.any = !sample_filter_has_numbers(f) && !sample_filter_has_names(f);
    return PFR_OK;
}

void script_filter_free(struct script *s) {
    sample_filter_free(&s->own->filter.samples);
    mem_free(s->memory, s->own->filter.addresses.at, s->own->filter.addresses.room,
             sizeof *s->own->filter.addresses.at);
}

static bool is_listed_object(const struct script *s, uint32_t object) {
    if (object == NO_OBJECT)
        return false;
    const struct object *o = &s->shared->state->objects.at[object];
    const struct intern_text path = intern_get(&s->shared->state->names, o->path),
                             part = intern_get(&s->shared->state->names, o->short_name);
    return sample_filter_wants_object(&s->shared->filter.samples, &path, &part);
}

static bool is_listed_symbol(struct script *s, const struct place *place, uint64_t address) {
    struct address_name name;
    if (s->shared->filter.addresses.count && ranges_have(&s->shared->filter.addresses, address))
        return true;
    script_name_at(s, place, address, &name);
    return sample_filter_wants_symbol(&s->shared->filter.samples, name.text, name.length);
}

static bool is_wanted_place(struct script *s, const struct moment *m) {
    const pfr_script_options *o = s->shared->options;
    const uint64_t address = m->sample->ip;
    struct place place;
    if (!o->symbols && !o->objects)
        return true;
    script_place(s, m, m->rec->misc & PFR_CPUMODE_MASK, address, &place);
    return (!o->objects || is_listed_object(s, place.ksymbol ? place.ksymbol->object : place.object)) &&
           (!o->symbols || is_listed_symbol(s, &place, address));
}

bool script_stops_at(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address) {
    struct place place;
    struct address_name name;
    script_place(s, m, cpumode, address, &place);
    script_name_at(s, &place, address, &name);
    return name.text && list_has(s->shared->options->stop_at, name.text, name.length);
}

bool script_passes(struct script *s, const struct moment *m) {
    const struct sample_filter *f = &s->shared->filter.samples;
    const struct sample_facts facts = {
        .time = m->time, .cpu = m->cpu, .pid = m->pid, .tid = m->tid, .known = SAMPLE_ALL};
    if (f->waits_for_start) { /* times are relative to this first sample; a single thread prints (depends_on_order) */
        s->own->filter.samples.waits_for_start = false;
        s->own->filter.samples.start = m->time;
    }
    return sample_filter_passes(f, &facts) && sample_filter_wants_comm(f, m->thread->comm, m->thread->comm_length) &&
           is_wanted_place(s, m);
}

bool script_wants_cpu(const struct script *s, const struct moment *m) {
    return ranges_have(&s->shared->filter.samples.cpus, m->cpu);
}

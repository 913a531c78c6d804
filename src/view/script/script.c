/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of the script: passes every record of the timeline to the function for its type. script_parts.h lists the
 * files.
 */
#include "view/script/script_loop.h"
#include "view/script/script_address_cache.h"
#include "view/script/script_chains.h"
#include "view/script/script_dump.h"
#include "view/script/script_events.h"
#include "view/script/script_fields.h"
#include "view/script/script_files.h"
#include "view/script/script_filter.h"
#include "view/script/script_frames.h"
#include "view/script/script_hole.h"
#include "view/script/script_jobs.h"
#include "view/script/script_json.h"
#include "view/script/script_lines.h"
#include "view/script/script_out_of_order.h"
#include "view/script/script_quality.h"
#include "view/script/script_reads.h"
#include "view/script/script_switch.h"
#include "view/script/script_threads.h"
#include "view/stat/script_stat.h"
#include "view/xray/xray_script.h"

#include "file/read/decode_sample.h"
#include "file/read/features.h"
#include "base/memory/sizes.h"

#define STACK_MOST 127u
#define AT_ONCE SIZE_MOST_script_records /* records fetched per call */
#define AHEAD 5u                         /* prefetch distance within these records */

/* Whether the event prints nothing: -F can leave a kind of event without fields. */
static bool is_silent(const struct script_event *e) {
    return e->fields == 0 || e->fields == FIELD(F_FLAGS);
}

static void print_fields(struct script *s, const struct moment *m) {
    if (script_is_json(s)) {
        script_json_sample(s, m);
        return;
    }
    for (script_printer *const *print = m->event->begin; *print; print++)
        (*print)(s, m);
    for (script_printer *const *print = m->event->rest; *print; print++)
        (*print)(s, m);
    out_char(s->out, '\n');
}

void script_print_sample(struct script *s, const struct moment *m) {
    pfr_output *before;
    if (is_silent(m->event))
        return;
    if (!s->sequence.files) {
        print_fields(s, m);
        return;
    }
    struct script_file *file = script_file_begin(s, m->event, &before);
    print_fields(s, m);
    script_file_end(s, file, before);
}

void script_deliver(struct script *s, const struct moment *m) {
    if (s->shared->options->dump)
        script_dump_sample(s, m);
    if (script_wants(s, m) && script_is_on(s, m))
        script_print_sample(s, m);
}

/* Prints one sample, or one line per counter that the sample read. */
static void print_sample_lines(struct script *s, struct moment *m) {
    if (m->event->makes_chains && m->event->chains)
        script_make_chain(s, m);
    if (m->event->reads)
        script_reads(s, m);
    else
        script_deliver(s, m);
}

static bool is_guest(const pfr_record *rec) {
    const unsigned mode = rec->misc & PFR_CPUMODE_MASK;
    return mode > PFR_CPUMODE_HYPERVISOR && mode <= PFR_CPUMODE_GUEST_USER;
}

/* Counts a sample of a guest whose files are unknown, without printing it. */
static void leave_out_guest(struct script *s, const struct moment *m) {
    s->guests++;
    if (s->shared->options->dump)
        script_dump_left_out(s, m);
}

/* Addresses of a guest's user space belong to files in the guest, which this machine does not have, so they get no
 * names. */
static void take_guest(struct script *s, struct moment *m) {
    pfr_record here = *m->rec;
    if ((here.misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_GUEST_USER)
        here.misc = (uint16_t)((here.misc & ~PFR_CPUMODE_MASK) | PFR_CPUMODE_USER);
    m->rec = &here;
    s->current.unnamed = true;
    print_sample_lines(s, m);
    s->current.unnamed = false;
}

/* Assigns each member: zeroing the struct first would double the cost. */
static void fill_moment(const struct script *s, const pfr_record *rec, const struct record_key *key, struct moment *m) {
    const struct pfr_rec_sample *const sample = &s->current.sample;
    const struct script_event *const event = &s->shared->events[rec->event];
    const uint64_t type = event->sample_type;
    m->rec = rec;
    m->sample = sample;
    m->event = event;
    m->thread = NULL;
    m->key = *key;
    m->pid = SAMPLE_HAS(type, S_TID) ? sample->pid : NOBODY;
    m->tid = SAMPLE_HAS(type, S_TID) ? sample->tid : NOBODY;
    m->cpu = SAMPLE_HAS(type, S_CPU) ? sample->cpu : UINT32_MAX;
    m->time = SAMPLE_HAS(type, S_TIME) ? sample->time : UINT64_MAX;
    m->period = SAMPLE_HAS(type, S_PERIOD) ? sample->period : event->event->attr.sample_period;
    m->misc = rec->misc;
    m->guest =
        s->shared->state->guests.any
            ? guests_of_id(&s->shared->state->guests, SAMPLE_HAS(type, S_IDENTIFIER) ? sample->identifier : sample->id)
            : (struct guest){0};
}

static void take_sample(struct script *s, const pfr_record *rec, const struct record_key *key) {
    pfr_error err;
    struct moment m;
    if (rec->event < 0 || (uint32_t)rec->event >= s->shared->nr_events)
        return;
    if (decode_sample(rec, &s->current.sample, &s->current.sample_of, &err) != PFR_OK) {
        script_report_hole(s, &err);
        return;
    }
    fill_moment(s, rec, key, &m);
    if (!is_guest(rec)) {
        m.thread = script_thread(s, m.pid, m.tid, &m.key);
        if (m.thread)
            print_sample_lines(s, &m);
        return;
    }
    m.thread = script_thread_of(s, rec, m.guest, m.pid, m.tid, &m.key);
    if (m.thread && s->shared->state->guests.any)
        take_guest(s, &m);
    else if (m.thread)
        leave_out_guest(s, &m);
}

/* Invalidates cached names and addresses when mappings or names change. The kernel's mappings change rarely. */
static void take_state(struct script *s, const pfr_record *rec, const struct record_key *key) {
    (void)key;
    s->caches.epoch++;
    if (s->shared->learns)
        chain_maker_forget(&s->current.maker);
    s->caches.kernel_epoch += (rec->misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_KERNEL;
}

static void take_ksymbol(struct script *s, const pfr_record *rec, const struct record_key *key) {
    (void)rec, (void)key;
    s->caches.kernel_epoch++;
}

/* Events were added or renamed; the list is rebuilt before the next line. */
static void take_event(struct script *s, const pfr_record *rec, const struct record_key *key) {
    (void)rec, (void)key;
    s->sequence.stale = true;
}

/* Updates the counts of `perf stat record`; script_stat.c prints their table at each STAT_ROUND. */
static void take_count(struct script *s, const pfr_record *rec, const struct record_key *key) {
    pfr_error why;
    (void)key;
    const pfr_status st = script_stat_take(s->sequence.stat, rec, s->to, &why);
    if (st == PFR_HOLE)
        script_report_hole(s, &why);
    else if (st < 0) {
        if (s->err)
            *s->err = why;
        script_fail(s, st);
    }
}

static void take_update(struct script *s, const pfr_record *rec, const struct record_key *key) {
    take_event(s, rec, key);
    take_count(s, rec, key);
}

static script_taker *const takers[] = {
    [PFR_RECORD_MMAP] = take_state,          [PFR_RECORD_COMM] = take_state,       [PFR_RECORD_FORK] = take_state,
    [PFR_RECORD_SAMPLE] = take_sample,       [PFR_RECORD_MMAP2] = take_state,      [PFR_RECORD_KSYMBOL] = take_ksymbol,
    [PFR_RECORD_ATTR] = take_event,          [PFR_RECORD_THREAD_MAP] = take_count, [PFR_RECORD_CPU_MAP] = take_count,
    [PFR_RECORD_STAT_CONFIG] = take_count,   [PFR_RECORD_STAT] = take_count,       [PFR_RECORD_STAT_ROUND] = take_count,
    [PFR_RECORD_EVENT_UPDATE] = take_update, [PFR_RECORD_FEATURE] = take_event,
};

static inline script_taker *taker_of(uint32_t type) {
    return type < sizeof takers / sizeof *takers ? takers[type] : NULL;
}

bool script_is_of_use(const struct script *s, uint32_t type) {
    return taker_of(type) || script_line_wanted(s, type);
}

/* Caches are valid while records arrive in order of time. A late record needs the state at its own timestamp, so the
 * caches are invalidated for it and for the next record. The same holds for samples without a time, which see the final
 * state. Records that the recorder itself wrote (type >= 64) come in file order and do not use the state. */
static void mind_order(struct script *s, const pfr_record *rec, const struct record_key *key) {
    if (s->caches.disorder.is_on) {
        script_disorder_turn(s, key);
        return;
    }
    if (script_is_own(rec))
        return;
    const bool late = key_before(key, &s->caches.newest) || key->time == KEY_TIME_AFTER_ALL;
    if (late || s->caches.was_late)
        s->caches.epoch++, s->caches.kernel_epoch++, s->caches.order_epoch++;
    s->caches.was_late = late;
    if (!late)
        s->caches.newest = *key;
}

void script_pass(struct script *s, const pfr_record *rec, const struct record_key *key) {
    mind_order(s, rec, key);
    if (rec->type != PFR_RECORD_SAMPLE && taker_of(rec->type))
        takers[rec->type](s, rec, key);
    s->caches.epoch += script_line_wanted(s, rec->type); /* script_line does the same: see find_thread */
}

void script_take(struct script *s, const pfr_record *rec, const struct record_key *key) {
    mind_order(s, rec, key);
    if (s->sequence.stale && !script_is_own(rec)) {
        s->sequence.stale = false;
        script_fail(s, script_prepare(s, s->err));
    }
    if (s->failed < 0)
        return;
    if (s->shared->options->dump)
        script_dump_record(s, rec);
    if (taker_of(rec->type))
        takers[rec->type](s, rec, key);
    if (script_line_wanted(s, rec->type))
        script_line(s, rec, *key);
}

/* --show-round-events and unsorted output show the order of the file: perf does not sort with these options either. */
static pfr_status open_records(struct script *s, pfr_error *err) {
    const struct jit_request jit = {.read = !s->own->naming.no_symbols, .symfs = s->own->naming.symfs};
    if (!(s->own->options->show & PFR_SCRIPT_ROUNDS) && !s->own->options->unsorted) {
        PFR_TRY(timeline_open(&s->own->timeline, s->own->reader, s->memory, &jit, err));
        s->own->state = timeline_state(s->own->timeline);
        s->own->learns = timeline_learns(s->own->timeline);
        return PFR_OK;
    }
    s->own->state = &s->own->as_recorded;
    pfr_status st = state_build_as_recorded(s->own->state, s->own->reader, s->memory, &jit, err);
    if (st >= 0)
        st = pfr_rewind(s->own->reader, err);
    if (st < 0)
        state_free(s->own->state);
    return st;
}

static void close_records(struct script *s) {
    if (s->own->timeline)
        timeline_close(s->own->timeline);
    else
        state_free(s->own->state);
}

pfr_status script_next(struct script *s, struct timed_record *some, size_t room, size_t *count, pfr_error *err) {
    if (s->shared->timeline)
        return timeline_next(s->shared->timeline, some, room, count, err);
    const pfr_status st = pfr_next(s->shared->reader, &some->rec, err);
    *count = st == PFR_OK;
    if (st == PFR_OK)
        some->key = state_key(s->shared->state, &some->rec, 0);
    return st;
}

void script_take_some(struct script *s, const struct timed_record *some, size_t count) {
    for (size_t i = 0; i < count && s->failed >= 0; i++) {
        if (i + AHEAD < count)
            near_expect(s, &some[i + AHEAD].rec);
        script_take(s, &some[i].rec, &some[i].key);
    }
}

static pfr_status take_all(struct script *s) {
    struct timed_record some[AT_ONCE];
    size_t count;
    pfr_error own, *err = s->err ? s->err : &own;
    pfr_status st;
    const unsigned jobs = script_jobs(s);
    if (jobs > 1)
        return script_take_all_by(s, jobs, err);
    while ((st = script_next(s, some, sizes.script_records, &count, err)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE)
            script_report_hole(s, err);
        if (script_needs_disorder(s))
            PFR_TRY(script_disorder_begin(s, err));
        script_take_some(s, some, count);
        if (s->failed < 0)
            return s->failed;
        if (s->out->status < 0)
            return out_flush(s->out, err);
    }
    return st < 0 ? st : PFR_OK;
}

static void names_open(struct script *s, struct script_names *names) {
    const struct address_names_options how = {.naming = s->shared->naming, .release = s->shared->release};
    const struct unwind_options unwinding = {
        .naming = s->shared->naming, .release = s->shared->release, .arch = s->shared->arch};
    memory_share(&names->memory, s->memory);
    unwind_objects_init(&names->unwinding, s->shared->state, s->memory, &unwinding);
    address_names_init(&names->all, s->shared->state, &names->memory, &how);
    pthread_mutex_init(&names->lock, NULL);
    s->own->names = names;
}

static void names_close(struct script_names *names) {
    address_names_free(&names->all);
    unwind_objects_free(&names->unwinding);
    pthread_mutex_destroy(&names->lock);
}

static pfr_status make_parts(struct script *s, pfr_error *err) {
    PFR_TRY(script_threads_make(s, err));
    PFR_TRY(script_lines_make(s, err));
    PFR_TRY(script_filter_make(s, err));
    PFR_TRY(script_stat_open(&s->sequence.stat, s->shared->reader, s->memory, err));
    if (script_is_json(s))
        script_stat_as_json(s->sequence.stat);
    return script_prepare(s, err);
}

static pfr_status print_all(struct script *s, pfr_error *err) {
    PFR_TRY(make_parts(s, err));
    if (script_is_json(s))
        script_json_begin(s);
    if (s->shared->options->dump)
        script_dump_begin(s);
    PFR_TRY(take_all(s));
    PFR_TRY(script_add_unwound(s, s, err));
    script_report_quality(s);
    return PFR_OK;
}

static pfr_status run(struct script *s, pfr_error *err) {
    struct script_names names;
    PFR_TRY(script_choose(s, err));
    PFR_TRY(open_records(s, err));
    names_open(s, &names);
    frames_init(&s->caches.frames, s->memory, s->to->raw_names);
    const pfr_status st = print_all(s, err);
    script_disorder_end(s);
    script_chains_free(s);
    script_filter_free(s);
    script_lines_free(s);
    script_threads_free(s);
    frames_free(&s->caches.frames);
    names_close(&names);
    close_records(s);
    return st;
}

static void script_free(struct script *s) {
    script_events_free(s);
    u64_map_free(&s->sequence.counts);
    out_close(&s->json_text.out, NULL);
    script_stat_close(s->sequence.stat);
    tracepoint_text_close(s->sequence.trace);
    arena_free(&s->caches.arena);
}

/* Refuses options that apply only to XRay traces. */
static pfr_status refuse(const pfr_script_options *options, pfr_error *err) {
    if (!naming_of(options->naming).instr_maps && options->format < PFR_SCRIPT_LLVM_YAML)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "options",
                    "instrumentation maps and llvm-xray's YAML apply only to XRay traces; this is perf.data");
}

pfr_status pfr_script_print(pfr_reader *reader, const pfr_script_options *options, pfr_output *out, pfr_error *err) {
    if (reader->trace)
        return xray_script_print(reader, options, out, err);
    PFR_TRY(refuse(options, err));
    struct script_shared shared = {.options = options, .naming = naming_of(options->naming), .reader = reader};
    struct script s = {.shared = &shared,
                       .own = &shared,
                       .memory = &reader->memory,
                       .to = out,
                       .out = &out->out,
                       .err = err,
                       .hole = options->hole,
                       .context = options->context,
                       .caches.epoch = 1,
                       .caches.kernel_epoch = 1,
                       .caches.order_epoch = 1};
    shared.max_stack = options->max_stack ? options->max_stack : STACK_MOST;
    arena_init(&s.caches.arena, s.memory);
    u64_map_init(&s.sequence.counts, s.memory);
    shared.raw_names = out->raw_names || script_is_json(&s);
    s.json_text.raw_names = true;
    memory_init(&s.json_text.memory, &s.memory->alloc,
                0); /* the dump allocates its tables from the memory of its output */
    out_open_memory(&s.json_text.out, s.memory);
    const uint64_t before = out_written(&out->out);
    pfr_status st = run(&s, err);
    if (st >= 0)
        st = features_unread(reader, err);
    if (st >= 0 && out_written(&out->out) == before)
        script_report_empty(options);
    const pfr_status ended = script_files_finish(&s, st >= 0, err);
    script_free(&s);
    st = st < 0 ? st : ended;
    return st < 0 ? st : s.lossy ? PFR_HOLE : PFR_OK;
}

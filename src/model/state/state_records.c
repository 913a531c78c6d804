/* SPDX-License-Identifier: Apache-2.0 */
/* Turns records into state changes: one table of functions by record type (docs/state.md has the rules). */
#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "model/state/state_change.h"

#define MISC_BARE 0x2000u      /* COMM: by exec; FORK: maps are not inherited */
#define MISC_MMAP_DATA 0x2000u /* MMAP, MMAP2: the map is of data, not of code */
#define PROT_CODE 4u           /* PROT_EXEC of mmap(2) */
#define KSYMBOL_GOES 1u        /* in the flags of a KSYMBOL: the symbol is removed */

typedef pfr_status collect_fn(struct state *state, const pfr_record *rec, struct state_change *c, pfr_error *err);

/* Handles the map of a jitdump. The clock of the times in the dump may be known only when all records were read. */
static pfr_status meet_dump(struct state *s, uint32_t space, const struct state_change *c, pfr_error *err) {
    const char *path = intern_chars(&s->names, s->objects.at[c->value].path);
    const struct jit_map map = {.object = c->value, .space = space, .since = c->key};
    s->jit.timed = s->timed;
    return s->learns ? jit_meet(&s->jit, &s->objects, path, &s->spaces, &map, err) : jit_expect(&s->jit, &map, err);
}

static pfr_status apply_map(struct state *s, const struct state_change *c, pfr_error *err) {
    uint32_t space;
    const unsigned mode = c->misc & PFR_CPUMODE_MASK;
    if (mode == PFR_CPUMODE_KERNEL)
        space = s->objects.at[c->value].kind == OBJECT_KERNEL ? s->kernel : s->modules;
    else if (mode > PFR_CPUMODE_USER)
        return PFR_OK; /* guests have spaces of their own, in which jitdumps are not supported */
    else
        PFR_TRY(threads_space(&s->threads, c->pid, c->tid, c->key, &space, err));
    PFR_TRY(space_add(&s->spaces, space, c->start, c->length, c->pgoff, c->value, c->key, err));
    return c->dump ? meet_dump(s, space, c, err) : PFR_OK;
}

static pfr_status apply_comm(struct state *s, const struct state_change *c, pfr_error *err) {
    return threads_name(&s->threads, c->pid, c->tid, c->value, c->misc & MISC_BARE, c->key, err);
}

static pfr_status apply_fork(struct state *s, const struct state_change *c, pfr_error *err) {
    return threads_fork(&s->threads, c->pid, c->ppid, c->tid, c->ptid, c->misc & MISC_BARE, c->key, err);
}

#define DECODE(body)                                                                                                   \
    do {                                                                                                               \
        if (pfr_decode(rec, &(body), sizeof(body), NULL) != PFR_OK)                                                    \
            return PFR_OK;                                                                                             \
    } while (0)

/* The use of a map. A record without `prot` states only in `misc` whether it is a map of data. */
static enum map_use map_use(const pfr_record *rec, uint32_t prot) {
    const bool is_code = prot ? prot & PROT_CODE : !(rec->misc & MISC_MMAP_DATA);
    return (rec->misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_KERNEL ? MAP_OF_KERNEL : is_code ? MAP_OF_CODE : MAP_OF_DATA;
}

static bool is_dump(const struct state *s, const pfr_record *rec, uint32_t prot, const pfr_text *path) {
    return s->jit.request.read && map_use(rec, prot) == MAP_OF_CODE && jit_dump_is_named(path->at, path->length);
}

static pfr_status collect_mmap(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_mmap m;
    DECODE(m);
    c->apply = apply_map;
    c->pid = m.pid, c->tid = m.tid;
    c->start = m.addr, c->length = m.len, c->pgoff = m.pgoff;
    c->dump = is_dump(s, rec, 0, &m.filename);
    return objects_of_map(&s->objects, &m.filename, m.pid, map_use(rec, 0), NULL, 0, &c->value, err);
}

static pfr_status collect_mmap2(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_mmap2 m;
    DECODE(m);
    c->apply = apply_map;
    c->pid = m.pid, c->tid = m.tid;
    c->start = m.addr, c->length = m.len, c->pgoff = m.pgoff;
    c->dump = is_dump(s, rec, m.prot, &m.filename);
    return objects_of_map(&s->objects, &m.filename, m.pid, map_use(rec, m.prot), m.build_id.at, m.build_id_size,
                          &c->value, err);
}

static pfr_status collect_comm(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_comm m;
    DECODE(m);
    c->apply = apply_comm;
    c->pid = m.pid, c->tid = m.tid;
    return intern_put(&s->names, m.comm.at, m.comm.length, &c->value, err);
}

static pfr_status collect_fork(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_fork m;
    (void)s, (void)err;
    DECODE(m);
    c->apply = apply_fork;
    c->pid = m.pid, c->tid = m.tid, c->ppid = m.ppid, c->ptid = m.ptid;
    return PFR_OK;
}

/* Adds or removes code of the running kernel. Where code is removed, nothing replaces it. */
static pfr_status apply_ksymbol(struct state *s, const struct state_change *c, pfr_error *err) {
    return space_add(&s->spaces, s->ksymbols, c->start, c->length, 0, c->value, c->key, err);
}

static pfr_status collect_ksymbol(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_ksymbol m;
    DECODE(m);
    c->apply = apply_ksymbol;
    c->start = m.addr, c->length = m.len;
    c->value = NO_OBJECT;
    return m.flags & KSYMBOL_GOES ? PFR_OK : objects_of_ksymbol(&s->objects, &m.name, &c->value, err);
}

static pfr_status apply_cgroup(struct state *s, const struct state_change *c, pfr_error *err) {
    bool is_new;
    const uint64_t *number = u64_map_at(&s->cgroup_of, c->start, s->nr_cgroups, &is_new);
    if (!number)
        return mem_fail(s->memory, err, "cgroups");
    if (is_new) {
        if (s->nr_cgroups == s->cgroups_room) {
            void *more = mem_grow(s->memory, s->cgroups, s->nr_cgroups, &s->cgroups_room, 16, sizeof *s->cgroups);
            if (!more)
                return mem_fail(s->memory, err, "cgroups");
            s->cgroups = more;
        }
        s->cgroups[s->nr_cgroups++] = (struct changes){0};
    }
    return changes_add(&s->cgroups[*number], &s->cgroup_paths, c->value, c->key, err);
}

static pfr_status collect_cgroup(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_cgroup m;
    DECODE(m);
    c->apply = apply_cgroup;
    c->start = m.id;
    return intern_put(&s->names, m.path.at, m.path.length, &c->value, err);
}

static pfr_status collect_build_id(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_header_build_id m;
    (void)c;
    DECODE(m);
    const struct pfr_rec_build_id_entry entry = {
        .misc = rec->misc, .pid = m.pid, .build_id = m.build_id, .length = m.length, .filename = m.filename};
    return objects_learn(&s->objects, &entry, err);
}

static pfr_status collect_guests(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    (void)c;
    return guests_learn(&s->guests, rec, err);
}

/* Learns how to convert the CPU's counter, which some jitdumps use, to time. */
static pfr_status collect_clock(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_time_conv m;
    (void)c, (void)err;
    DECODE(m);
    s->jit.clock = (struct jit_clock){.shift = m.time_shift,
                                      .multiplier = m.time_mult,
                                      .zero = m.time_zero,
                                      .cycles = m.time_cycles,
                                      .mask = m.time_mask,
                                      .cut = m.cap_user_time_short,
                                      .monotonic = s->jit.clock.monotonic,
                                      .known = true};
    return PFR_OK;
}

static struct record_key key_of_record(const struct state *s, const pfr_record *rec) {
    return state_key(s, rec, time_of(s->reader, rec));
}

static pfr_status hear_deferred(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    (void)c;
    s->deferred.any_order = !s->timed;
    return deferred_add(&s->deferred, s->reader, rec, key_of_record(s, rec), err);
}

/* Adds a chain that was recorded later. In a stream, state_hear has already added it. */
static pfr_status collect_deferred(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    return s->learns ? deferred_pass(&s->deferred, s->reader, rec, key_of_record(s, rec), err)
                     : hear_deferred(s, rec, c, err);
}

static collect_fn *const hearers[] = {[PFR_RECORD_CALLCHAIN_DEFERRED] = hear_deferred};

pfr_status state_hear(struct state *s, const pfr_record *rec, pfr_error *err) {
    struct state_change c;
    return rec->type < sizeof hearers / sizeof *hearers && hearers[rec->type] ? hearers[rec->type](s, rec, &c, err)
                                                                              : PFR_OK;
}

static collect_fn *const collectors[] = {
    [PFR_RECORD_MMAP] = collect_mmap,
    [PFR_RECORD_COMM] = collect_comm,
    [PFR_RECORD_FORK] = collect_fork,
    [PFR_RECORD_MMAP2] = collect_mmap2,
    [PFR_RECORD_KSYMBOL] = collect_ksymbol,
    [PFR_RECORD_CGROUP] = collect_cgroup,
    [PFR_RECORD_CALLCHAIN_DEFERRED] = collect_deferred,
    [PFR_RECORD_BUILD_ID] = collect_build_id,
    [PFR_RECORD_ID_INDEX] = collect_guests,
    [PFR_RECORD_TIME_CONV] = collect_clock,
};

/* Assigns a record of a guest to the guest's own threads and memory. Maps of a guest's kernel are ignored. */
static pfr_status move_to_guest(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    struct pfr_rec_sample_id id = {0};
    uint32_t *const tids[] = {&c->pid, &c->tid, &c->ppid, &c->ptid};
    if (!guests_have(&s->guests, rec->misc))
        return PFR_OK;
    pfr_decode_id(rec, &id, NULL);
    const uint32_t machine = guests_of_id(&s->guests, id.identifier ? id.identifier : id.id).machine_pid;
    for (size_t i = 0; i < sizeof tids / sizeof *tids; i++)
        PFR_TRY(guests_number(&s->guests, machine, *tids[i], tids[i], err));
    if ((c->misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_GUEST_USER)
        c->misc = (uint16_t)((c->misc & ~PFR_CPUMODE_MASK) | PFR_CPUMODE_USER);
    return PFR_OK;
}

pfr_status state_describe(struct state *s, const pfr_record *rec, struct state_change *c, pfr_error *err) {
    *c = (struct state_change){.apply = NULL};
    if (rec->type >= sizeof collectors / sizeof *collectors || !collectors[rec->type])
        return PFR_OK;
    PFR_TRY(collectors[rec->type](s, rec, c, err));
    c->key = key_of_record(s, rec);
    c->misc = rec->misc;
    return c->apply ? move_to_guest(s, rec, c, err) : PFR_OK;
}

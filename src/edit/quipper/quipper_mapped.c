/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies mappings and forks to the mapped addresses by quipper's rules (quipper_address_space.h), and counts the
 * samples whose addresses are all mapped, as quipper does. Older versions of quipper set the highest bit of unmapped
 * addresses; so does this code if requested.
 */
#include "edit/quipper/quipper_writing.h"
#include "model/stacks/chain.h"

#define MODE 7u /* bits of misc that give the cpu mode */
#define MODE_KERNEL 1u
#define MARK ((uint64_t)1 << 63)

typedef pfr_status place_fn(struct quipper_output *q, const pfr_record *rec, union any_layout *body, pfr_error *err);

/* The first kernel mapping starts at pgoff, which is the address of a symbol, if that address is inside the mapping. */
static pfr_status place_map(struct quipper_output *q, const pfr_record *rec, union any_layout *body, pfr_error *err) {
    const struct pfr_rec_mmap *m = &body->as_mmap; /* MMAP2 begins with the same members */
    uint64_t start = m->addr, len = m->len;
    size_t process;
    if ((rec->misc & MODE) == MODE_KERNEL && !q->has_kernel) {
        q->has_kernel = true;
        if (m->pgoff > start && m->pgoff < start + len) {
            len -= m->pgoff - start;
            start = m->pgoff;
        }
    }
    PFR_TRY(quipper_places_of(&q->places, m->pid, QUIPPER_KERNEL, &process, err));
    return quipper_places_map(&q->places, process, start, len, err);
}

static pfr_status place_comm(struct quipper_output *q, const pfr_record *rec, union any_layout *body, pfr_error *err) {
    size_t process;
    (void)rec;
    return quipper_places_of(&q->places, body->as_comm.pid, QUIPPER_KERNEL, &process, err);
}

static pfr_status place_fork(struct quipper_output *q, const pfr_record *rec, union any_layout *body, pfr_error *err) {
    const struct pfr_rec_fork *f = &body->as_fork;
    size_t process;
    (void)rec;
    return f->pid == f->ppid ? PFR_OK : quipper_places_of(&q->places, f->pid, f->ppid, &process, err);
}

/* --- Samples. */

struct mapped_asking {
    struct quipper_output *q;
    size_t process;
    bool mapped;   /* all addresses so far are mapped */
    uint8_t *copy; /* room for addresses that may be marked */
    size_t used;
};

/* Returns the address, marked if it is unmapped and marks are requested. */
static uint64_t ask(struct mapped_asking *a, uint64_t address) {
    const bool mapped = quipper_places_has(&a->q->places, a->process, address);
    a->mapped &= mapped;
    return mapped || !a->q->options->quipper_marks ? address : address | MARK;
}

static void put_word(uint8_t *to, uint64_t value, bool swap) {
    value = swap ? __builtin_bswap64(value) : value;
    memcpy(to, &value, sizeof value);
}

static void ask_chain(struct mapped_asking *a, pfr_u64s *chain, uint64_t ip, uint64_t marked_ip) {
    uint8_t *to = a->copy + a->used;
    for (uint64_t i = 0; i < chain->count; i++) {
        const uint64_t entry = pfr_u64s_at(chain, i);
        const uint64_t now = entry >= CHAIN_MARKERS ? entry : entry == ip ? marked_ip : ask(a, entry);
        put_word(to + 8 * i, now, chain->swap);
    }
    chain->at = to;
    a->used += (size_t)chain->count * 8;
}

/* Counts the branches before the first empty entry. Returns false if a branch follows an empty entry. */
static bool count_branches(const pfr_items *branches, uint64_t *count) {
    union any_layout part;
    struct items_walk walk = items_start(branches);
    bool ended = false;
    *count = 0;
    while (items_next(branches, &walk, &part, NULL) == PFR_OK) {
        const bool nothing = !part.as_branch_entry.from && !part.as_branch_entry.to;
        if (ended && !nothing)
            return false;
        ended |= nothing;
        *count += !ended;
    }
    return true;
}

static void ask_branches(struct mapped_asking *a, pfr_items *branches) {
    uint8_t *to = a->copy + a->used;
    const bool swap = branches->context->swap;
    uint64_t count;
    if (!count_branches(branches, &count)) {
        a->mapped = false;
        return;
    }
    memcpy(to, branches->at, (size_t)branches->length);
    for (uint64_t i = 0; i < count; i++) /* an entry is three words; the first two are the addresses */
        for (size_t word = 0; word < 2; word++) {
            uint8_t *at = to + 24 * i + 8 * word;
            put_word(at, ask(a, load_u64(at, swap)), swap);
        }
    branches->at = to;
    a->used += (size_t)branches->length;
}

static pfr_status place_sample(struct quipper_output *q, const pfr_record *rec, union any_layout *body,
                               pfr_error *err) {
    struct pfr_rec_sample *s = &body->as_sample;
    struct mapped_asking a = {.q = q, .mapped = true, .copy = q->marked};
    const uint64_t ip = s->ip;
    (void)rec;
    PFR_TRY(quipper_places_of(&q->places, s->pid, QUIPPER_KERNEL, &a.process, err));
    s->ip = ask(&a, ip);
    if (s->chain.count)
        ask_chain(&a, &s->chain, ip, s->ip);
    if (s->branch.entries.at && s->branch.entries.count)
        ask_branches(&a, &s->branch.entries);
    q->mapped += a.mapped;
    return PFR_OK;
}

pfr_status quipper_output_place(struct quipper_output *q, const pfr_record *rec, union any_layout *body,
                                pfr_error *err) {
    static place_fn *const by_type[QUIPPER_TYPES] = {[PFR_RECORD_MMAP] = place_map,
                                                     [PFR_RECORD_COMM] = place_comm,
                                                     [PFR_RECORD_FORK] = place_fork,
                                                     [PFR_RECORD_SAMPLE] = place_sample,
                                                     [PFR_RECORD_MMAP2] = place_map};
    place_fn *place = rec->type < QUIPPER_TYPES ? by_type[rec->type] : NULL;
    return place ? place(q, rec, body, err) : PFR_OK;
}

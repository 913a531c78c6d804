/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that depend on mappings. The cpumode of a chain's addresses changes at context markers, which are not printed:
 *
 *     work   218/218    1390.788626:    1001001 cpu-clock:
 *             ffffffff821f2fa7 schedule+0x37 ([kernel.kallsyms])
 *                         1969 main+0x19 (/srv/demo/work)
 *
 * An empty line ends the chain.
 */
#include "view/script/script_address_fields.h"
#include "view/script/script_filter.h"
#include "view/script/script_frames.h"

#include "model/stacks/chain.h"
#include "view/words/sample_text.h"

#define FRAMES_AHEAD 8u
#define TEXTS_AHEAD 4u

void print_lone_ip(struct script *s, const struct moment *m) {
    out_char(s->out, ' ');
    script_write_frame(s, m, m->rec->misc & PFR_CPUMODE_MASK, m->sample->ip, m->event->name_form);
}

/* Prefetch: the slots and texts of frames are spread over memory, so each access would be a cache miss. hashes: those
 * of the entries for which slots were prefetched last; at a context marker, one entry has none, and a wrong text is
 * fetched. */
static inline void expect_frame(struct script *s, const struct moment *m, uint64_t at, uint64_t *hashes) {
    const pfr_u64s *chain = &m->sample->chain;
    if (at < chain->count)
        hashes[at % FRAMES_AHEAD] = script_expect_frame(s, m, pfr_u64s_at(chain, at), m->event->chain_form);
}

void print_chain(struct script *s, const struct moment *m) {
    const pfr_u64s *chain = &m->sample->chain;
    struct chain_walk walk = chain_begin(chain, m->rec->misc & PFR_CPUMODE_MASK, script_chain_most(s, m));
    uint64_t address, hashes[FRAMES_AHEAD] = {0};
    out_char(s->out, '\n');
    for (uint64_t i = 0; i < FRAMES_AHEAD; i++)
        expect_frame(s, m, i, hashes);
    while (chain_next(&walk, &address)) {
        expect_frame(s, m, walk.at - 1 + FRAMES_AHEAD, hashes);
        script_expect_text(s, hashes[(walk.at - 1 + TEXTS_AHEAD) % FRAMES_AHEAD], m->event->chain_form);
        script_write_chain_frame(s, m, walk.mode, address, m->event->chain_form);
        if (s->shared->options->stop_at && script_stops_at(s, m, walk.mode, address))
            break;
    }
}

/* Kernel and user addresses can be mixed regardless of the sample's cpumode: tries that mode first, then the other. */
unsigned script_place_anywhere(struct script *s, const struct moment *m, uint64_t address, struct place *place) {
    const unsigned mode = m->rec->misc & PFR_CPUMODE_MASK, other = PFR_CPUMODE_USER + PFR_CPUMODE_KERNEL - mode;
    state_place_in(s->shared->state, mode, m->thread->space, address, m->key, place);
    if (place->map || (mode != PFR_CPUMODE_USER && mode != PFR_CPUMODE_KERNEL))
        return mode;
    state_place_in(s->shared->state, other, m->thread->space, address, m->key, place);
    return place->map ? other : mode;
}

/* For events whose addr is a memory address, prints the symbol there as well. */
void print_addr(struct script *s, const struct moment *m) {
    struct place place;
    const unsigned form = m->event->name_form & ~(unsigned)NAME_LINE;
    if (m->event->addr_is_place && form)
        script_write_frame(s, m, script_place_anywhere(s, m, m->sample->addr, &place), m->sample->addr, form);
    else
        out_hex_wide(s->out, m->sample->addr, 16);
}

static void write_0x(struct script *s, uint64_t value) {
    out_write(s->out, "0x", 2);
    out_hex(s->out, value, 1);
}

typedef void branch_end(struct script *s, const struct moment *m, uint64_t address);

static void write_raw_end(struct script *s, const struct moment *m, uint64_t address) {
    struct place place;
    write_0x(s, address);
    if (!(m->event->name_form & NAME_DSO))
        return;
    script_place_anywhere(s, m, address, &place);
    script_write_object(s, place.object, s->to);
}

static void write_named_end(struct script *s, const struct moment *m, uint64_t address) {
    struct place place;
    script_place_anywhere(s, m, address, &place);
    script_write_symbol(s, &place, address, true, s->to);
    if (m->event->name_form & NAME_DSO)
        script_write_object(s, place.object, s->to);
}

/* Writes the offset of the address in its object; in the kernel and outside any object, the address itself. */
static void write_offset_end(struct script *s, const struct moment *m, uint64_t address) {
    struct place place;
    script_place_anywhere(s, m, address, &place);
    write_0x(s, place.map ? place.offset : address);
    if (m->event->name_form & NAME_DSO)
        script_write_object(s, place.object, s->to);
}

static void write_branches(struct script *s, const struct moment *m, branch_end *write_end, bool blank) {
    struct pfr_rec_branch_entry entry;
    if (!SAMPLE_HAS(m->event->sample_type, S_BRANCH))
        return;
    pfr_items_iter it = pfr_items_begin(&m->sample->branch.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        if (blank)
            out_char(s->out, ' ');
        write_end(s, m, entry.from);
        out_char(s->out, '/');
        write_end(s, m, entry.to);
        words_branch_flags(s->to, &entry);
        out_char(s->out, ' ');
    }
}

void print_brstack(struct script *s, const struct moment *m) {
    write_branches(s, m, write_raw_end, true);
}

void print_brstacksym(struct script *s, const struct moment *m) {
    write_branches(s, m, write_named_end, false);
}

void print_brstackoff(struct script *s, const struct moment *m) {
    write_branches(s, m, write_offset_end, true);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most samples of flat events are equal to one of few earlier samples. If each sample is passed on, so that samples
 * cannot be counted in runs (profile_fast_path.c), the cache of digests also has the entries of these samples: they are
 * counted there and become rows without items, words and digests of their own.
 */
#include "model/profile/count/profile_known.h"
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_entry_key.h"

#include "wire/record_bits.h"

/* Other workers might move entries. */
bool known_may(const struct sample_counter *c) {
    const struct profile_request *w = &c->profile->request;
    return c->digests && w->each && !c->tree->shared && !w->keep && !w->by_latency && !c->profile->reader->waits &&
           w->counted == PROFILE_SAMPLES;
}

static inline bool is_flat(const struct pick_places *p) {
    return p->fixed && p->pid && p->ip && !p->chain;
}

static inline struct record_key key_at(const struct sample_counter *c, uint64_t time, uint64_t place, uint64_t inner) {
    struct record_key key = {.offset = place, .inner = inner};
    if (c->profile->state.timed)
        key.time = time == UINT64_MAX ? NO_TIME_MOMENT : time;
    return key;
}

/* The entry of the sample whose thread, address and mode are in the row; NULL: not known, or the sample is not later
   than the maps of the entry. */
static inline struct entry_count *find(const struct sample_counter *c, const struct profile_row *row, uint64_t ip) {
    const struct view_slot *slot = &c->views[view_number(row->tid, false)];
    const uint64_t moment = moment_of(&c->profile->state, &row->key);
    if (!slot->used || slot->tid != row->tid || slot->pid != row->pid || slot->from >= moment || moment >= slot->until)
        return NULL;
    const uint64_t words[2] = {(uint64_t)row->event << 32 | (uint64_t)row->mode << WHO_BITS | slot->who, ip};
    const struct digest_memo *memo = digest_memo_of(c, words);
    if (!memo->entry || !words_are_same(memo->words, words, 2))
        return NULL;
    struct entry_count *count = entry_count_of(c, entry_words(c, memo->entry - 1));
    return moment > count->since ? count : NULL;
}

static inline void add(struct sample_counter *c, struct entry_count *count, const struct profile_row *row) {
    struct profile_weight *total = &c->facts.totals[row->event];
    count->weight += row->weight;
    count->samples++;
    total->weight = weights_sum(c->profile, total->weight, row->weight);
    total->samples++;
    c->facts.guests += row->mode > PFR_CPUMODE_HYPERVISOR && row->mode <= PFR_CPUMODE_GUEST_USER;
}

bool known_take(struct sample_counter *c, uint32_t event, const uint8_t *bytes, uint64_t place, uint64_t inner,
                struct profile_row *row) {
    const struct pick_places *p = &c->places[event];
    const bool swap = c->reader->context.swap;
    if (!is_flat(p))
        return false;
    row->time = p->time ? load_u64(bytes + p->time, swap) : UINT64_MAX;
    row->key = key_at(c, row->time, place, inner);
    row->event = event;
    row->pid = load_u32(bytes + p->pid, swap);
    row->tid = load_u32(bytes + p->pid + 4, swap);
    row->mode = (uint8_t)cpumode_at(bytes, swap);
    struct entry_count *count = find(c, row, load_u64(bytes + p->ip, swap));
    if (!count)
        return false;
    row->weight = row->period = p->period_at ? load_u64(bytes + p->period_at, swap) : p->period;
    row->cpu = p->cpu ? load_u32(bytes + p->cpu, swap) : NOT_RECORDED;
    row->node = count->node;
    row->bytes = bytes;
    add(c, count, row);
    return true;
}

void known_note(struct sample_counter *c, const struct sample_item *item) {
    if (item->limited || item->picked.chain.count || !is_flat(&c->places[item->picked.event]))
        return;
    struct digest_memo *memo = digest_memo_of(c, item->words);
    if (memo->used && !memo->entry && words_are_same(memo->words, item->words, 2))
        memo->entry = (uint32_t)entry_find(c, item->digest, item->hash, NULL);
}
